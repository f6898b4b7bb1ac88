// How each query parameter is read. Its schema and description are in wire/parameters.ts.
import { checkMeta, checkProcess, nameFault, stripText } from '../event/fields.ts'
import { parseRfc3339 } from '../event/own-time.ts'
import { parseAgo, parseEpochMs } from '../process/span.ts'
import { MAX_PERCENTILES, MAX_TEXT, MAX_WORDS, type ParameterName } from '../wire/parameters.ts'
import { type ParametersOf, parametersOf, type WithParameters } from '../wire/route.ts'
import { toUid } from '../wire/run-id.ts'
import { type Every, isTimeZone, parseEvery } from './buckets.ts'
import { type Cursor, decodeCursor } from './cursor.ts'

/** The parsed value of a text, or its fault (which never repeats the text). */
export type Parsed<T> = { readonly value: T } | { readonly detail: string }

type Parse<T> = (text: string, nowNs: bigint) => Parsed<T>

/** Keyed by the names of the parameters. */
export type Parsers = Readonly<Record<string, Parse<unknown>>>

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

/** Parameters that a schema alone cannot read. */
export const PARSERS = {
  from: parseTime,
  to: parseTime,
  process: parseText(checkProcess, stripText),
  meta: parseText(checkMeta, stripText),
  uid: (text: string): Parsed<string> => ({ value: toUid(text) }),
  text: (text: string): Parsed<readonly string[]> => {
    const value = [...new Set(text.trim().split(/\s+/))]
    if (value[0] === '') return { detail: 'must not be empty' }
    if ([...text].length > MAX_TEXT) return { detail: `must have at most ${MAX_TEXT} characters` }
    return value.length > MAX_WORDS ? { detail: `must have at most ${MAX_WORDS} words` } : { value }
  },
  name: parseMetricName,
  metric: parseMetricName,
  percentiles: parsePercentiles,
  compare_from: parseTime,
  compare_to: parseTime,
  fingerprint: (text: string): Parsed<string> =>
    /^v\d{1,4}:[0-9a-f]{1,64}$/.test(text)
      ? { value: text }
      : { detail: 'must be a fingerprint such as v5:0123456789abcdef' },
  every: (text: string): Parsed<Every> => {
    const value = parseEvery(text)
    return value === undefined
      ? { detail: 'must be a whole number and s, m, h, d, w or mo, from 1s to 36500d' }
      : { value }
  },
  tz: (text: string): Parsed<string> =>
    isTimeZone(text) ? { value: text } : { detail: 'must be a time zone that the server knows, such as Europe/Berlin' },
  cursor: (text: string): Parsed<Cursor> => {
    const value = decodeCursor(text)
    return value === undefined ? { detail: 'is not a cursor of an earlier answer' } : { value }
  },
} satisfies Partial<Record<ParameterName, Parse<unknown>>>

export interface Percentile {
  /** As it is named in the answer. */
  readonly text: string
  /** From 0 to 1. */
  readonly quantile: number
}

type Schema = ReturnType<typeof parametersOf>[string]

interface Reader {
  readonly parse: Parse<unknown>
  /** How often it may be given, for a list of values. */
  readonly max?: number
}

type ValueOf<P> = P extends (...args: never[]) => infer R ? Extract<R, { value: unknown }>['value'] : never

/** A list of what `One` is read as, if the schema is a list. */
type Read<Static, One> = Static extends readonly unknown[] ? readonly One[] : One

/** The parameters of a route that were given, read; `Own` reads those of this route alone. */
export type Given<R, Own = unknown> = {
  readonly [N in keyof ParametersOf<R>]?: N extends keyof Own
    ? ValueOf<Own[N]>
    : N extends keyof typeof PARSERS
      ? Read<ParametersOf<R>[N], ValueOf<(typeof PARSERS)[N]>>
      : ParametersOf<R>[N]
}

/** How the parameters of a route are read: by their names, the others by their schemas. */
export const readersOf = (route: WithParameters, own: Parsers = {}): Readonly<Record<string, Reader>> =>
  Object.fromEntries(
    Object.entries(parametersOf(route)).map(([name, schema]) => {
      const { items = schema, maxItems } = schema
      const parsers: Parsers = { ...PARSERS, ...own }
      const parse = parsers[name] ?? parserOf(items)
      return [name, { parse, ...(maxItems !== undefined && { max: maxItems }) }]
    }),
  )

function parserOf({ anyOf, const: constant, type, maximum, maxLength }: Schema): Parse<unknown> {
  if (type === 'integer')
    return (text) =>
      /^[1-9]\d{0,3}$/.test(text) && Number(text) <= maximum
        ? { value: Number(text) }
        : { detail: `must be a whole number from 1 to ${maximum}` }
  if (type === 'string' && constant === undefined)
    return (text) =>
      text.length > maxLength ? { detail: `must have at most ${maxLength} characters` } : { value: text }
  const choices: readonly unknown[] = anyOf?.map((one: Schema) => one.const) ?? [constant]
  const detail = choices.length === 1 ? `must be ${choices[0]}` : `must be one of ${choices.join(', ')}`
  return (text) => (choices.includes(text) ? { value: text } : { detail })
}
