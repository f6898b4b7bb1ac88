// The form of a watch, its first values and its request, from its conditions as sentences with fields in them
// (wire/conditions.ts). A field bears the name of its member in the request: `{late/every}` is `late.every`.
import {
  CONDITION_TABLE,
  CONDITIONS,
  type Condition,
  DEFAULT_GRACE,
  WATCH_FIELDS,
  type WatchField,
} from '../../wire/conditions.ts'
import type { CreateWatch, Watch } from '../../wire/watches.ts'

/** A field of the form: those of a watch, and two that choose between sentences and are not sent. */
interface FormField extends WatchField {
  readonly isLocal?: boolean
}

export const FIELDS: Readonly<Record<string, FormField>> = {
  ...WATCH_FIELDS,
  'late/kind': { label: 'Expected', options: { every: 'every', cron: 'on schedule' }, isLocal: true },
  'metric/side': { label: 'Side', options: { above: 'above', below: 'below' }, isLocal: true },
}

/** Both thresholds keep one text: the side is chosen beside it. */
const keyOf = (name: string): string => (/^metric\/(above|below)$/.test(name) ? 'metric/bound' : name)

export interface Values {
  readonly process: string
  readonly meta: string | undefined
  readonly name: string
  readonly remind: string
  readonly channels: readonly string[]
  readonly exceptions: boolean
  readonly on: Readonly<Partial<Record<Condition, boolean>>>
  /** The texts of a condition stay while its box is not checked. */
  readonly texts: Readonly<Record<string, string>>
}

export const textOf = ({ texts }: Values, name: string): string => texts[keyOf(name)] ?? ''

export const withText = ({ texts }: Values, name: string, text: string): Values['texts'] => ({
  ...texts,
  [keyOf(name)]: text,
})

/** Its words and its fields; those before the first field are the label of its box. */
export function sentenceOf(condition: Condition, values: Values): readonly string[] {
  const sentence = CONDITION_TABLE[condition].sentence((name) => textOf(values, name), values.exceptions)
  return sentence.split(/\s*\{(.+?)\}\s*/)
}

const fieldsOf = (condition: Condition, values: Values): readonly string[] =>
  condition === 'failed' ? ['failed/after'] : sentenceOf(condition, values).filter((_, i) => i % 2 === 1)

function bodyOf(condition: Condition, values: Values): unknown {
  const sent = fieldsOf(condition, values).filter((name) => !FIELDS[name]!.isLocal)
  const entries = sent.flatMap((name) => {
    const text = name === 'metric/name' ? textOf(values, name) : textOf(values, name).trim()
    const value = FIELDS[name]!.number === undefined ? text : Number(text)
    return text === '' ? [] : [[name.split('/')[1] ?? '', value] as const]
  })
  if (sent[0] === condition) return entries[0]?.[1]
  return { ...Object.fromEntries(entries), ...(condition === 'failed' && { exceptions: values.exceptions }) }
}

export const hasCondition = ({ on }: Values): boolean => CONDITIONS.some((condition) => on[condition])

/** An empty name is that of the process. */
export function toWatch(values: Values): CreateWatch {
  const { process, meta, name, remind, channels, on } = values
  return {
    ...Object.fromEntries(CONDITIONS.map((condition) => [condition, on[condition] ? bodyOf(condition, values) : null])),
    name: name.trim() || process.trim().slice(0, 100),
    process,
    meta: meta ?? null,
    channels: [...channels],
    remind: remind.trim() || null,
  }
}

/** Only what was changed, so that the alerts of all other conditions continue. */
export function changesOf(before: Values, after: Values): Partial<CreateWatch> {
  const old = toWatch(before) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(toWatch(after)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  )
}

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const NOTHING: Values = {
  process: '',
  meta: undefined,
  name: '',
  remind: '',
  channels: [],
  exceptions: true,
  on: {},
  texts: {
    'late/kind': 'every',
    'late/every': '1d',
    'late/tz': here(),
    'late/grace': DEFAULT_GRACE,
    slow: '2',
    'metric/of': 'last',
    'metric/window': '10m',
    'metric/side': 'above',
    'failed/after': '1',
  },
}

export function valuesOf(watch: Watch): Values {
  const texts: Record<string, string> = { ...NOTHING.texts }
  for (const condition of CONDITIONS) {
    const held = watch[condition]
    const members = held !== null && typeof held === 'object' ? Object.entries(held) : []
    for (const [member, value] of members) texts[keyOf(`${condition}/${member}`)] = String(value)
    if (held !== null && members.length === 0) texts[condition] = String(held)
  }
  const { late, metric } = watch
  if (late !== null) {
    Object.assign(texts, { 'late/kind': late.cron === undefined ? 'every' : 'cron', 'late/grace': late.grace ?? '' })
    if (late.cron !== undefined) texts['late/tz'] = late.tz ?? ''
  }
  if (metric !== null) texts['metric/side'] = metric.above === undefined ? 'below' : 'above'
  return {
    process: watch.process,
    meta: watch.meta ?? undefined,
    name: watch.name,
    remind: watch.remind ?? '',
    channels: watch.channels,
    exceptions: watch.failed === null ? true : (watch.failed.exceptions ?? false),
    texts,
    on: Object.fromEntries(CONDITIONS.map((condition) => [condition, watch[condition] !== null])),
  }
}

/** Whether the watch reports each failed run of the process, of every process if that is empty. */
export const reportsFailures = ({ process, meta, failed, state }: Watch, of: string): boolean =>
  (process === '*' || process === of) && meta === null && failed?.after === 1 && state !== 'paused'
