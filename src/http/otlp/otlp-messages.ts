// The messages of OTLP 1.x, as far as Stint reads them: field numbers of opentelemetry-proto, names of its JSON form.
import { isUtf8 } from 'node:buffer'
import { isObject } from '../../event/fields.ts'
import { formatStamp } from '../../event/stamp.ts'
import type { Message } from './read-protobuf.ts'

const many = true
const anyValue = (): Message => ANY_VALUE
const keyValue = (): Message => KEY_VALUE

const ANY_VALUE: Message = {
  1: { name: 'stringValue', as: 'text' },
  2: { name: 'boolValue', as: 'bool' },
  3: { name: 'intValue', as: 'int' },
  4: { name: 'doubleValue', as: 'double' },
  5: { name: 'arrayValue', as: () => ({ 1: { name: 'values', as: anyValue, many } }) },
  6: { name: 'kvlistValue', as: () => ({ 1: { name: 'values', as: keyValue, many } }) },
  7: { name: 'bytesValue', as: 'base64' },
}
const KEY_VALUE: Message = { 1: { name: 'key', as: 'text' }, 2: { name: 'value', as: anyValue } }
const RESOURCE: Message = { 1: { name: 'attributes', as: keyValue, many } }

/** Resources, scopes in them, and what they hold. */
const request = (signal: string, scoped: string, items: string, item: () => Message): Message => ({
  1: {
    name: `resource${signal}`,
    many,
    as: () => ({
      1: { name: 'resource', as: () => RESOURCE },
      2: { name: `scope${scoped}`, many, as: () => ({ 2: { name: items, as: item, many } }) },
    }),
  },
})

const SPAN: Message = {
  2: { name: 'spanId', as: 'hex' },
  4: { name: 'parentSpanId', as: 'hex' },
  5: { name: 'name', as: 'text' },
  7: { name: 'startTimeUnixNano', as: 'fixed64' },
  8: { name: 'endTimeUnixNano', as: 'fixed64' },
  9: { name: 'attributes', as: keyValue, many },
  11: {
    name: 'events',
    many,
    as: () => ({
      1: { name: 'timeUnixNano', as: 'fixed64' },
      2: { name: 'name', as: 'text' },
      3: { name: 'attributes', as: keyValue, many },
    }),
  },
  15: { name: 'status', as: () => ({ 2: { name: 'message', as: 'text' }, 3: { name: 'code', as: 'int' } }) },
}

const LOG_RECORD: Message = {
  1: { name: 'timeUnixNano', as: 'fixed64' },
  2: { name: 'severityNumber', as: 'int' },
  3: { name: 'severityText', as: 'text' },
  5: { name: 'body', as: anyValue },
  6: { name: 'attributes', as: keyValue, many },
  10: { name: 'spanId', as: 'hex' },
  11: { name: 'observedTimeUnixNano', as: 'fixed64' },
  12: { name: 'eventName', as: 'text' },
}

const NUMBERS: Message = {
  1: {
    name: 'dataPoints',
    many,
    as: () => ({
      3: { name: 'timeUnixNano', as: 'fixed64' },
      4: { name: 'asDouble', as: 'double' },
      6: { name: 'asInt', as: 'sfixed64' },
      7: { name: 'attributes', as: keyValue, many },
    }),
  },
}
/** Only counted. */
const OTHER_POINTS: Message = { 1: { name: 'dataPoints', as: () => ({}), many } }

const METRIC: Message = {
  1: { name: 'name', as: 'text' },
  5: { name: 'gauge', as: () => NUMBERS },
  7: { name: 'sum', as: () => NUMBERS },
  9: { name: 'histogram', as: () => OTHER_POINTS },
  10: { name: 'exponentialHistogram', as: () => OTHER_POINTS },
  11: { name: 'summary', as: () => OTHER_POINTS },
}

export const TRACES = request('Spans', 'Spans', 'spans', () => SPAN)
export const LOGS = request('Logs', 'Logs', 'logRecords', () => LOG_RECORD)
export const METRICS = request('Metrics', 'Metrics', 'metrics', () => METRIC)

// Reads OTLP's JSON form from any sender. Messages and lists are checked as they are read; a value of another type than
// expected counts as absent.
export type Json = Readonly<Record<string, unknown>>

/** A message or list of a wrong type: the whole request is refused. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
  constructor(
    readonly pointer: string,
    message: string,
  ) {
    super(message)
  }
}

/** A member of a message that is a message, too. */
export function member(message: Json, name: string, pointer: string): Json {
  const value = message[name] ?? NONE
  if (!isObject(value)) throw new ShapeError(`${pointer}/${name}`, 'must be a JSON object')
  return value
}

/** A member that is a list of messages. */
export function members(message: Json, name: string, pointer: string): readonly Json[] {
  const value = message[name] ?? []
  if (!Array.isArray(value)) throw new ShapeError(`${pointer}/${name}`, 'must be a list')
  for (const [i, one] of value.entries())
    if (!isObject(one)) throw new ShapeError(`${pointer}/${name}/${i}`, 'must be a JSON object')
  return value
}
const NONE: Json = {}

