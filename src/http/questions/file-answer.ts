// Sends an export piece by piece. A failure before the first piece is a problem, a later one breaks the connection.
import type { EXPORT_FORMATS } from '../../wire/parameters.ts'
import { uncachedHeaders } from '../answers.ts'

type Format = (typeof EXPORT_FORMATS)[number]

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson',
} as const satisfies Record<Format, string>

/** `noteSent` is called when the reader has taken the last piece, or is gone. */
export async function fileAnswer(
  request: Request,
  { format, file }: { readonly format: Format; readonly file: AsyncGenerator<string> },
  noteSent: () => void,
): Promise<Response> {
  const headers = uncachedHeaders({
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="exceptions.${format}"`,
  })
  let next = await file.next()
  const encoder = new TextEncoder()
  const following = await (next.done ? next : file.next())
  if (following.done || request.signal.aborted) {
    noteSent()
    return new Response(next.value ?? '', { headers })
  }
  request.signal.addEventListener('abort', noteSent) // also when the runtime never asks for the first piece
  const pieces = [next, following]
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          next = pieces.shift() ?? (await file.next())
          if (!next.done) return controller.enqueue(encoder.encode(next.value))
          controller.close()
          noteSent()
        } catch (error) {
          noteSent()
          throw error
        }
      },
      async cancel() {
        noteSent()
        await file.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers })
}
