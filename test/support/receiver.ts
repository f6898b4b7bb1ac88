// A server of this process that records what it receives, on a port that nobody gets again.
import { takePort } from './ports.ts'

export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Headers
  readonly bytes: Uint8Array
  readonly text: string
}

export interface Receiver extends Disposable {
  /** Without a slash at the end. */
  readonly url: string
  readonly port: number
  /** In the order in which their bodies were complete. */
  readonly requests: Received[]
  /** How requests are answered; set it to change that. 200 without a body at first. */
  answer: (received: Received) => Response | Promise<Response>
  close(): Promise<void>
}

export function startReceiver(answer: Receiver['answer'] = () => new Response()): Receiver {
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: takePort(), idleTimeout: 0 },
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const bytes = await request.bytes()
      const received: Received = {
        ...{ method, path: pathname + search, headers, bytes },
        get text() {
          return Buffer.from(bytes).toString()
        },
      }
      receiver.requests.push(received)
      return receiver.answer(received)
    },
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port!,
    requests: [],
    answer,
    close: () => server.stop(true),
    [Symbol.dispose]: () => void server.stop(true),
  }
  return receiver
}
