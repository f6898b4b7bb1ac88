// How each query parameter is read. Its schema and description are in wire/parameters.ts.
import { checkMeta, checkProcess, nameFault, stripText } from '../event/fields.ts'
import { parseRfc3339 } from '../event/own-time.ts'
import { parseAgo, parseEpochMs } from '../process/span.ts'
import {
  EXPORT_FORMATS,
  MAX_EACH,
  MAX_LIMIT,
  MAX_METRICS,
  MAX_PERCENTILES,
  MAX_PROCESSES,
  MAX_TEXT,
  MAX_WORDS,
  type ParameterName,
  STATE_FILTERS,
  STATUS_FILTERS,
} from '../wire/parameters.ts'
import { toUid } from '../wire/run-id.ts'
import { type Every, isTimeZone, parseEvery } from './buckets.ts'
import { type Cursor, decodeCursor } from './cursor.ts'

/** The parsed value of a text, or its fault (which never repeats the text). */
export type Parsed<T> = { readonly value: T } | { readonly detail: string }

type Parse<T> = (text: string, nowNs: bigint) => Parsed<T>

/** By the names of the parameters. */
export type Parsers = Readonly<Record<string, Parse<unknown>>>
/** The parameters that were given, read. */
export type Values<P extends Parsers> = {
  readonly [N in keyof P]?: Extract<ReturnType<P[N]>, { value: unknown }>['value']
}

const parseTime: Parse<bigint> = (text, nowNs) => {
  // In a query string a `+` means a space: the sign of an offset arrives as one.
  const value = parseAgo(text, nowNs) ?? parseEpochMs(text) ?? parseRfc3339(text.replace(/ (?=\d\d:\d\d$)/, '+'))
  return value === undefined
    ? { detail: 'must be an RFC 3339 time, a time ago such as -90m or now-1h, or milliseconds since the epoch' }
    : { value }
}

const parseText =
  (check: (text: string) => readonly string[], toValue: (text: string) => string): Parse<string> =>
  (text) => {
    const faults = check(text)
    return faults.length === 0 ? { value: toValue(text) } : { detail: faults.join('; ') }
  }

const parseNumber =
  (max: number): Parse<number> =>
  (text) =>
    /^[1-9]\d{0,3}$/.test(text) && Number(text) <= max
      ? { value: Number(text) }
      : { detail: `must be a whole number from 1 to ${max}` }

export const parseChoice =
  <const T extends string>(choices: readonly T[], detail = `must be one of ${choices.join(', ')}`) =>
  (text: string): Parsed<T> => {
    const value = choices.find((choice) => choice === text)
    return value === undefined ? { detail } : { value }
  }

/** Texts without white space, signs and exponents; reads the hundredth from the digits: the nearest number. */
const parsePercentiles: Parse<readonly Percentile[]> = (text) => {
  const parts = text.split(',', MAX_PERCENTILES + 1)
  const isEach = parts.every((part) => /^\d{1,3}(\.\d{1,3})?$/.test(part) && Number(part) <= 100)
  const found = parts.map((part) => ({ text: String(Number(part)), quantile: Number(`${part}e-2`) }))
  if (!isEach || parts.length > MAX_PERCENTILES)
    return { detail: `must be 1 to ${MAX_PERCENTILES} numbers from 0 to 100 with commas between, such as 50,90,99.9` }
  const isTwice = new Set(found.map(({ text }) => text)).size < found.length
  return isTwice ? { detail: 'must not name a percentile twice' } : { value: found }
}

const parseMetricName: Parse<string> = (text) => {
  const detail = nameFault(text)
  return detail === undefined ? { value: text } : { detail }
}

export const PARSERS = {
  from: parseTime,
  to: parseTime,
  process: parseText(checkProcess, stripText),
  meta: parseText(checkMeta, stripText),
  uid: (text: string): Parsed<string> => ({ value: toUid(text) }),
  state: parseChoice(STATE_FILTERS),
  status: parseChoice(STATUS_FILTERS),
  format: parseChoice(EXPORT_FORMATS),
  text: (text: string): Parsed<readonly string[]> => {
    const value = [...new Set(text.trim().split(/\s+/))]
    if (value[0] === '') return { detail: 'must not be empty' }
    if ([...text].length > MAX_TEXT) return { detail: `must have at most ${MAX_TEXT} characters` }
    return value.length > MAX_WORDS ? { detail: `must have at most ${MAX_WORDS} words` } : { value }
  },
  as_of: parseChoice(['to'], 'must be to'),
  name: parseMetricName,
  metric: parseMetricName,
  sort: parseChoice(['duration', 'count']),
  percentiles: parsePercentiles,
  compare_from: parseTime,
  compare_to: parseTime,
  fingerprint: (text: string): Parsed<string> =>
    /^v\d{1,4}:[0-9a-f]{1,64}$/.test(text)
      ? { value: text }
      : { detail: 'must be a fingerprint such as v5:0123456789abcdef' },
  all: (text: string): Parsed<true> => (text === 'true' ? { value: true } : { detail: 'must be true' }),
  by: parseChoice(['meta'], 'must be meta'),
  every: (text: string): Parsed<Every> => {
    const value = parseEvery(text)
    return value === undefined
      ? { detail: 'must be a whole number and s, m, h, d, w or mo, from 1s to 36500d' }
      : { value }
  },
  tz: (text: string): Parsed<string> =>
    isTimeZone(text) ? { value: text } : { detail: 'must be a time zone that the server knows, such as Europe/Berlin' },
  limit: parseNumber(MAX_LIMIT),
  each: parseNumber(MAX_EACH),
  cursor: (text: string): Parsed<Cursor> => {
    const value = decodeCursor(text)
    return value === undefined ? { detail: 'is not a cursor of an earlier answer' } : { value }
  },
} satisfies Record<ParameterName, Parse<unknown>>

export type StateFilter = (typeof STATE_FILTERS)[number]
export type StatusFilter = (typeof STATUS_FILTERS)[number]

export interface Percentile {
  /** As it is named in the answer. */
  readonly text: string
  /** From 0 to 1. */
  readonly quantile: number
}

/** Parameters that may be repeated, and how often. */
export const REPEATED: { readonly [N in ParameterName]?: number } = { process: MAX_PROCESSES, metric: MAX_METRICS }

/** The parameters that were given, read; those of `REPEATED` without repetitions. */
export type Given = Omit<Values<typeof PARSERS>, 'process' | 'metric'> & {
  readonly [N in 'process' | 'metric']?: readonly string[]
}
