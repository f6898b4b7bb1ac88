// Reads a batch: a JSON array, or JSON lines (one object per line), plain or compressed. Its unpacked size and its
// number of events and values are limited before it is parsed, so that no caller can exhaust memory or block the event
// loop.
import { Problem } from '../../problem.ts'
import { JSON_LINES, MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '../../wire/events.ts'
import { isSmall, type Reserve } from './body-budget.ts'
import { collectBytes, jsonMalformed, parseJson, readCounted, refuseValues } from './read-body.ts'

export const CODINGS = ['gzip', 'zstd']
/** A thousand events with all that they may hold have about 160,000. */
const MAX_VALUES = 200_000
const NEWLINE = 0x0a

/** Replaces a line that is not JSON, so that the rest of its batch can be accepted. */
export class UnreadEvent {
  constructor(
    readonly code: 'json_malformed' | 'fields_invalid',
    readonly detail: string,
  ) {}
}

/** The unpacked bytes of a body. Throws Problem `body_too_large`, `json_malformed` or `busy`. */
export async function readBatch(request: Request, reserve: Reserve): Promise<Uint8Array> {
  const coding = CODINGS.find((it) => it === request.headers.get('content-encoding')?.toLowerCase())
  const bytes = isSmall(request)
    ? new Uint8Array(await request.arrayBuffer())
    : await readCounted(request, MAX_BATCH_BYTES, reserve)
  return coding === undefined ? bytes : unpack(bytes, coding, reserve)
}

/** The events in order. Throws Problem `json_malformed` or `fields_invalid`. */
export function parseBatch(request: Request, bytes: Uint8Array): unknown[] {
  const events = isJsonLines(request) ? parseLines(bytes) : parseJson(bytes, MAX_VALUES)
  if (!Array.isArray(events)) throw invalid('must be a JSON array of events')
  if (events.length === 0) throw invalid('must hold at least one event')
  if (events.length > MAX_BATCH_EVENTS) throw tooMany()
  return events
}

const invalid = (detail: string) =>
  new Problem('fields_invalid', 'The batch is invalid.', { errors: [{ pointer: '', detail }] })

const tooMany = () => invalid(`must hold at most ${MAX_BATCH_EVENTS} events; send several batches`)

const isJsonLines = (request: Request) =>
  (request.headers.get('content-type') ?? '').trim().toLowerCase().startsWith(JSON_LINES)

async function unpack(bytes: Uint8Array, coding: string, reserve: Reserve): Promise<Uint8Array> {
  // Not node:zlib: of zstd that was cut short it takes what is there, and the rest would be lost without a word.
  const unpacking = new DecompressionStream(coding as CompressionFormat) // the type does not know zstd
  try {
    const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(unpacking)
    return await collectBytes(unpacked, MAX_BATCH_BYTES, reserve)
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw jsonMalformed(`is not valid ${coding}`, cause)
  }
}

/** Lines of white space are passed over. */
function parseLines(bytes: Uint8Array): unknown[] {
  refuseValues(bytes, MAX_VALUES)
  const events: unknown[] = []
  for (let [start, number] = [0, 1]; start < bytes.length; number++) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline < 0 ? bytes.length : newline
    const line = bytes.subarray(start, end)
    start = end + 1
    if (line.every(isSpace)) continue
    if (events.length === MAX_BATCH_EVENTS) throw tooMany()
    events.push(parseLine(line, number))
  }
  return events
}

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0d || byte === 0x09

function parseLine(line: Uint8Array, number: number): unknown {
  try {
    return parseJson(line, undefined, number)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, errors, detail } = error
    return new UnreadEvent(code === 'json_malformed' ? code : 'fields_invalid', errors?.[0]?.detail ?? detail)
  }
}
