// Reads a JSON body within a bound. Without Content-Length its bytes are counted while they arrive.
import { invalidBody, Problem } from '../../problem.ts'
import { bodyTooLarge } from '../../wire/events.ts'
import { findJsonFault } from './find-json-fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export const jsonMalformed = (detail: string, cause?: unknown) =>
  new Problem('json_malformed', 'The body could not be read as JSON.', { errors: [{ pointer: '', detail }], cause })

/** Counts bytes as they arrive; what it throws ends the reading. */
export type Count = (bytes: number) => void

/** The bytes of a small body; the caller has checked a Content-Length. Throws Problem `body_too_large`. */
export const readSmall = async (request: Request, maxBytes: number): Promise<Uint8Array> =>
  request.headers.has('content-length')
    ? new Uint8Array(await request.arrayBuffer())
    : await collectBytes(request.body ?? [], maxBytes)

/** The bytes of a body, counted as they arrive. Throws Problem `body_too_large` as soon as they are more. */
export const readCounted = (request: Request, maxBytes: number, count: Count): Promise<Uint8Array> =>
  collectBytes(request.body ?? [], maxBytes, count)

export async function collectBytes(
  from: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  count?: Count,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of from) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes)
    chunks.push(chunk)
    count?.(chunk.byteLength)
  }
  return Buffer.concat(chunks)
}

/** Values of a large body. A valid event has at most about 160; a few ms suffice to report all faults of this many. */
const MAX_VALUES = 5000
/** Bodies up to this size are parsed unseen, in at most 1 ms: JSON.parse takes 70 ms for 256 KiB of brackets. */
const UNSEEN_BYTES = 8 * 1024

/** Throws Problem `json_malformed` for invalid UTF-8 or JSON, `fields_invalid` for too many values; accepts a BOM.
 * `firstLine`: the number of its first line, in faults. */
export function parseJson(bytes: ArrayBuffer | Uint8Array, maxValues = MAX_VALUES, firstLine = 1): unknown {
  refuseValues(bytes, maxValues)
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch (cause) {
    throw jsonMalformed('is not valid UTF-8', cause)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    const where = findJsonFault(text, firstLine)
    throw jsonMalformed(text === '' ? 'is empty' : ['is not valid JSON', where].filter(Boolean).join(': '), cause)
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b

/** Throws Problem `fields_invalid` for a body that JSON.parse would take long for. */
export function refuseValues(bytes: ArrayBuffer | Uint8Array, maxValues: number): void {
  if (bytes.byteLength <= UNSEEN_BYTES) return
  const json = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
  let [values, strings] = [1, 0]
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) {
      strings++
      at = endOfString(json, at + 1)
    } else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values++
    else continue
    if (values > maxValues || strings > 2 * maxValues)
      throw invalidBody([{ pointer: '', detail: `must hold at most ${maxValues} values` }])
  }
}

/** The position of the closing quote. Most strings contain no quote, and the runtime finds the next one fast. */
function endOfString(bytes: Uint8Array, start: number): number {
  const quote = bytes.indexOf(QUOTE, start)
  if (quote < 0 || bytes[quote - 1] !== BACKSLASH) return quote < 0 ? bytes.length : quote
  let at = start
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at
}
