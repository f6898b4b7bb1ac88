// Where the next page continues. A cursor fixes the range and moment of the first page, and a digest of the question's
// other parameters. It is neither secret nor signed: it asks for nothing that its bearer may not ask for anyway.
import { createHash } from 'node:crypto'
import { FIRST_NS, LAST_NS } from '../store/order.ts'

const VERSION = 1
const MAX_LENGTH = 8192

export interface Cursor {
  readonly fromNs: bigint
  readonly toNs: bigint
  /** The moment of the first page. */
  readonly nowNs: bigint
  /** The previous page's last item: its time in ns and its tie-breakers (store/source.ts, `Place`); or an id. */
  readonly place: readonly string[]
  /** `digestQuestion` of the question that it belongs to. */
  readonly digest: string
}

/** Opaque to callers: base64url of JSON. */
export function encodeCursor({ fromNs, toNs, nowNs, place, digest }: Cursor): string {
  const body = { v: VERSION, range: [fromNs, toNs, nowNs].map(String), place, digest }
  return Buffer.from(JSON.stringify(body)).toString('base64url')
}

/** Undefined for anything that `encodeCursor` cannot have written. */
export function decodeCursor(text: string): Cursor | undefined {
  if (text.length > MAX_LENGTH || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  const body = parseJson(Buffer.from(text, 'base64url').toString())
  if (typeof body !== 'object' || body === null) return undefined
  const { v, range, place, digest } = body as Record<string, unknown>
  if (v !== VERSION || !isTexts(range) || !isTexts(place) || typeof digest !== 'string') return undefined
  const [fromNs, toNs, nowNs, ...rest] = range.map(parseStamp)
  if (fromNs === undefined || toNs === undefined || nowNs === undefined || rest.length > 0) return undefined
  return fromNs < toNs ? { fromNs, toNs, nowNs, place, digest } : undefined
}

/** A digest of a question's parameters, whatever order they are in: two questions with the same digest are the same. */
export function digestQuestion(kind: string, parameters: Iterable<readonly [name: string, text: string]>): string {
  const sorted = [...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([kind, sorted]))
    .digest('base64url')
    .slice(0, 16)
}

/** A stamp within what a store can hold, from its decimal digits. */
export function parseStamp(text: string): bigint | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined
  const ns = BigInt(text)
  return ns >= FIRST_NS && ns <= LAST_NS ? ns : undefined
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((member) => typeof member === 'string')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
