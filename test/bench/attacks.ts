// The attacks of `bun run bench neighbours`: each is a load that one account with ordinary credentials can put on a server, for as long as it runs.
import { gzipSync } from 'node:zlib'
import type { Caller } from '../support/process.ts'

export interface Attacker extends Caller {
  readonly url: string
  /** Of a session. */
  readonly cookie: string
}

export interface Attack {
  readonly name: string
  /** Work that the machine does in any case: it is compared with the same attack on another server of the machine. */
  readonly isPlainLoad?: true
  /** Stores what the attack asks for. */
  prepare?(attacker: Attacker): Promise<void>
  /** Resolves to a function that ends it, when it is under way. */
  start(attacker: Attacker): Promise<() => Promise<void>>
}

const AMPLIFIED = gzipSync(
  `[{"kind":"start","process":"good"}${`,{"kind":"metrics","process":"p","items":{${Array.from({ length: 50 }, (_, i) => `"${i}":"x"`).join(',')}}}`.repeat(999)}]`,
)
/** Root spans; sent again and again they are the same runs. */
const SPANS = gzipSync(
  JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: Array.from({ length: 20_000 }, (_, i) => ({
              spanId: (i + 1).toString(16).padStart(16, '0'),
              name: 'job',
              startTimeUnixNano: `${Date.now()}000000`,
              endTimeUnixNano: `${Date.now()}000000`,
            })),
          },
        ],
      },
    ],
  }),
)
/** Slow for scanners that look at a text again from each of its characters: frames, names and digits that almost match. */
const SLOW_TEXTS = ['@', 'a@', ' at ', '(', 'f3', '0x', 'a.b/', '1:', '\n  at a (', '#0 0x0 in '].map((unit) =>
  unit.repeat(14_990).slice(0, 14_990),
)
/** 760 kB: long fields make most bytes for the disk. */
const FULL_BATCH = JSON.stringify(
  Array.from({ length: 1000 }, (_, i) => ({
    kind: i % 2 === 0 ? 'start' : 'end',
    process: `p${(i % 50) >> 1}`.padEnd(180, 'x'),
    meta: 'region eu'.padEnd(480, 'x'),
    uid: Bun.hash(String(i >> 1))
      .toString(16)
      .padEnd(36, '0'),
  })),
)
const LONG_TEXT = 'stack overflow '.repeat(1_000)

/** `work` again and again, `loops` at once; what fails is part of the attack. */
function repeat(loops: number, work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false
  const running = Array.from({ length: loops }, async () => {
    while (!isOver) await work().catch(() => Bun.sleep(5))
  })
  return async () => {
    isOver = true
    await Promise.all(running)
  }
}

const drain = async (answer: Promise<Response>) => (await answer).arrayBuffer()

