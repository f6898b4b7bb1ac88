// An open-loop load: requests are due at a fixed rate, whether or not the server keeps up, and a request's latency counts from when it was
// due. A closed loop would ask less of a slow server and so flatter it (coordinated omission).
// `bun test/bench/open-loop.ts PORT RATE SECONDS CONNECTIONS` with the request's bytes on stdin; prints JSON.
const [port, rate, seconds, connections] = process.argv.slice(2).map(Number) as [number, number, number, number]
const request = Buffer.from(await Bun.stdin.bytes())
const END = Buffer.from('\r\n\r\n')

const due: number[] = []
const latencies: number[] = []
const idle: Connection[] = []
let refused = 0

interface Connection {
  write(): void
  dueAt: number
}

function take(connection: Connection): void {
  const next = due.shift()
  if (next === undefined) {
    idle.push(connection)
    return
  }
  connection.dueAt = next
  connection.write()
}

async function connect(): Promise<void> {
  let received = Buffer.alloc(0)
  const connection: Connection = { dueAt: 0, write: () => {} }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, chunk) {
        received = received.length === 0 ? Buffer.from(chunk) : Buffer.concat([received, chunk])
        const head = received.indexOf(END)
        if (head < 0) return
        const text = received.toString('latin1', 0, head)
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
        if (received.length < head + 4 + length) return
        received = received.subarray(head + 4 + length)
        if (!text.startsWith('HTTP/1.1 201')) refused++
        latencies.push(performance.now() - connection.dueAt)
        take(connection)
      },
    },
  })
  connection.write = () => void socket.write(request)
  idle.push(connection)
}

await Promise.all(Array.from({ length: connections }, connect))
const startedAt = performance.now()
let sent = 0
while (performance.now() - startedAt < seconds * 1000) {
  const now = performance.now()
  for (; startedAt + (sent * 1000) / rate <= now; sent++) due.push(startedAt + (sent * 1000) / rate)
  while (idle.length > 0 && due.length > 0) take(idle.pop()!)
  await new Promise((resolve) => setImmediate(resolve))
}
while (latencies.length < sent && performance.now() - startedAt < seconds * 1000 + 5000) await Bun.sleep(5)
latencies.sort((a, b) => a - b)
const quantile = (q: number) => latencies[Math.min(latencies.length - 1, Math.floor(q * latencies.length))]
console.log(
  JSON.stringify({
    sent,
    answered: latencies.length,
    refused,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    p999Ms: quantile(0.999),
  }),
)
process.exit(0)

export {}
