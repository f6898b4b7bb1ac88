// Reading of OTLP's JSON form, which anybody may have written: whatever has not the expected type counts as absent.
import { formatStamp } from '../../event/stamp.ts'

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const object = (value: unknown): Json => (isObject(value) ? value : {})
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** 64-bit numbers are decimal texts; some write them as numbers. */
export function integer(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

/** A time of ns since the epoch as `at`, to the µs; undefined for none. */
export function atOf(nanoseconds: unknown): string | undefined {
  const ns = integer(nanoseconds)
  if (ns === undefined || ns <= 0n || ns >= 253_402_300_800_000_000_000n) return undefined
  return formatStamp({ us: Number(ns / 1000n), sub: 0 })
}

/** Attributes as text by key; lists and maps as JSON. */
export function attributesOf(value: unknown): Map<string, string> {
  return new Map(list(value).map(({ key, value: any }) => [text(key), anyText(object(any))]))
}

export function anyText({ stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue }: Json): string {
  const plain = stringValue ?? boolValue ?? intValue ?? doubleValue
  if (plain !== undefined) return String(plain)
  const nested = arrayValue ?? kvlistValue
  return nested === undefined ? '' : JSON.stringify(nested)
}

/** What a name, meta or text may hold: whole code points. */
export const cut = (value: string, max: number): string =>
  value.length <= max ? value.toWellFormed() : [...value].slice(0, max).join('').toWellFormed()

/** The text of an exception's attributes; undefined without any. */
export function exceptionText(attributes: ReadonlyMap<string, string>): string | undefined {
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) => attributes.get(`exception.${name}`))
  const head = [type, message].filter((part) => part !== undefined && part !== '').join(': ')
  if (stack === undefined || stack === '') return head === '' ? undefined : head
  return message === undefined || stack.includes(message) ? stack : `${head}\n${stack}`
}
