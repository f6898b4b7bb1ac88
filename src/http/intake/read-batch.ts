// Reads a batch: a JSON array, or JSON lines (one object per line), plain or compressed. Its unpacked size and count of
// events are bounded, and it is parsed in slices, so that no caller can exhaust the memory or block the event loop.
import { Problem } from '../../problem.ts'
import { JSON_LINES, MAX_BATCH_BYTES, MAX_BATCH_EVENTS, MAX_BODY_BYTES } from '../../wire/events.ts'
import { isSmall, type Reserve } from './body-budget.ts'
import type { FairTurns } from './fair-turns.ts'
import {
  type Count,
  collectBytes,
  countFault,
  jsonMalformed,
  parseJson,
  readCounted,
  UNSEEN_BYTES,
} from './read-body.ts'

export const CODINGS = ['gzip', 'zstd']
/** Bytes that are parsed at once; with the check a fraction of a turn. */
const SLICE_BYTES = UNSEEN_BYTES
/** Lines that are not JSON cost an error each. */
const LINES_PER_SLICE = 64

/** Replaces a line that is not JSON, or a too large event, so that the rest of its batch can be accepted. */
export class UnreadEvent {
  constructor(
    readonly code: 'json_malformed' | 'fields_invalid',
    readonly detail: string,
  ) {}
}

/** The bytes as they were sent. Throws Problem `body_too_large` or `busy`. */
export const readBatch = async (request: Request, reserve: Reserve): Promise<Uint8Array> =>
  isSmall(request) ? new Uint8Array(await request.arrayBuffer()) : await readCounted(request, MAX_BATCH_BYTES, reserve)

/** Whether a batch is parsed in a turn or two. */
export const isShort = (request: Request, bytes: Uint8Array): boolean =>
  bytes.length <= 2 * SLICE_BYTES && codingOf(request) === undefined

const codingOf = ({ headers }: Request) =>
  CODINGS.find((coding) => coding === headers.get('content-encoding')?.toLowerCase())

/** The unpacked bytes; unpacking takes turns. Throws Problem `body_too_large`, `json_malformed` or `busy`. */
export async function unpackBatch(
  request: Request,
  bytes: Uint8Array,
  account: string,
  reserve: Reserve,
  turns: FairTurns,
): Promise<Uint8Array> {
  const coding = codingOf(request)
  if (coding === undefined) return bytes
  await turns.take(account)
  return unpack(bytes, coding, (unpacked) => {
    reserve(unpacked)
    return turns.isOver() ? turns.take(account) : undefined
  })
}

/** Slices of the events, in order. Throws Problem `json_malformed` or `fields_invalid`, possibly at the last slice. */
export function* parseBatch(request: Request, bytes: Uint8Array): Generator<unknown[]> {
  let count = 0
  for (const events of isJsonLines(request) ? parseLines(bytes) : parseArray(bytes)) {
    count += events.length
    if (count > MAX_BATCH_EVENTS) throw invalid(`must hold at most ${MAX_BATCH_EVENTS} events`)
    yield events
  }
  if (count === 0) throw invalid('must hold at least one event')
}

const invalid = (detail: string) =>
  new Problem('fields_invalid', 'The batch is invalid.', { errors: [{ pointer: '', detail }] })

const isJsonLines = (request: Request) =>
  (request.headers.get('content-type') ?? '').trim().toLowerCase().startsWith(JSON_LINES)

