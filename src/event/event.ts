// An event is complete: its account, its stripped fields and its final stamp. The table of kinds alone lists them; what
// reads a body (parse-event.ts) or writes a store's row switches over them and ends in `satisfies never`.
import type { Stamp } from './stamp.ts'

interface Common {
  readonly account: string
  readonly process: string
  /** '' = without meta. */
  readonly meta: string
  readonly stamp: Stamp
  /** Part of its identity, as its store kept it for all of a request's metrics; absent = `contentOf` the event. */
  readonly content?: bigint
}

export interface Mark extends Common {
  readonly kind: 'start' | 'end'
  /** '' = without uid, which is a group of its own in pairing. */
  readonly uid: string
  /** An end only: the caller says that this run failed. */
  readonly failed?: true
}

/** One request's metrics: they share a stamp. Each item becomes one point or row. */
export interface Metrics extends Common {
  readonly kind: 'metrics'
  /** The run that they belong to; absent = unknown, never ''. */
  readonly uid?: string
  readonly items: readonly (readonly [name: string, value: number])[]
}

/** Kinds that are one text, in a member and a column of their name, and the most characters that it may have. */
export const TEXTS = { exception: 15_000, output: 15_000 } as const
export type TextKind = keyof typeof TEXTS

/** Texts that a run has said. They come as members of its end, or with a ping; none has a call of its own. */
export const END_TEXTS = ['output'] as const satisfies readonly TextKind[]
export type EndText = (typeof END_TEXTS)[number]

/** `uid`: the run that raised or said it; absent = unknown, never ''. */
export type Text<K extends TextKind = TextKind> = {
  [T in K]: Common & { readonly kind: T; readonly uid?: string } & Readonly<Record<T, string>>
}[K]
export type Exception = Text<'exception'>

export type Event = Mark | Metrics | Text
export type EventKind = Event['kind']

/** The name of a mark in the stores. */
export type MarkName = 'start' | 'end' | 'failed'

export const markName = ({ kind, failed }: Mark): MarkName => (failed === true ? 'failed' : kind)

/** The store that an event goes to: one spool, one shipper and one store each. */
export type Destination = 'points' | 'exceptions'

/** One for each destination. */
export type Both<T> = Readonly<Record<Destination, T>>

export const DESTINATIONS: readonly Destination[] = ['points', 'exceptions']

/** Events that a store keeps together, in one measurement or table: a problem with one of them may affect all. */
export const FAMILIES = ['marks', 'metrics', 'exceptions', 'outputs'] as const
export type Family = (typeof FAMILIES)[number]

/** One event of a family, in answers. */
export const ONE_OF = {
  marks: 'mark',
  metrics: 'metric',
  exceptions: 'exception',
  outputs: 'output',
} as const satisfies Record<Family, string>

interface KindFacts {
  readonly destination: Destination
  readonly family: Family
  /** The fields of its body, in the order in which their faults are reported. */
  readonly fields: readonly string[]
  /** The member that only this kind has: part of its identity, its record and its line in a file. Marks have none. */
  readonly own?: 'items' | TextKind
  /** The first member of its record in the spool. Permanent. */
  readonly tag: string
  /** The same for a run that failed. */
  readonly failedTag?: string
}

const RUN = ['process', 'meta', 'uid'] as const
const END_FIELDS = [...RUN, 'failed', ...END_TEXTS, 'at']

const textKind = (own: TextKind, family: Family, tag: string): KindFacts => {
  return { destination: 'exceptions', family, tag, own, fields: [...RUN, own, 'at'] }
}

export const KINDS: Readonly<Record<EventKind, KindFacts>> = {
  start: { destination: 'points', family: 'marks', tag: 's', fields: [...RUN, 'at'] },
  end: { destination: 'points', family: 'marks', tag: 'e', failedTag: 'f', fields: END_FIELDS },
  metrics: { destination: 'points', family: 'metrics', tag: 'm', own: 'items', fields: [...RUN, 'items', 'at'] },
  exception: textKind('exception', 'exceptions', 'x'),
  output: textKind('output', 'outputs', 'o'),
}

/** The path of its own call. */
export const pathOf = (kind: SentKind): `/v1/${SentKind}` => `/v1/${kind}`

export const EVENT_KINDS = Object.keys(KINDS) as readonly EventKind[]

export const isEventKind = (value: unknown): value is EventKind =>
  typeof value === 'string' && Object.hasOwn(KINDS, value)

const isEndText = (kind: EventKind): kind is EndText => END_TEXTS.some((text) => text === kind)

/** Kinds with a call of their own. */
export type SentKind = Exclude<EventKind, EndText>
export const isSentKind = (value: unknown): value is SentKind => isEventKind(value) && !isEndText(value)
export const SENT_KINDS = EVENT_KINDS.filter(isSentKind)

export const destinationOf = (kind: EventKind): Destination => KINDS[kind].destination

export const familiesIn = (destination: Destination): readonly Family[] =>
  FAMILIES.filter((family) =>
    Object.values(KINDS).some((kind) => kind.family === family && kind.destination === destination),
  )

export const familyOf = (kind: EventKind): Family => KINDS[kind].family

export const isMark = (kind: EventKind): boolean => KINDS[kind].family === 'marks'

/** The value of the kind's own member; undefined for a mark. */
export function ownValue(event: Event): Metrics['items'] | string | undefined {
  const { own } = KINDS[event.kind]
  return own === undefined ? undefined : (event as unknown as Record<typeof own, Metrics['items'] | string>)[own]
}

/** The fields of its body beside process, meta, uid and its time. */
export function ownFields(event: Event): Readonly<Record<string, unknown>> {
  if (event.kind === 'end' && event.failed === true) return { failed: true }
  const value = ownValue(event)
  return value === undefined
    ? {}
    : { [KINDS[event.kind].own!]: typeof value === 'string' ? value : Object.fromEntries(value) }
}
