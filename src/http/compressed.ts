// Encodes answers and compresses them as the client accepts it, on Bun's thread pool, so that intake is not blocked.
// Answers of /api differ each time; fixed files are compressed once, as small as possible. `/v1` is exempt: its answers
// are short.
import { promisify } from 'node:util'
import { constants, gzip, zstdCompress } from 'node:zlib'
import { rest, spend, stepsOf } from '../turns.ts'
import { METRICS_TYPE, uncachedHeaders } from './answers.ts'

type Coding = 'zstd' | 'gzip'

const squeeze = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const
/** For texts that are compressed once. */
const squeezeBest = {
  zstd: (text: string) => squeeze.zstd(text, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
  gzip: (text: string) => squeeze.gzip(text, { level: 9 }),
} as const
/** In the order of preference: zstd is several times faster at the same size. */
const CODINGS = ['zstd', 'gzip'] as const satisfies readonly Coding[]
/** Below it the saving is less than a packet. */
const LEAST_BYTES = 1_024

/** The coding that a client accepts, RFC 9110 12.5.3; undefined: the text as it is. */
export function acceptedCoding(request: Request): Coding | undefined {
  const accepted = (request.headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  const accepts = (coding: Coding) =>
    accepted.some((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
      return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    })
  return CODINGS.find(accepts)
}

const headersOf = (type: string, coding?: Coding) =>
  uncachedHeaders({ 'content-type': type, vary: 'accept-encoding', ...(coding && { 'content-encoding': coding }) })
const codedHeadersOf = (type: string) => ({
  plain: headersOf(type),
  zstd: headersOf(type, 'zstd'),
  gzip: headersOf(type, 'gzip'),
})
const JSON_HEADERS = codedHeadersOf('application/json')
const METRICS_HEADERS = codedHeadersOf(METRICS_TYPE)

/** Less than what a socket takes at once. */
const CHUNK_BYTES = 64 * 1024
const SLICE_CHARS = 128 * 1024

export const compressedJson = async (request: Request, body: object): Promise<Response> =>
  answerEncoded(request, await encodeFor(request, body))

interface Encoded {
  readonly bytes: Buffer<ArrayBuffer>
  readonly headers: Headers
}

/** JSON, or a text in Prometheus' format, in the coding that the client accepts. */
export async function encodeFor(request: Request, body: object | string): Promise<Encoded> {
  const isText = typeof body === 'string'
  const plain = isText ? Buffer.from(body) : await encodeJson(body)
  const coding = plain.length < LEAST_BYTES ? undefined : acceptedCoding(request)
  return {
    bytes: coding === undefined ? plain : await squeeze[coding](plain),
    headers: (isText ? METRICS_HEADERS : JSON_HEADERS)[coding ?? 'plain'],
  }
}

/**
 * 200 with what was encoded. `noteSent` is called when the socket has taken it or the reader is gone: at once if it
 * fits, else with the last chunk, which the runtime requests after the reader has taken those before.
 */
export function answerEncoded(request: Request, { bytes, headers }: Encoded, noteSent = () => {}): Response {
  if (bytes.length > CHUNK_BYTES && !request.signal.aborted)
    return answerPieces(request, chunksOf(bytes), { headers }, noteSent)
  noteSent()
  return new Response(bytes, { headers })
}

function* chunksOf(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** The runtime requests a piece when the reader has taken those before. A failed one breaks the connection. */
export function answerPieces(
  request: Request,
  pieces: Generator<Uint8Array> | AsyncGenerator<Uint8Array>,
  init: ResponseInit,
  noteSent: () => void,
): Response {
  request.signal.addEventListener('abort', noteSent) // also when the runtime never asks for the first piece
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (!done) return controller.enqueue(value)
          controller.close()
          noteSent()
        } catch (error) {
          noteSent()
          throw error
        }
      },
      async cancel() {
        noteSent()
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, init)
}

/** JSON.stringify in turns of the event loop: 15 MB at once would block it for 50 ms. */
export async function encodeJson(body: object): Promise<Buffer<ArrayBuffer>> {
  const slices: Buffer<ArrayBuffer>[] = []
  let text = '{'
  let separator = ''
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (!Array.isArray(value)) {
      text += JSON.stringify(value)
      continue
    }
    for (const [i, item] of value.entries()) {
      const written = JSON.stringify(item)
      text += (i === 0 ? '[' : ',') + written
      if (spend(1 + stepsOf(written))) await rest()
      if (text.length < SLICE_CHARS) continue
      slices.push(Buffer.from(text))
      text = ''
    }
    text += value.length === 0 ? '[]' : ']'
  }
  slices.push(Buffer.from(`${text}}`))
  return slices.length === 1 ? slices[0]! : Buffer.concat(slices)
}

/**
 * Answers with a text that is served repeatedly, compressed once per coding at its first request. `key` identifies the
 * text permanently; `headers` are completed and then belong to the answer.
 */
export function createTextAnswers() {
  const made = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return async (request: Request, key: string, text: string, headers: Headers): Promise<Response> => {
    headers.set('vary', 'accept-encoding')
    const coding = acceptedCoding(request)
    if (coding === undefined) return new Response(text, { headers })
    const compressed = made.get(key + coding) ?? squeezeBest[coding](text).then((bytes) => new Uint8Array(bytes))
    made.set(key + coding, compressed)
    headers.set('content-encoding', coding)
    return new Response(await compressed, { headers })
  }
}

export type AnswerText = ReturnType<typeof createTextAnswers>