/** The stream unpacks as much as is asked for: without a pause it would be all in one go. */
async function unpack(bytes: Uint8Array, coding: string, count: Count): Promise<Uint8Array> {
  // Not node:zlib: of zstd that was cut short it takes what is there, and the rest would be lost without a word.
  const unpacking = new DecompressionStream(coding as CompressionFormat) // the type does not know zstd
  try {
    const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(unpacking)
    return await collectBytes(unpacked, MAX_BATCH_BYTES, count)
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw jsonMalformed(`is not valid ${coding}`, cause)
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === NEWLINE || byte === CARRIAGE_RETURN || byte === 9

/**
 * A JSON array in slices of whole elements. Only commas outside strings and brackets are searched for; each slice is
 * parsed as an array of its own, so all slices are valid JSON exactly when the whole is.
 */
function* parseArray(bytes: Uint8Array): Generator<unknown[]> {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const open = yield* skipSpaces(bytes, start)
  if (bytes[open] !== OPEN_LIST) {
    if (countFault(bytes) === undefined) parseJson(bytes)
    throw invalid('must be a JSON array of events')
  }
  if (bytes.length <= SLICE_BYTES) return yield parseJson(bytes) as unknown[]
  const scan: Scan = {
    at: open + 1,
    depth: 0,
    isInString: false,
    from: open + 1,
    lastFrom: open + 1,
    elements: 1,
    total: 1,
  }
  for (let end = scanSlice(bytes, scan); end !== 'list'; end = scanSlice(bytes, scan)) {
    if (end === 'pause') {
      yield []
      continue
    }
    const { at, from, lastFrom, elements } = scan
    yield* parseSlice(bytes.subarray(from, at), lastFrom - from, elements)
    Object.assign(scan, { at: at + 1, from: at + 1, lastFrom: at + 1, elements: 1 })
  }
  const { at, from, lastFrom, elements, total } = scan
  const end = yield* skipSpaces(bytes, at + 1)
  if (bytes[at] !== CLOSE_LIST || end < bytes.length) throw notJson()
  const first = total === 1 ? yield* skipSpaces(bytes, from) : from
  if (total > 1 || first < at) yield* parseSlice(bytes.subarray(from, at), lastFrom - from, elements)
}

/** `from`, `lastFrom`: start of the slice and of its last element, number `elements` of it and `total` of the list. */
interface Scan {
  at: number
  depth: number
  isInString: boolean
  from: number
  lastFrom: number
  elements: number
  total: number
}

/** Moves to a slice's comma, the end of the list or bytes, or a pause. (A generator takes five times as long.) */
function scanSlice(bytes: Uint8Array, scan: Scan): 'slice' | 'list' | 'pause' {
  let { at, depth, isInString } = scan
  const stop = Math.min(bytes.length, at + 2 * SLICE_BYTES)
  let end: 'slice' | 'list' | 'pause' = stop === bytes.length ? 'list' : 'pause'
  for (; at < stop; at++) {
    const byte = bytes[at]
    if (isInString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) isInString = true
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth-- > 0) continue
      end = 'list'
      break
    } else if (byte === COMMA && depth === 0) {
      if (scan.total++ === MAX_BATCH_EVENTS) throw invalid(`must hold at most ${MAX_BATCH_EVENTS} events`)
      if (at - scan.from >= SLICE_BYTES) {
        end = 'slice'
        break
      }
      scan.elements++
      scan.lastFrom = at + 1
    }
  }
  scan.at = at
  scan.depth = depth
  scan.isInString = isInString
  return end
}

/** Only the last element of a slice, which begins at `lastFrom`, can be large. */
function* parseSlice(slice: Uint8Array, lastFrom: number, elements: number): Generator<unknown[]> {
  const last = slice.subarray(lastFrom)
  const fault = last.length > MAX_BODY_BYTES ? TOO_LARGE : countFault(last)
  if (fault === undefined) return yield parseElements(slice, elements)
  if (elements > 1) yield parseElements(slice.subarray(0, lastFrom - 1), elements - 1)
  yield [new UnreadEvent('fields_invalid', fault)]
}

const TOO_LARGE = `must have at most ${MAX_BODY_BYTES} bytes`

/** The next place without white space. */
function* skipSpaces(bytes: Uint8Array, start: number): Generator<unknown[], number> {
  let at = start
  for (; isSpace(bytes[at]); at++) if ((at - start) % SLICE_BYTES === SLICE_BYTES - 1) yield []
  return at
}

const notJson = (cause?: unknown) => jsonMalformed('is not valid JSON', cause)

/** The byte order mark counts only at the start of a body. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseElements(bytes: Uint8Array, count: number): unknown[] {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch (cause) {
    throw jsonMalformed('is not valid UTF-8', cause)
  }
  let elements: unknown[]
  try {
    elements = JSON.parse(`[${text}]`)
  } catch (cause) {
    throw notJson(cause)
  }
  if (elements.length !== count) throw notJson() // nothing at all, behind a comma
  return elements
}

/** Lines of white space are passed over. */
function* parseLines(bytes: Uint8Array): Generator<unknown[]> {
  let events: unknown[] = []
  let sliceEnd = SLICE_BYTES
  for (let start = 0; start < bytes.length; ) {
    start = yield* skipSpaces(bytes, start)
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline < 0 ? bytes.length : newline
    const line = bytes.subarray(start, end)
    start = end + 1
    if (line.length > 0) events.push(parseLine(line))
    if (start < sliceEnd && events.length < LINES_PER_SLICE) continue
    yield events
    events = []
    sliceEnd = start + SLICE_BYTES
  }
  yield events
}

function parseLine(line: Uint8Array): unknown {
  if (line.length > MAX_BODY_BYTES) return new UnreadEvent('fields_invalid', TOO_LARGE)
  try {
    return parseJson(line)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, errors, detail } = error
    return new UnreadEvent(code === 'json_malformed' ? code : 'fields_invalid', errors?.[0]?.detail ?? detail)
  }
}
