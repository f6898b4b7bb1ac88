// `bun run demo`: a server on data of its own, an account, and a day of jobs; then jobs go on, at speed, until Ctrl-C.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processEnv } from '../cli/config.ts'
import { systemClock } from '../clock.ts'
import { createRandom, playDay } from './day-of-jobs.ts'

const EVENTS_A_BATCH = 500
const LIVE_EVERY_MS = 1500
const EMAIL = 'demo@example.com'

const dataDir = mkdtempSync(join(tmpdir(), 'stint-demo-'))
const server = Bun.spawn([process.execPath, join(import.meta.dir, '../main.ts')], {
  env: { ...processEnv(), NODE_ENV: 'production', DATA_DIR: dataDir, LOG_LEVEL: 'info', SIGNUP: 'first' },
  stdout: 'pipe',
  stderr: 'inherit',
})

let stopping = false
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  server.kill('SIGTERM')
  await server.exited
  rmSync(dataDir, { recursive: true, force: true })
  process.exit(0)
}
process.on('SIGINT', () => void stop())
process.on('SIGTERM', () => void stop())

/** The address that the server's log names once it is ready; the rest of the log is shown when it does not come to that. */
async function readUrl(): Promise<string> {
  let text = ''
  for await (const chunk of server.stdout) {
    text += new TextDecoder().decode(chunk)
    const url = /"url":"([^"]+)"/.exec(text)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`the server did not start:\n${text}`)
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (answer.ok) return answer.json()
  throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
}

const say = (text: string) => process.stdout.write(`${text}\n`)

say('starting Stint on data of its own …')
const url = await readUrl()
const password = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url')
const { key } = (await post('/api/accounts', { email: EMAIL, password })) as { key: { secret: string } }
const headers = { 'x-stint-api-key': key.secret }

const day = playDay(systemClock.wallUs() / 1000)
for (let i = 0; i < day.length; i += EVENTS_A_BATCH) {
  await post('/v1/batch', day.slice(i, i + EVENTS_A_BATCH), headers)
  process.stdout.write(`\rplaying a day of jobs … ${Math.min(day.length, i + EVENTS_A_BATCH)} of ${day.length} events`)
}
say(`

Console   ${url}/      sign in as ${EMAIL}, password ${password}
Swagger   ${url}/swagger
API key   ${key.secret}

  STINT_URL=${url} STINT_API_KEY=${key.secret} bun run stint running --watch

Small jobs go on until Ctrl-C.`)

const random = createRandom(systemClock.wallUs() % 2 ** 32)
while (!stopping) {
  void playLive(random)
  await Bun.sleep(LIVE_EVERY_MS * (0.5 + random()))
}

/** One short run as it happens, with the server's own stamps. */
async function playLive(random: () => number): Promise<void> {
  const mark = {
    process: 'resize images',
    meta: random() < 0.5 ? 'queue media' : 'queue avatars',
    uid: `live-${random().toString(36).slice(2, 10)}`,
  }
  try {
    await post('/v1/start', mark, headers)
    await Bun.sleep(1000 + 20_000 * random() ** 2)
    await post(
      '/v1/metrics',
      { process: mark.process, meta: mark.meta, items: { images: 1 + Math.floor(60 * random()) } },
      headers,
    )
    await post('/v1/end', mark, headers)
  } catch (error) {
    if (!stopping) say(`a live job could not be sent: ${error instanceof Error ? error.message : error}`)
  }
}
