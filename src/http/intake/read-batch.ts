// The body of a batch becomes a list: a JSON array, or JSON lines (one object a line), plain or compressed.
// What it grows to when it is unpacked is bounded, so that a small body cannot fill the memory.
import { Problem } from '../../problem.ts'
import { JSON_LINES, MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '../../wire/events.ts'
import { collectBytes, jsonMalformed, parseJson, readBytes } from './read-body.ts'

export const CODINGS = ['gzip', 'zstd']

/** A line that is not JSON stands in the list as this, so that the others of its batch can be taken. */
export class UnreadableLine {
  constructor(readonly detail: string) {}
}

/** Does the body come so that it grows when it is read? */
export const isPacked = ({ headers }: Request): boolean => {
  const coding = headers.get('content-encoding')
  return coding !== null && coding.toLowerCase() !== 'identity'
}

/** Throws Problem `body_too_large`, `json_malformed` or `fields_invalid`. */
export async function readBatch(request: Request): Promise<unknown[]> {
  const bytes = await unpack(request, await readBytes(request, MAX_BATCH_BYTES))
  const events = isJsonLines(request) ? parseLines(bytes) : parseJson(bytes)
  if (!Array.isArray(events)) throw invalid('must be a JSON array of events')
  if (events.length === 0) throw invalid('must hold at least one event')
  if (events.length > MAX_BATCH_EVENTS) throw invalid(`must hold at most ${MAX_BATCH_EVENTS} events`)
  return events
}

const invalid = (detail: string) =>
  new Problem('fields_invalid', 'The batch cannot be taken.', { errors: [{ pointer: '', detail }] })

const isJsonLines = (request: Request) =>
  (request.headers.get('content-type') ?? '').trim().toLowerCase().startsWith(JSON_LINES)

async function unpack(request: Request, bytes: ArrayBuffer | Uint8Array): Promise<ArrayBuffer | Uint8Array> {
  const coding = request.headers.get('content-encoding')?.toLowerCase()
  if (coding !== 'gzip' && coding !== 'zstd') return bytes
  // Not by node:zlib: of zstd that was cut short it takes what is there, and the rest would be lost without a word.
  const unpacking = new DecompressionStream(coding as CompressionFormat) // the type does not know zstd
  try {
    return await collectBytes(new Blob([bytes as ArrayBuffer]).stream().pipeThrough(unpacking), MAX_BATCH_BYTES)
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw jsonMalformed(`is not valid ${coding}`, cause)
  }
}

const NEWLINE = 10

/** Empty lines are passed over. */
function parseLines(bytes: ArrayBuffer | Uint8Array): unknown[] {
  const all = Buffer.from(bytes as ArrayBuffer)
  const events: unknown[] = []
  for (let start = 0; start < all.length; ) {
    const newline = all.indexOf(NEWLINE, start)
    const end = newline < 0 ? all.length : newline
    const line = all.subarray(start, end)
    start = end + 1
    if (line.length === 0 || (line.length === 1 && line[0] === 13)) continue
    if (events.length === MAX_BATCH_EVENTS) throw invalid(`must hold at most ${MAX_BATCH_EVENTS} events`)
    try {
      events.push(parseJson(line))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      events.push(new UnreadableLine(error.errors?.[0]?.detail ?? error.detail))
    }
  }
  return events
}