/** The list that all data of the message is in: without it, data in another member would be lost unnoticed. */
export function content(message: Json, name: string, pointer: string): readonly Json[] {
  if (message[name] === undefined || message[name] === null)
    for (const other in message)
      if (other !== 'resource' && other !== 'scope' && typeof message[other] === 'object' && message[other] !== null)
        throw new ShapeError(`${pointer}/${other}`, `is not known; the data is expected in ${name}`)
  return members(message, name, pointer)
}

const object = (value: unknown): Json => (isObject(value) ? value : NONE)
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** 64-bit numbers are decimal texts or numbers; beyond 2⁵³ a number has lost its last digits at the sender. */
export function integer(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 64) return BigInt(value)
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

/** A number, or its decimal text. */
export function decimal(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?$/.test(value)
    ? Number(value)
    : undefined
}

/** A time of ns since the epoch as `at`, to the µs; undefined for none. */
export function atOf(nanoseconds: unknown): string | undefined {
  if (typeof nanoseconds === 'string' && USUAL_TIME.test(nanoseconds))
    return formatStamp({ us: Number(nanoseconds.slice(0, -3)), sub: 0 })
  const ns = integer(nanoseconds)
  if (ns === undefined || ns <= 0n || ns >= 253_402_300_800_000_000_000n) return undefined
  return formatStamp({ us: Number(ns / 1000n), sub: 0 })
}
/** From 2001 to 2286: the µs are a number without big integers. */
const USUAL_TIME = /^[1-9]\d{18}$/

/** SDKs send at most 128 per item by default; 160,000 in one item held the event loop for 300 ms. */
const MAX_ATTRIBUTES = 1000

/** The first attributes; odd ones are left out: they must not refuse what came with them. */
const attributesIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value.length > MAX_ATTRIBUTES ? value.slice(0, MAX_ATTRIBUTES) : value) : []

/** The first attributes as text by key; lists and maps as JSON. */
export function attributesOf(value: unknown): Map<string, string> {
  const room = { values: MAX_NESTED }
  return new Map(
    attributesIn(value)
      .filter(isObject)
      .map(({ key, value: any }) => [text(key), anyText(object(any), room)]),
  )
}

/** The same of one key: most attributes are of no interest. */
export function attributeOf(value: unknown, key: string): string | undefined {
  const found = attributesIn(value).findLast((one) => isObject(one) && one.key === key) as Json | undefined
  return found && anyText(object(found.value))
}

/** Values in lists and maps of one item: the text of an exception, the longest, has no room for more. */
const MAX_NESTED = 7500
const MAX_DEPTH = 32

export function anyText(any: Json, room = { values: MAX_NESTED }): string {
  const plain = plainOf(any, room)
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain ?? '')
}

/** The plain JSON of a value; undefined without one, or for one of another type. */
function plainOf(any: Json, room: { values: number }, depth = 0): unknown {
  const whole = integer(any.intValue)
  if (whole !== undefined) return Number.isSafeInteger(Number(whole)) ? Number(whole) : String(whole)
  const scalar = any.stringValue ?? any.boolValue ?? decimal(any.doubleValue)
  if (['string', 'boolean', 'number'].includes(typeof scalar)) return scalar
  if (typeof any.bytesValue === 'string') return textOfBytes(any.bytesValue)
  const nesting = any.arrayValue ?? any.kvlistValue
  if (!isObject(nesting)) return undefined
  if (depth === MAX_DEPTH) return '…'
  const nested: [string, unknown][] = []
  for (const one of Array.isArray(nesting.values) ? nesting.values : []) {
    if (room.values-- <= 0) break
    const [key, value] = any.arrayValue ? ['', one] : [text(object(one).key), object(one).value]
    nested.push([key, plainOf(object(value), room, depth + 1) ?? null])
  }
  return any.arrayValue ? nested.map(([, value]) => value) : Object.fromEntries(nested)
}

/** Bytes that are no text stay in base64, as OpenTelemetry represents them outside of OTLP. */
function textOfBytes(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  return isUtf8(bytes) ? bytes.toString() : base64
}

/** Names, metas and texts hold whole code points. */
export const cut = (value: string, max: number): string =>
  value.length <= max ? value.toWellFormed() : [...value.slice(0, 2 * max)].slice(0, max).join('').toWellFormed()

/** The text of an exception's attributes; undefined without any. */
export function exceptionText(attributes: ReadonlyMap<string, string>): string | undefined {
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) => attributes.get(`exception.${name}`))
  const head = [type, message].filter((part) => part !== undefined && part !== '').join(': ')
  if (stack === undefined || stack === '') return head === '' ? undefined : head
  return message === undefined || stack.includes(message) ? stack : `${head}\n${stack}`
}
