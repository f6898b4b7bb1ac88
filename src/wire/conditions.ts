// The conditions of a watch, in the order in which they are shown: their names, what people read about them, and their
// fields, each once: from here follow the form of the console, `stint watch add`, the descriptions of the API and the
// table of watch/README.md. Free of schemas: it is in the console's bundle. A member of a watch is called like its
// condition; judging is in watch/conditions.
import { spellSpan } from './span-text.ts'
import { describeNextDue, PROCESS_STATE_TEXT } from './words.ts'

/** How late a start may be. Above all else it is inlined, and the console's bundle leaves WATCH_FIELD_TEXTS out. */
export const DEFAULT_GRACE = '5m'

/** The members of a watch that the words below need. */
interface Conditions {
  readonly late: { readonly every?: string; readonly cron?: string; readonly tz?: string } | null
  readonly next_due: string | null
  readonly long: string | null
  readonly failed: { readonly after?: number; readonly exceptions?: boolean } | null
  readonly slow: number | null
  readonly metric: { readonly name: string; readonly above?: number; readonly below?: number } | null
}

export interface ConditionEntry {
  readonly label: string
  /** An alert: the event, the state while it fires (absent: the figure), the cause of its end after "resolved". */
  readonly happened?: string
  readonly fires?: string
  readonly ended: string
  /** The clause for this watch: `is late (every 1 h)`; falsy if it has no such condition. */
  says(watch: Conditions): readonly (string | false | null | undefined)[]
  /** In the form: words with fields in braces, by what the form holds; those before the first are its box's label. */
  sentence(text: (field: string) => string, exceptions: boolean): string
}

export const CONDITION_TABLE = {
  late: {
    label: 'late',
    happened: 'is late',
    fires: 'Late',
    ended: 'by the next start',
    says({ late, next_due }) {
      if (late === null) return []
      const due = describeNextDue(late, next_due)
      return [
        `is late (${late.every === undefined ? late.cron : `every ${spellSpan(late.every)}`}${due ? `, ${due}` : ''})`,
      ]
    },
    sentence: (text) =>
      text('late/kind') === 'every'
        ? 'does not start {late/kind} {late/every} plus {late/grace} grace'
        : 'does not start {late/kind} {late/cron} in {late/tz} plus {late/grace} grace',
  },
  long: {
    label: 'too long',
    happened: 'is running long',
    fires: PROCESS_STATE_TEXT.overdue[0],
    ended: 'by the end of the run',
    says: ({ long }) => [long && `runs longer than ${spellSpan(long)}`],
    sentence: () => 'takes longer than {long}',
  },
  failed: {
    label: 'failed',
    happened: 'failed',
    fires: 'Failing',
    ended: 'by the next run',
    says: ({ failed }) => [
      failed && ((failed.after ?? 1) > 1 ? `fails ${failed.after} times in a row` : 'fails'),
      failed?.exceptions && 'raises an exception',
    ],
    sentence(text, exceptions) {
      const after = text('failed/after')
      return `fails${Number(after) > 1 ? ` ${after} times in a row` : ''}${exceptions ? ' or raises an exception' : ''}`
    },
  },
  slow: {
    label: 'slow',
    happened: 'was slower than usual',
    fires: 'Slower than usual',
    ended: 'by a run that was not slow',
    says: ({ slow }) => [slow !== null && `takes ${slow}× the usual time`],
    sentence: () => 'takes {slow} times as long as usual',
  },
  metric: {
    label: 'metric',
    ended: 'because it is back in range',
    says: ({ metric }) => [
      metric && `has ${metric.name} ${metric.above === undefined ? `below ${metric.below}` : `above ${metric.above}`}`,
    ],
    sentence: (text) =>
      'has a metric {metric/name} whose {metric/of} of {metric/window} is {metric/side} ' +
      `{metric/${text('metric/side')}} for {metric/for}`,
  },
} as const satisfies Record<string, ConditionEntry>

export type Condition = keyof typeof CONDITION_TABLE
export const CONDITIONS = Object.keys(CONDITION_TABLE) as [Condition, ...Condition[]]

