// Turns a JSON value into an event or its faults, in one walk: validation and reading are the same code.
import {
  END_TEXTS,
  type EndText,
  EVENT_KINDS,
  type Event,
  type EventKind,
  KINDS,
  type Mark,
  type Metrics,
  TEXTS,
  type Text,
  type TextKind,
} from './event.ts'
import type { Faults } from './faults.ts'
import { checkMeta, checkOwnText, checkProcess, checkUid, isObject, parseItems, stripText } from './fields.ts'
import { type OwnTimes, parseOwnTime } from './own-time.ts'
import type { Stamp } from './stamp.ts'

/**
 * An event without its account and its stamp. `atUs` is the time it brought along, in µs since the epoch. Each text of
 * an end is an event of its own, see `textsOf`.
 */
export type Draft = DraftOf<Metrics | Text> | (DraftOf<Mark> & EndTexts)
type EndTexts = { readonly [K in EndText]?: string }
type DraftOf<E> = E extends Event ? Omit<E, 'account' | 'stamp'> & { readonly atUs: number | undefined } : never

type Body = Readonly<Record<string, unknown>>

const FIELDS = new Map(EVENT_KINDS.map((kind) => [kind, new Set(KINDS[kind].fields)]))

/**
 * `body` is a value of JSON.parse. With `isInBatch` it also holds its `kind`, which the caller has read.
 * Returns undefined when there are faults; adds all of them to `faults`, in field order, unknown fields last.
 */
export function parseEvent(
  kind: EventKind,
  body: unknown,
  times: OwnTimes,
  faults: Faults,
  isInBatch = false,
): Draft | undefined {
  if (!isObject(body)) {
    faults.add('', 'must be a JSON object')
    return undefined
  }
  const before = faults.count
  const draft = parseFields(kind, body, times, faults)
  const known = FIELDS.get(kind)!
  for (const member in body)
    if (!known.has(member) && !(isInBatch && member === 'kind'))
      faults.addMember('', member, 'is not a field of this endpoint')
  return faults.count === before ? draft : undefined
}

function parseFields(kind: EventKind, body: Body, times: OwnTimes, faults: Faults): Draft {
  const process = stripText(parseRequired(body.process, faults, '/process', parseProcess) ?? '')
  const meta = body.meta === undefined ? '' : stripText(parseMeta(body.meta, faults, '/meta'))
  const uid = body.uid === undefined ? '' : parseUid(body.uid, faults, '/uid')
  const atUs = () => (body.at === undefined ? undefined : parseOwnTime(body.at, times, faults))
  switch (kind) {
    case 'start':
      return { kind, process, meta, uid, atUs: atUs() }
    case 'end': {
      const failed = body.failed === undefined ? false : parseFailed(body.failed, faults)
      return { kind, process, meta, uid, ...(failed && { failed }), ...parseEndTexts(body, faults), atUs: atUs() }
    }
    case 'metrics': {
      const items = parseRequired(body.items, faults, '/items', parseItems) ?? []
      return { kind, process, meta, ...(uid !== '' && { uid }), items, atUs: atUs() }
    }
    default: {
      const text = parseRequired(body[kind], faults, `/${kind}`, parseText[kind]) ?? ''
      return { kind, process, meta, ...(uid !== '' && { uid }), [kind]: text, atUs: atUs() } as DraftOf<Text>
    }
  }
}

function parseEndTexts(body: Body, faults: Faults): EndTexts | undefined {
  let texts: { [K in EndText]?: string } | undefined
  for (const kind of END_TEXTS) {
    const text = body[kind] === undefined ? '' : parseText[kind](body[kind], faults, `/${kind}`)
    if (text !== '') texts = { ...texts, [kind]: text }
  }
  return texts
}

/** `undefined` is not a value of JSON: the field is absent. */
function parseRequired<T>(
  value: unknown,
  faults: Faults,
  pointer: string,
  parse: (value: unknown, faults: Faults, pointer: string) => T,
): T | undefined {
  if (value !== undefined) return parse(value, faults, pointer)
  faults.add(pointer, 'is required')
  return undefined
}

/** Reads a field of text; '' when it has faults. */
const textBy =
  (check: (value: unknown) => readonly string[]) =>
  (value: unknown, faults: Faults, pointer: string): string => {
    const found = check(value)
    for (const detail of found) faults.add(pointer, detail)
    return found.length === 0 ? (value as string) : ''
  }

const parseProcess = textBy(checkProcess)
const parseMeta = textBy(checkMeta)
const parseUid = textBy(checkUid)
const parseText = Object.fromEntries(
  Object.keys(TEXTS).map((kind) => [kind, textBy((value) => checkOwnText(kind as TextKind, value))]),
) as Readonly<Record<TextKind, ReturnType<typeof textBy>>>

function parseFailed(value: unknown, faults: Faults): boolean {
  if (typeof value !== 'boolean') faults.add('/failed', 'must be true or false')
  return value === true
}

/** The events that the texts of an end become: of the same run and time. */
export function textsOf(draft: Draft): readonly DraftOf<Text>[] {
  if (draft.kind !== 'end' || END_TEXTS.every((kind) => draft[kind] === undefined)) return NO_TEXTS
  const { process, meta, uid, atUs } = draft
  return END_TEXTS.flatMap((kind) => {
    const text = draft[kind]
    return text === undefined
      ? []
      : [{ kind, process, meta, ...(uid !== '' && { uid }), [kind]: text, atUs } as DraftOf<Text>]
  })
}

const NO_TEXTS: readonly DraftOf<Text>[] = []

/** The event that a draft becomes. */
export function toEvent(draft: Draft, account: string, stamp: Stamp): Event {
  const { process, meta } = draft
  switch (draft.kind) {
    case 'start':
    case 'end':
      return draft.failed === true
        ? { kind: draft.kind, account, process, meta, stamp, uid: draft.uid, failed: true }
        : { kind: draft.kind, account, process, meta, stamp, uid: draft.uid }
    case 'metrics':
      return { kind: 'metrics', account, process, meta, stamp, ...uidOf(draft), items: draft.items }
    default: {
      const { kind } = draft satisfies DraftOf<Text>
      return { kind, account, process, meta, stamp, ...uidOf(draft), [kind]: textIn(draft) } as Text
    }
  }
}

const textIn = (text: DraftOf<Text>): string => (text as Partial<Record<TextKind, string>>)[text.kind]!

const uidOf = ({ uid }: { readonly uid?: string }) => (uid === undefined ? {} : { uid })
