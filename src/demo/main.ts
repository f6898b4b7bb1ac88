// `bun run demo`: a server with data of its own, an account and a week of jobs; then short jobs continue until Ctrl-C.
import { systemClock } from '../clock.ts'
import { createRandom, type DemoEvent, playDays } from './day-of-jobs.ts'
import { withServer } from './run-server.ts'
import { watchJobs } from './watch-jobs.ts'

const EVENTS_PER_BATCH = 500
const LIVE_EVERY_MS = 1500
/** Jobs go on for so long; nobody looks at a demo for longer. */
const AHEAD_MS = 24 * 3_600_000
const EMAIL = 'demo@example.com'

const interrupted = new AbortController()
const { signal } = interrupted
process.on('SIGINT', () => interrupted.abort())
process.on('SIGTERM', () => interrupted.abort())

const print = (text: string) => process.stdout.write(`${text}\n`)

try {
  print('starting Stint with data of its own …')
  await withServer(play)
  process.exit(0)
} catch (error) {
  if (signal.aborted) process.exit(0)
  process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
}

async function play(url: string): Promise<void> {
  const password = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url')
  const { key } = (await post(`${url}/api/accounts`, { email: EMAIL, password })) as { key: { secret: string } }
  // The first key may not manage; the demo signs in as its user does.
  const signedIn = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password }),
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const send = (path: string, body: unknown) => post(url + path, body, { 'x-stint-api-key': key.secret })

  const nowMs = systemClock.wallUs() / 1000
  const all = playDays(nowMs, AHEAD_MS)
  const [day = [], later = []] = [true, false].map((isPast) =>
    all.filter(({ at }) => Date.parse(at) < nowMs === isPast),
  )
  for (let i = 0; i < day.length; i += EVENTS_PER_BATCH) {
    await send('/v1/batch', day.slice(i, i + EVENTS_PER_BATCH))
    const done = Math.min(day.length, i + EVENTS_PER_BATCH)
    const text = `playing a week of jobs … ${done} of ${day.length} events`
    if (process.stdout.isTTY) process.stdout.write(`\r${text}`)
    else if (done === day.length) print(text)
  }
  void sendLater(send, later)
  const manage = (path: string, body: unknown) => post(url + path, body, { cookie })
  await watchJobs({ manage, send, print, signal })
  const invited = { email: 'colleague@example.com', role: 'member' }
  const { invitation } = (await manage('/api/invitations', invited)) as { invitation: { url: string } }
  print(`

Console   ${url}/      sign in as ${EMAIL}, password ${password}
Swagger   ${url}/swagger
API key   ${key.secret}
Invite    ${invitation.url}

  STINT_URL=${url} STINT_API_KEY=${key.secret} watch -n2 bun run stint running

All jobs but one continue until Ctrl-C: "rotate logs" has fallen silent.`)

  const random = createRandom(systemClock.wallUs() % 2 ** 32)
  while (!signal.aborted) {
    void playLive(send, random).catch((error) => {
      if (!signal.aborted) print(`cannot send a live job: ${error instanceof Error ? error.message : error}`)
    })
    await pause(LIVE_EVERY_MS * (0.5 + random()))
  }
}

/** The jobs go on: each event at its time. */
async function sendLater(send: (path: string, body: unknown) => Promise<unknown>, later: readonly DemoEvent[]) {
  for (const event of later) {
    await pause(Date.parse(event.at) - systemClock.wallUs() / 1000)
    if (signal.aborted) return
    await send('/v1/batch', [event]).catch(() => {}) // the run is shown as running for longer
  }
}

/** One short run as it happens, stamped by the server. */
async function playLive(send: (path: string, body: unknown) => Promise<unknown>, random: () => number): Promise<void> {
  const mark = {
    process: 'resize images',
    meta: random() < 0.5 ? 'queue media' : 'queue avatars',
    uid: `live-${random().toString(36).slice(2, 10)}`,
  }
  await send('/v1/start', mark)
  await pause(4000 + 7000 * random())
  await send('/v1/metrics', {
    process: mark.process,
    meta: mark.meta,
    items: { images: 1 + Math.floor(60 * random()) },
  })
  await send('/v1/end', mark)
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  })
  if (answer.ok) return answer.json()
  throw new Error(`POST ${url} answered ${answer.status}: ${await answer.text()}`)
}

/** Resolves early when the demo is interrupted. */
async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onAbort = () => resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  await Promise.race([Bun.sleep(ms), promise])
  signal.removeEventListener('abort', onAbort)
}
