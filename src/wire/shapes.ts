// The pieces that the schemas of this folder are made of.
import { type Static, type TLiteral, type TProperties, type TSchema, type TUnion, Type } from '@sinclair/typebox'

/** An event's time. */
export const Time = Type.String({
  format: 'date-time',
  description: 'RFC 3339 with nine digits of a second.',
  examples: ['2026-11-20T21:52:42.171920000Z'],
})

/** A time of the account routes. */
export const TimeMs = Type.String({
  format: 'date-time',
  description: 'RFC 3339 with milliseconds.',
  examples: ['2026-11-20T21:52:42.171Z'],
})

/** An end that lies ahead. */
export const LaterMs = Type.String({ ...TimeMs, examples: ['2026-11-28T06:00:00.004Z'] })

/** A text with its example. */
export const Text = (example: string, description?: string) =>
  Type.String({ examples: [example], ...(description && { description }) })

export const ProcessName = Text('nightly import')

export const Count = Type.Integer({ minimum: 0 })

/** Null in examples unless one is given. */
export const orNull = <T extends TSchema>(schema: T, example?: Static<T>, description?: string) =>
  Type.Union([schema, Type.Null()], {
    ...(example !== undefined && { examples: [example] }),
    ...(description !== undefined && { description }),
  })

type Literals<T extends readonly string[]> = { -readonly [K in keyof T]: TLiteral<T[K] & string> }

export const choice = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as TUnion<Literals<T>>

/** A parameter that may be repeated. */
export const several = <T extends TSchema>(one: T, maxItems: number, description: string) =>
  Type.Array(one, { maxItems, description })

/** `{[name]: [item, …], next}` */
export const pageOf = <N extends string, T extends TSchema>(name: N, item: T) =>
  Type.Object({
    ...({ [name]: Type.Array(item) } as Record<N, ReturnType<typeof Type.Array<T>>>),
    next: orNull(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
  })

/** Paging of lists whose items move to the front when they send something. */
export const LIST_PAGES =
  'A cursor fixes the range: what is sent after the first page moves no item. One that was sent before it and stored ' +
  'after it may move its item past the pages still to come.'

const PRINTED = '[^\\u0000-\\u001f\\u007f-\\u009f]*'

/** A name that people give and see: neither empty nor with control characters. */
export const GivenName = (example: string, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: `^${PRINTED}[^\\u0000-\\u001f\\u007f-\\u009f\\s]${PRINTED}$`,
    fault: 'must not be empty, nor contain control characters',
    ...(description && { description }),
    examples: [example],
  })

/** An object that takes no members but these. */
export const closed = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false })

export const TIMING_STATES = ['completed', 'failed', 'running', 'abandoned', 'orphan'] as const
