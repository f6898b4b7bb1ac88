// HTTP/1.1 as bytes on a socket, for what no client would send.
import { connect } from 'node:net'

const ANSWER_WITHIN_MS = 60_000

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface RawConnection {
  write(bytes: string | Uint8Array): Promise<void>
  /** The next answer on this connection. Rejects when the connection ends before it is whole. */
  answer(): Promise<RawAnswer>
  close(): void
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1' })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received: Buffer = Buffer.alloc(0)
  let failure: Error | undefined
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  const end = (error: Error) => {
    failure ??= error
    wake()
  }
  socket.on('error', end)
  socket.on('close', () => end(new Error('the connection was closed')))

  const take = (): RawAnswer | undefined => {
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return undefined
    const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n')
    const headers = new Headers(lines.map((line) => line.split(/:\s*/, 2) as [string, string]))
    const bodyEnd = headEnd + 4 + Number(headers.get('content-length') ?? 0)
    if (received.length < bodyEnd) return undefined
    const body = received.subarray(headEnd + 4, bodyEnd).toString('utf8')
    received = received.subarray(bodyEnd)
    return { status: Number(statusLine.split(' ')[1]), headers, body }
  }

  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed)
          resolve() // `answer` reports the outcome
        else socket.write(bytes, () => resolve())
      }),
    answer: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)), ANSWER_WITHIN_MS)
        wake = () => {
          const answer = take()
          if (answer === undefined && failure === undefined) return
          clearTimeout(timer)
          if (answer) resolve(answer)
          else reject(failure)
        }
        wake()
      }),
    close: () => socket.destroy(),
  }
}

/** One request on a connection of its own. `parts` are written one after the other. */
export async function sendRaw(port: number, ...parts: (string | Uint8Array)[]): Promise<RawAnswer> {
  const connection = await openRaw(port)
  try {
    for (const part of parts) await connection.write(part)
    return await connection.answer()
  } finally {
    connection.close()
  }
}
