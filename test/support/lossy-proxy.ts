// In front of a store: forwards each request, and then, for a share of the writes, drops the answer or holds it back. The store has written and
// Stint cannot know. It can also be down. What went through is counted: a batch that was stored twice is one whose first row was stored before.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ProxyOptions {
  /** Where the store is. */
  readonly to: string
  /** The share of lost answers to writes, 0 to 1. */
  readonly lose: number
  /** 0 ≤ n < 1. */
  readonly random: () => number
}

/** How long an answer is held back; a kill then finds a write that is stored and not answered. */
const DELAY_MS = 150

/** Of a connection or a coding that ends here. */
const HOP_BY_HOP = 'host connection keep-alive content-length accept-encoding transfer-encoding expect'.split(' ')

/** As InfluxDB 2.7 answers a line it cannot parse. */
const INFLUX_REFUSES = {
  status: 400,
  headers: { 'content-type': 'application/json' },
  text: '{"code":"invalid","message":"unable to parse \'…\': missing fields"}',
}

/** As ClickHouse answers a row that does not fit. */
const CLICKHOUSE_REFUSES = {
  status: 400,
  headers: { 'x-clickhouse-exception-code': '27' },
  text: 'Code: 27. DB::Exception: Cannot parse input. (CANNOT_PARSE_INPUT_ASSERTION_FAILED) (version 26.7.2.1)\n',
}

export type LossyProxy = Awaited<ReturnType<typeof startLossyProxy>>

export async function startLossyProxy({ to, lose, random }: ProxyOptions) {
  const seen = new Set<number | bigint>()
  const counts = { stored: 0, lost: 0, twice: 0, refused: 0 }
  let isDown = false
  let share = lose
  let refused: string | undefined

  const textOf = (body: Uint8Array, isZipped: boolean) =>
    Buffer.from(isZipped ? gunzipSync(body) : body).toString('utf8')

  function noteStored(body: Uint8Array, isZipped: boolean): void {
    counts.stored++
    const text = textOf(body, isZipped)
    const rows = /^\s*INSERT\b/.test(text) ? text.slice(text.indexOf('\n') + 1) : text
    const first = Bun.hash(rows.split('\n', 1)[0]!)
    if (seen.has(first)) counts.twice++
    seen.add(first)
  }

  /** Resolves to what becomes of the answer. */
  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (isDown) return void response.socket?.destroy()
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) {
      if (!HOP_BY_HOP.includes(name)) headers.set(name, String(value))
    }
    const isZipped = request.headers['content-encoding'] === 'gzip'
    const isWrite = path.startsWith('/api/v2/write') || body.subarray(0, 12).includes('INSERT')
    if (isWrite && refused !== undefined && textOf(body, isZipped).includes(refused)) {
      counts.refused++
      const { status, headers, text } = path.startsWith('/api/v2/') ? INFLUX_REFUSES : CLICKHOUSE_REFUSES
      return void response.writeHead(status, headers).end(text)
    }
    const answer = await fetch(to + path, { method, headers, ...(method !== 'GET' && { body }), redirect: 'manual' })
    const content = await answer.arrayBuffer()
    if (isWrite && answer.ok && body.length > 0) {
      noteStored(body, isZipped)
      const draw = random()
      if (draw < share) counts.lost++
      if (draw < share / 2) return void response.socket?.destroy()
      if (draw < share) await Bun.sleep(DELAY_MS)
    }
    // fetch has undone the coding
    const kept = [...answer.headers].filter(([name]) => !HOP_BY_HOP.includes(name) && name !== 'content-encoding')
    response.writeHead(answer.status, Object.fromEntries(kept)).end(Buffer.from(content))
  }

  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.socket?.destroy()) // the store is gone, or Stint is
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Writes the store has answered with 2xx. */
    stored: () => counts.stored,
    /** Answers that were kept from Stint. */
    lostAnswers: () => counts.lost,
    /** Writes that were stored although their first row had been before. */
    storedTwice: () => counts.twice,
    /** While down every connection is closed without an answer. */
    setDown(down: boolean): void {
      isDown = down
    },
    setLose(next: number): void {
      share = next
    },
    /** From now on a write that holds this text is refused as the store refuses what it cannot take, and nothing of it is stored. */
    refuse(text: string | undefined): void {
      refused = text
    },
    /** Writes that were refused for that. */
    refusals: () => counts.refused,
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
