// The meaning of a watch's fields, for the API's description, the README and `stint watch add`; the console has its
// form instead. Free of schemas: the command line reads it.
import { DEFAULT_GRACE, type WatchFieldName } from './conditions.ts'

interface FieldText {
  /** As `stint watch add` has it. */
  readonly flag: string
  /** Other fields in backticks. */
  readonly about: string
}

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
