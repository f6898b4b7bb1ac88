// Every query parameter of the questions, once: how it is read, and how the API's documentation describes it.
import { checkMeta, checkProcess, checkUid, nameFault, stripText } from '../event/fields.ts'
import { parseRfc3339 } from '../event/rfc3339.ts'
import type { TimingState } from '../store/source.ts'
import { type Cursor, decodeCursor } from './cursor.ts'
import { parseAgo, parseSpan } from './span.ts'

/** What a text means, or what is wrong with it (never the text itself). */
export type Parsed<T> = { readonly value: T } | { readonly detail: string }

export interface Parameter<T> {
  readonly description: string
  /** JSON Schema, for the documentation. */
  readonly schema: Readonly<Record<string, unknown>>
  parse(text: string, nowNs: bigint): Parsed<T>
}

export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1000
export const DEFAULT_EACH = 30
const MAX_EACH = 100

const STATES = ['completed', 'running', 'abandoned', 'orphan'] as const satisfies TimingState[]

const checked = <T>(faults: readonly { readonly detail: string }[], value: T): Parsed<T> =>
  faults.length === 0 ? { value } : { detail: faults.map(({ detail }) => detail).join('; ') }

/** What can be said of a time in a pattern; that a month has no 31st day cannot. */
const TIME =
  '^(-[0-9]{1,10}[smhdw]|[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))$'

const STRIPPED = '\'"%\\u0000-\\u001f\\u007f'
/** After stripping. */
const SOMETHING_LEFT = `[^${STRIPPED}\\\\]`
const METRIC_NAME = `^[^${STRIPPED}]*[^${STRIPPED}\\\\]$`

const time = (description: string): Parameter<bigint> => ({
  description: `${description}: RFC 3339 with up to nine digits of a second, or a time ago such as \`-90m\` (s, m, h, d, w).`,
  schema: { type: 'string', pattern: TIME, example: '-90m' },
  parse: (text, nowNs) => {
    // In a query string a `+` means a space: the sign of an offset arrives as one.
    const value = parseAgo(text, nowNs) ?? parseRfc3339(text.replace(/ (?=\d\d:\d\d$)/, '+'))
    return value === undefined ? { detail: 'must be an RFC 3339 time or a time ago such as -90m' } : { value }
  },
})

const parameters = {
  from: time('The beginning of the range, which belongs to it; an hour ago when absent'),
  to: time('The end of the range, which does not belong to it; now when absent'),
  process: {
    description: 'Only this process. Stripped as it is when events are sent.',
    schema: { type: 'string', minLength: 1, maxLength: 250, pattern: SOMETHING_LEFT },
    parse: (text) => checked(checkProcess(text), stripText(text)),
  } satisfies Parameter<string>,
  meta: {
    description: 'Only this meta; empty (`meta=`) means without meta. Stripped as it is when events are sent.',
    schema: { type: 'string', maxLength: 500 },
    parse: (text) => checked(checkMeta(text), stripText(text)),
  } satisfies Parameter<string>,
  uid: {
    description: 'Only this uid; empty (`uid=`) means without uid.',
    schema: { type: 'string', maxLength: 50, pattern: '^[a-z0-9_-]*$' },
    parse: (text) => checked(checkUid(text), text),
  } satisfies Parameter<string>,
  state: {
    description: 'Only timings in this state.',
    schema: { type: 'string', enum: STATES },
    parse: (text) => {
      const value = STATES.find((state) => state === text)
      return value === undefined ? { detail: `must be one of ${STATES.join(', ')}` } : { value }
    },
  } satisfies Parameter<TimingState>,
  name: {
    description: 'Only the metric of this name.',
    schema: { type: 'string', minLength: 1, maxLength: 250, pattern: METRIC_NAME },
    parse: (text) => {
      const detail = nameFault(text)
      return detail === undefined ? { value: text } : { detail }
    },
  } satisfies Parameter<string>,
  fingerprint: {
    description: 'Only exceptions of this group, as `/api/exceptions/groups` names it.',
    schema: { type: 'string', pattern: '^v[0-9]{1,4}:[0-9a-f]{1,64}$' },
    parse: (text) =>
      /^v\d{1,4}:[0-9a-f]{1,64}$/.test(text)
        ? { value: text }
        : { detail: 'must be a fingerprint such as v1:0123456789abcdef' },
  } satisfies Parameter<string>,
  by: {
    description: 'Splits the rows by meta.',
    schema: { type: 'string', enum: ['meta'] },
    parse: (text) => (text === 'meta' ? { value: text } : { detail: 'must be meta' }),
  } satisfies Parameter<'meta'>,
  every: {
    description:
      'Makes a series with one row a bucket of this length, such as `10s`, `5m`, `1h` or `1d`; buckets are aligned to the epoch (UTC).',
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,8}[smhd]$' },
    parse: (text) => {
      const value = parseSpan(text)
      return value === undefined ? { detail: 'must be a whole number and s, m, h or d, from 1s to 36500d' } : { value }
    },
  } satisfies Parameter<bigint>,
  limit: {
    description: 'How many at most.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    parse: (text) =>
      /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_LIMIT
        ? { value: Number(text) }
        : { detail: `must be a whole number from 1 to ${MAX_LIMIT}` },
  } satisfies Parameter<number>,
  each: {
    description: 'How many timings per process at most.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_EACH, default: DEFAULT_EACH },
    parse: (text) =>
      /^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_EACH
        ? { value: Number(text) }
        : { detail: `must be a whole number from 1 to ${MAX_EACH}` },
  } satisfies Parameter<number>,
  cursor: {
    description:
      'The `next` of the page before, with the other parameters as they were. It fixes the range and the moment of the first page: nothing is skipped or repeated.',
    schema: { type: 'string', minLength: 1 },
    parse: (text) => {
      const value = decodeCursor(text)
      return value === undefined ? { detail: 'is not a cursor that an earlier answer gave' } : { value }
    },
  } satisfies Parameter<Cursor>,
}

export type ParameterName = keyof typeof parameters

/** Whatever of the parameters was given, read. */
export type Given = {
  readonly [N in ParameterName]?: (typeof parameters)[N] extends Parameter<infer T> ? T : never
}

export const PARAMETERS: Readonly<Record<ParameterName, Parameter<unknown>>> = parameters
