// The query parameters, each once: schema and description. How each is read is in query/parameters.ts.
import { type TSchema, Type } from '@sinclair/typebox'
import { choice, several, TIMING_STATES } from './shapes.ts'

export const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
export const MAX_PROCESSES = 100
const MAX_METRICS = 10
export const MAX_PERCENTILES = 10
export const DEFAULT_EACH = 30
const MAX_EACH = 100

/** A pattern cannot say that a month has no 31st day. */
const TIME =
  '^(now|(now)?-[0-9]{1,10}[smhdw]|[0-9]{12,13}|[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]' +
  '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))$'

const STRIPPED = '\'"%\\u0000-\\u001f\\u007f'

/** Swagger fills its form with the examples: a question must be valid with all of them. */
const time = (description: string, example?: string) =>
  Type.String({
    description:
      `${description}: RFC 3339 with up to nine decimals, milliseconds since the epoch, or a time ago such as ` +
      '`-90m` or `now-90m` (s, m, h, d, w).',
    pattern: TIME,
    ...(example !== undefined && { examples: [example] }),
  })

const METRIC_NAME = { minLength: 1, maxLength: 250, pattern: `^[^${STRIPPED}]*[^${STRIPPED}\\\\]$` }
const PERCENTILE = '(100(\\.0{1,3})?|[0-9]{1,2}(\\.[0-9]{1,3})?)'

/** `state=trouble` selects failed and abandoned timings and those with exceptions. */
const STATE_FILTERS = [...TIMING_STATES, 'trouble'] as const

/** Status of a group of exceptions; `regressed`: it was resolved, and has occurred since. */
export const GROUP_STATUSES = ['unresolved', 'regressed', 'resolved', 'ignored'] as const
/** `unresolved` selects the regressed ones, too. */
const STATUS_FILTERS = [...GROUP_STATUSES, 'all'] as const

export const EXPORT_FORMATS = ['csv', 'jsonl'] as const

export const MAX_TEXT = 200
export const MAX_WORDS = 10

export const PARAMETERS = {
  from: time('Start of the range, inclusive; an hour ago by default', '-90m'),
  to: time('End of the range, exclusive; now by default'),
  process: several(
    Type.String({ minLength: 1, maxLength: 250, pattern: `[^${STRIPPED}\\\\]` }),
    MAX_PROCESSES,
    'Only this process, or any of several: `process=a&process=b`. Stripped as in events.',
  ),
  meta: Type.String({
    description: 'Only this meta; empty (`meta=`) means without meta. Stripped as in events.',
    maxLength: 500,
  }),
  uid: Type.String({
    description: 'Only this uid, or the id of a scheduler that a client made one of; empty (`uid=`) means without uid.',
  }),
  state: choice(STATE_FILTERS, {
    description:
      'Only timings in this state. `trouble` selects failed and abandoned timings and those with exceptions; its ' +
      'pages may be short while `next` is set.',
  }),
  as_of: choice(['to'], {
    description:
      'As it was at `to`: a timing that ended later is `running`. A summary then counts every timing of which any ' +
      'part is in the range, and its series says `at_once`.',
  }),
  name: Type.String({ description: 'Only the metric with this name.', ...METRIC_NAME }),
  metric: several(
    Type.String(METRIC_NAME),
    MAX_METRICS,
    'Adds `metrics` to each timing, with the newest value of this metric, or of several, that the run sent.',
  ),
  percentiles: Type.String({
    description:
      `Adds \`percentiles\` to each row: of the durations of completed timings, from 0 (the shortest) to 100 (the ` +
      `longest), with up to three decimals; at most ${MAX_PERCENTILES}, separated by commas.`,
    pattern: `^${PERCENTILE}(,${PERCENTILE}){0,${MAX_PERCENTILES - 1}}$`,
    examples: ['50,90,99.9'],
  }),
  compare_from: time('Adds `before` to each row, its figures of a second range; this is the start of that range'),
  compare_to: time('End of the range that `compare_from` begins, exclusive; `from` by default'),
  fingerprint: Type.String({
    description: 'Only exceptions of this group, as `/api/exceptions/groups` names it.',
    pattern: '^v[0-9]{1,4}:[0-9a-f]{1,64}$',
  }),
  text: Type.String({
    description:
      `Only exceptions whose text contains each of these words, at most ${MAX_WORDS}, in any case and order. Every ` +
      "character is literal; the text is read as for its headline, without JSON's escapes and a terminal's colours.",
    minLength: 1,
    maxLength: MAX_TEXT,
    pattern: '\\S',
    examples: ['connection reset'],
  }),
  status: choice(STATUS_FILTERS, {
    description:
      'Only groups with this status. `unresolved` includes `regressed` and is the default, but with ' +
      '`fingerprint` the default is `all`.',
  }),
  format: choice(EXPORT_FORMATS, { description: 'CSV (the default) or JSON lines.' }),
  by: choice(['meta'], {
    description: 'Returns one row per meta; metrics have rows only with `every`. Latest timings: see there.',
  }),
  every: Type.String({
    description:
      'Returns a series with one row per bucket of this length, such as `10s`, `5m`, `1h`, `1d`, `1w` (from ' +
      'Monday) or `1mo`; `at` is its start. Buckets are aligned to the epoch (UTC), or follow the calendar of ' +
      '`tz`.',
    pattern: '^[1-9][0-9]{0,8}(s|m|h|d|w|mo)$',
  }),
  tz: Type.String({
    description:
      'With `every`: the time zone whose days, weeks and months the buckets follow. A day has 23 or 25 hours ' +
      'where the clocks change; shorter buckets, of `24h` at most, are counted from local midnight on, and the ' +
      'last one of a day ends with it. Every name that the runtime knows (IANA).',
    minLength: 1,
    maxLength: 100,
  }),
  all: choice(['true'], { description: 'Those of all accounts; for the operator alone.' }),
  limit: Type.Integer({
    description: 'Maximum number of items.',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  each: Type.Integer({
    description: 'Maximum number of timings per process.',
    minimum: 1,
    maximum: MAX_EACH,
    default: DEFAULT_EACH,
  }),
  cursor: Type.String({
    description:
      'The `next` of the previous page; the other parameters must stay the same. It fixes the range and the ' +
      'moment of the first page: nothing is skipped or repeated.',
    minLength: 1,
  }),
} as const satisfies Record<string, TSchema>

export type ParameterName = keyof typeof PARAMETERS
