// A server that stands where an InfluxDB or the proxy before it would, and gives the answers that a healthy influxd never gives.
import { takePort } from '../../support/ports.ts'

export interface StubServer {
  readonly url: string
  /** Requests so far, as `METHOD /path`. */
  readonly requests: readonly string[]
  stop(): Promise<void>
}

/** Answers every request with `answer`, which may take its time or never come. */
export function serveStub(answer: (request: Request) => Response | Promise<Response>): StubServer {
  const requests: string[] = []
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: takePort(), idleTimeout: 0 },
    fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname}`)
      return answer(request)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => server.stop(true) }
}

/** Bytes as they are, then the end of the connection: what a server leaves behind that dies in the middle of an answer. */
export function serveBytes(bytes: string): Omit<StubServer, 'requests'> {
  const server = Bun.listen({
    ...{ hostname: '127.0.0.1', port: takePort() },
    socket: {
      data(socket) {
        socket.end(bytes)
      },
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    async stop() {
      server.stop(true)
    },
  }
}

export const never = (): Promise<Response> => new Promise(() => {})
