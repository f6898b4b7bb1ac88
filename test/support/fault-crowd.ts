// Many raw connections to one server: some do nothing, some send a request a byte at a time, some send one request after the other as fast as it answers.

const STATUS = /HTTP\/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/g
const CONNECT_AT_ONCE = 100

export function requestOf(url: string, path: string, key: string, body: unknown): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nx-stint-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** Each connection asks again when it has its answer. */
export async function startFlood(url: string, connections: number, request: string) {
  const statuses = new Map<number, number>()
  let withoutRetryAfter = 0
  let isOver = false
  const sockets: { end(): void }[] = []
  for (let i = 0; i < connections; i++) {
    let rest = ''
    sockets.push(
      await Bun.connect({
        hostname: '127.0.0.1',
        port: Number(new URL(url).port),
        socket: {
          open: (socket) => void socket.write(request),
          data(socket, bytes) {
            rest += bytes.toString('latin1')
            let end = 0
            for (const found of rest.matchAll(STATUS)) {
              const status = Number(found[1])
              statuses.set(status, (statuses.get(status) ?? 0) + 1)
              if ((status === 429 || status === 503) && !/^retry-after: \d+\r$/im.test(found[2]!)) withoutRetryAfter++
              end = found.index + found[0].length
              if (!isOver) socket.write(request)
            }
            rest = rest.slice(end)
          },
        },
      }),
    )
  }
  return {
    /** Answers by status. */
    statuses,
    /** Answers 429 and 503 without `retry-after`. */
    withoutRetryAfter: () => withoutRetryAfter,
    stop(): void {
      isOver = true
      for (const socket of sockets) socket.end()
    },
  }
}

/** Connections that say nothing, or `trickle`: one byte of a request every 200 ms. */
export async function startCrowd(url: string, connections: number, trickle?: string) {
  let open = 0
  const sockets = new Set<{ end(): void; write(text: string): number }>()
  const port = Number(new URL(url).port)
  const connect = async () => {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data() {},
        close(closed) {
          open--
          sockets.delete(closed)
        },
      },
    })
    open++
    sockets.add(socket)
  }
  for (let made = 0; made < connections; made += CONNECT_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(CONNECT_AT_ONCE, connections - made) }, connect))
  }
  let at = 0
  const timer = setInterval(() => {
    if (trickle === undefined || at >= trickle.length - 1) return
    for (const socket of sockets) socket.write(trickle[at]!)
    at++
  }, 200)
  return {
    /** Connections that are open just now. */
    size: () => open,
    stop(): void {
      clearInterval(timer)
      for (const socket of sockets) socket.end()
    },
  }
}