async function sendBatch({ url, secret }: Attacker, events: readonly object[]): Promise<void> {
  const headers = { 'x-stint-api-key': secret, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const answer = await fetch(`${url}/v1/batch`, { method: 'POST', headers, body: gzipSync(JSON.stringify(events)) })
  if (answer.status !== 201) throw new Error(`a batch of the preparation: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Connections that send `head` and then a byte now and then, and read nothing. */
async function holdConnections(
  url: string,
  connections: number,
  head: string,
  drip: string,
): Promise<() => Promise<void>> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: Number(new URL(url).port),
        socket: { open: (socket) => void socket.write(head), data: (socket) => void socket.pause() },
      }),
    ),
  )
  const timer = setInterval(() => {
    if (drip !== '') for (const socket of sockets) socket.write(drip)
  }, 200)
  return async () => {
    clearInterval(timer)
    for (const socket of sockets) socket.terminate()
  }
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'amplified answers, 32 at once',
    async start({ url, secret }) {
      const headers = { 'x-stint-api-key': secret, 'content-type': 'application/json', 'content-encoding': 'gzip' }
      return repeat(32, () => drain(fetch(`${url}/v1/batch`, { method: 'POST', headers, body: AMPLIFIED })))
    },
  },
  {
    name: 'batches of 1,000 events, 12 at once',
    isPlainLoad: true,
    async start({ url, secret }) {
      const headers = { 'x-stint-api-key': secret, 'content-type': 'application/json' }
      return repeat(12, () => drain(fetch(`${url}/v1/batch`, { method: 'POST', headers, body: FULL_BATCH })))
    },
  },
  {
    name: 'exports of 20,000 spans, 4 at once',
    async start({ url, secret }) {
      const headers = { 'x-stint-api-key': secret, 'content-type': 'application/json', 'content-encoding': 'gzip' }
      return repeat(4, () => drain(fetch(`${url}/otlp/v1/traces`, { method: 'POST', headers, body: SPANS })))
    },
  },
  {
    name: 'dripping chunked bodies, 64',
    start: ({ url, secret }) =>
      holdConnections(
        url,
        64,
        `POST /v1/batch HTTP/1.1\r\nhost: a\r\nx-stint-api-key: ${secret}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n[\r\n`,
        '1\r\n \r\n',
      ),
  },
  {
    name: 'sign-ins, 8 at once',
    async start({ url }) {
      const headers = { 'content-type': 'application/json' }
      let n = 0
      return repeat(8, () => {
        const body = JSON.stringify({ email: `nobody-${n++}@example.com`, password: 'a wrong but long password' })
        return drain(fetch(`${url}/api/session`, { method: 'POST', headers, body }))
      })
    },
  },
  {
    name: 'keys rotated, 4 at once',
    async start({ url, cookie, keyId }) {
      const headers = { 'content-type': 'application/json', cookie, origin: url }
      const rotate = () =>
        drain(fetch(`${url}/api/keys/${keyId}/rotate`, { method: 'POST', headers, body: '{"overlap_seconds":86400}' }))
      return repeat(4, rotate)
    },
  },
  {
    name: 'slow texts, 10 at once',
    async start(attacker) {
      let n = 0
      const send = repeat(8, () => {
        const exception = `${SLOW_TEXTS[n++ % SLOW_TEXTS.length]}${n}` // no two are the same
        return drain(attacker.post('/v1/exception', { process: 'slow', exception }))
      })
      const ask = repeat(2, () => drain(attacker.get('/api/exceptions?process=slow&limit=100')))
      return async () => {
        await Promise.all([send(), ask()])
      }
    },
  },
  {
    name: 'unread answers of 15 MB, 200',
    async prepare(attacker) {
      for (let i = 0; i < 5; i++)
        await sendBatch(
          attacker,
          Array.from({ length: 200 }, () => ({ kind: 'exception', process: 'long', exception: LONG_TEXT })),
        )
    },
    start: ({ url, secret }) =>
      holdConnections(
        url,
        200,
        `GET /api/exceptions?process=long&limit=1000 HTTP/1.1\r\nhost: a\r\nx-stint-api-key: ${secret}\r\n\r\n`,
        '',
      ),
  },
  {
    name: 'summaries of 500,000 marks, 16 at once',
    async prepare(attacker) {
      const pairs = Array.from({ length: 1000 }, (_, i) => ({
        kind: i % 2 === 0 ? 'start' : 'end',
        process: `p${(i % 50) >> 1}`,
      }))
      for (let i = 0; i < 500; i++) await sendBatch(attacker, pairs)
    },
    start: async (attacker) => repeat(16, () => drain(attacker.get('/api/timings/summary?every=1m'))),
  },
]

/** On a server with a small spool and without a store. */
export const FULL_SPOOL: Attack = {
  name: 'a full spool, 8 at once',
  async start(attacker) {
    const events = Array.from({ length: 200 }, () => ({ kind: 'exception', process: 'fill', exception: LONG_TEXT }))
    return repeat(8, async () => {
      await sendBatch(attacker, events)
    })
  },
}