/** `runs longer than 1 min, or fails`, after "when it". */
export function describeConditions(watch: Conditions): string {
  const parts = CONDITIONS.flatMap((condition) => CONDITION_TABLE[condition].says(watch)).filter(Boolean)
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, or ${parts.at(-1)}`
}

export interface WatchField {
  /** In the form, and for screen readers. */
  readonly label: string
  readonly placeholder?: string
  /** The value that `stint watch add` and the form send when a condition is given without it. */
  readonly usual?: string | number | boolean
  /** A number, within these bounds. */
  readonly number?: { readonly min?: number; readonly max?: number; readonly step?: number }
  readonly options?: Readonly<Record<string, string>>
  readonly isRequired?: boolean
  /** In characters. */
  readonly size?: number
}

const isRequired = true

/** Keyed by the names in a request: `late/every` is `every` of `late`. */
export const WATCH_FIELDS = {
  'late/every': { label: 'Interval', placeholder: '1h', isRequired },
  'late/cron': { label: 'Cron expression', placeholder: '0 3 * * *', isRequired, size: 12 },
  'late/tz': { label: 'Time zone', placeholder: 'UTC', size: 12 },
  'late/grace': { label: 'Grace', placeholder: DEFAULT_GRACE },
  long: { label: 'Longest', placeholder: '30m', isRequired },
  'failed/after': { label: 'Consecutive failures', isRequired, number: { min: 1, max: 100, step: 1 }, usual: 1 },
  'failed/exceptions': { label: 'Exceptions count as failures', usual: false },
  slow: { label: 'Times the usual duration', isRequired, number: { min: 1, max: 1000 } },
  'metric/name': { label: 'Metric', placeholder: 'rows', isRequired, size: 12 },
  'metric/of': {
    label: 'Statistic',
    usual: 'last',
    options: { last: 'last value', min: 'minimum', max: 'maximum', mean: 'mean' },
  },
  'metric/window': { label: 'Window', placeholder: '10m', isRequired, usual: '10m' },
  'metric/above': { label: 'Threshold', isRequired, number: {} },
  'metric/below': { label: 'Threshold', isRequired, number: {} },
  'metric/for': { label: 'For at least', placeholder: 'at once' },
  remind: { label: 'Remind every', placeholder: 'never' },
} as const satisfies Record<string, WatchField>

export type WatchFieldName = keyof typeof WATCH_FIELDS

interface FieldText {
  /** As `stint watch add` has it. */
  readonly flag: string
  /** Other fields in backticks. */
  readonly about: string
}

/** For the API's description, the README and `stint watch add`. A table by itself, because the console reads none. */
export const WATCH_FIELD_TEXTS = {
  'late/every': { flag: '--every <span>', about: 'a start is due this long after the last one' },
  'late/cron': {
    flag: '--cron <expression>',
    about: 'instead of `every`: a start is due at each of these moments; five fields, or six with seconds first',
  },
  'late/tz': { flag: '--tz <zone>', about: 'time zone of `cron`; UTC when absent' },
  'late/grace': { flag: '--grace <span>', about: `how late a start may be; ${DEFAULT_GRACE} when absent` },
  long: { flag: '--long <span>', about: 'fires when a run has been running longer; must be below MAX_RUN' },
  'failed/after': { flag: '--failed <n>', about: 'fires after this many failures in a row' },
  'failed/exceptions': {
    flag: '--exceptions',
    about: 'an exception counts, too, beside a run that failed or never finished',
  },
  slow: {
    flag: '--slow <factor>',
    about: 'fires when a run takes this many times the median of the last 20 completed runs',
  },
  'metric/name': { flag: '--metric <name>', about: 'the metric whose figure is above or below a number' },
  'metric/of': { flag: '--of <figure>', about: 'last, min, max or mean over the window' },
  'metric/window': { flag: '--window <span>', about: 'the figure is taken over the points of this span, up to now' },
  'metric/above': { flag: '--above <number>', about: 'fires while the figure is above; either this or `below`' },
  'metric/below': { flag: '--below <number>', about: 'fires while the figure is below' },
  'metric/for': { flag: '--for <span>', about: 'fires only after the figure has been across the number for this long' },
  remind: { flag: '--remind <span>', about: 'repeats the notification at this interval while the alert fires' },
} as const satisfies Record<WatchFieldName, FieldText>

/** As a sentence: `A start is due this long after the last one.` */
export const aboutField = (name: WatchFieldName): string => {
  const { about } = WATCH_FIELD_TEXTS[name]
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
}
