// Reads a JSON body within a bound. A body without Content-Length is counted while it arrives and given up when it grows too large.
import { Problem } from '../../problem.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export const bodyTooLarge = (maxBytes: number) => new Problem('body_too_large', `A body has at most ${maxBytes} bytes.`)

export const jsonMalformed = (detail: string, cause?: unknown) =>
  new Problem('json_malformed', 'The body could not be read as JSON.', { errors: [{ pointer: '', detail }], cause })

/** Counts bytes as they arrive; what it throws ends the reading, and what it returns is waited for. */
export type Count = (bytes: number) => Promise<void> | undefined | void

/** The bytes of a small body. Content-Length, where there is one, has been judged by the caller. Throws Problem `body_too_large`. */
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
    const pause = count?.(chunk.byteLength)
    if (pause !== undefined) await pause
  }
  return Buffer.concat(chunks)
}

/** Throws Problem json_malformed for invalid UTF-8 and invalid JSON; a byte order mark is accepted. */
export function parseJson(bytes: ArrayBuffer | Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch (cause) {
    throw jsonMalformed('is not valid UTF-8', cause)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw jsonMalformed(text === '' ? 'is empty' : 'is not valid JSON', cause)
  }
}
