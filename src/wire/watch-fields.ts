// The fields of a watch's conditions, each once: from here follow the form of the console, `stint watch add`, the
// descriptions of the API and the table of watch/README.md. Free of schemas: it is in the console's bundle.

/** How late a start may be. */
export const DEFAULT_GRACE = '5m'

export interface WatchField {
  /** In the form, and for screen readers. */
  readonly label: string
  readonly placeholder?: string
  /** What it means; other fields in backticks. */
  readonly about: string
  /** Of `stint watch add`. */
  readonly flag: string
  /** What `stint watch add` and the form send when a condition is given without it. */
  readonly usual?: string | number | boolean
  /** A number, within these bounds. */
  readonly number?: { readonly min?: number; readonly max?: number; readonly step?: number }
  readonly options?: Readonly<Record<string, string>>
  readonly isRequired?: boolean
  /** In characters. */
  readonly size?: number
}

const isRequired = true

/** By their names in a request: `late/every` is `every` of `late`. */
export const WATCH_FIELDS = {
  'late/every': {
    ...{ label: 'Interval', placeholder: '1h', isRequired, flag: '--every <span>' },
    about: 'a start is due this long after the last one',
  },
  'late/cron': {
    ...{ label: 'Cron expression', placeholder: '0 3 * * *', isRequired, size: 12, flag: '--cron <expression>' },
    about: 'instead of `every`: a start is due at each of these moments; five fields, or six with seconds first',
  },
  'late/tz': {
    ...{ label: 'Time zone', placeholder: 'UTC', size: 12, flag: '--tz <zone>' },
    about: 'time zone of `cron`; UTC when absent',
  },
  'late/grace': {
    ...{ label: 'Grace', placeholder: DEFAULT_GRACE, flag: '--grace <span>' },
    about: `how late a start may be; ${DEFAULT_GRACE} when absent`,
  },
  long: {
    ...{ label: 'Longest', placeholder: '30m', isRequired, flag: '--long <span>' },
    about: 'fires when a run has been running longer; must be below MAX_RUN',
  },
  'failed/after': {
    ...{ label: 'Consecutive failures', isRequired, number: { min: 1, max: 100, step: 1 }, flag: '--failed <n>' },
    ...{ usual: 1, about: 'fires after this many failures in a row' },
  },
  'failed/exceptions': {
    ...{ label: 'Exceptions count as failures', flag: '--exceptions', usual: false },
    about: 'an exception counts, too, beside a run that failed or never finished',
  },
  slow: {
    ...{ label: 'Times the usual duration', isRequired, number: { min: 1, max: 1000 }, flag: '--slow <factor>' },
    about: 'fires when a run takes this many times the median of the last 20 completed runs',
  },
  'metric/name': {
    ...{ label: 'Metric', placeholder: 'rows', isRequired, size: 12, flag: '--metric <name>' },
    about: 'the metric whose figure is above or below a number',
  },
  'metric/of': {
    ...{ label: 'Statistic', flag: '--of <figure>', usual: 'last' },
    options: { last: 'last value', min: 'minimum', max: 'maximum', mean: 'mean' },
    about: 'last, min, max or mean over the window',
  },
  'metric/window': {
    ...{ label: 'Window', placeholder: '10m', isRequired, flag: '--window <span>', usual: '10m' },
    about: 'the figure is taken over the points of this span, up to now',
  },
  'metric/above': {
    ...{ label: 'Threshold', isRequired, number: {}, flag: '--above <number>' },
    about: 'fires while the figure is above; either this or `below`',
  },
  'metric/below': {
    ...{ label: 'Threshold', isRequired, number: {}, flag: '--below <number>' },
    about: 'fires while the figure is below',
  },
  'metric/for': {
    ...{ label: 'For at least', placeholder: 'at once', flag: '--for <span>' },
    about: 'fires only after the figure has been across the number for this long',
  },
  remind: {
    ...{ label: 'Remind every', placeholder: 'never', flag: '--remind <span>' },
    about: 'repeats the notification at this interval while the alert fires',
  },
} as const satisfies Record<string, WatchField>

export type WatchFieldName = keyof typeof WATCH_FIELDS

/** As a sentence: `A start is due this long after the last one.` */
export const aboutField = (name: WatchFieldName): string => {
  const { about } = WATCH_FIELDS[name]
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
}
