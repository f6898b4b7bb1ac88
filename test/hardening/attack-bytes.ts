// `bun test/hardening/attack-bytes.ts`: what one sender can cost others by bytes, as a table: a quota at every door, a disk of 1 GB that one
// account or 200 fill, the count after kill -9, and how soon the bytes of a deleted account are free in the embedded engine.
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { PASSWORD, signUpAt } from '../support/caller.ts'
import { mountSmallDisk } from '../support/fault-small-disk.ts'
import { createStintProcess } from '../support/process.ts'
import { createStepClock } from '../support/step-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const WEEK_US = 7 * 86_400 * 1e6
const JSON_TYPE = { 'content-type': 'application/json' }
const START = JSON.stringify({ process: 'nightly import' })
const EXCEPTION = { kind: 'exception', process: 'p', exception: 'x'.repeat(15_000) }
const BATCH = JSON.stringify(Array(250).fill(EXCEPTION))

const table: [attack: string, figure: string, wanted: string][] = []

async function attackQuota(): Promise<void> {
  const quota = 1_000_000
  await using app = await startApp({ env: { QUOTA_BYTES: String(quota) } })
  let accepted = 0
  const flood = async () => {
    for (let i = 0; i < 20; i++) {
      const { json } = await app.post('/v1/batch', BATCH)
      accepted += json.accepted ?? 0
    }
  }
  await Promise.all(Array.from({ length: 8 }, flood))
  const others = app.rooms.accounts.use.bytesOf(app.account)
  table.push(['bytes of 600 MB of exceptions that were taken', `${others}`, `${0.9 * quota} and an event`])
  const ends = await app.post('/v1/end', { process: 'p' })
  table.push(['an end after them', `${ends.status}`, '201'])
  for (let status = 201; status === 201; ) status = (await app.post('/v1/start', START)).status
  const codes = new Set<string>()
  for (const path of ['/v1/start', '/v1/metrics', '/v1/exception', '/v1/batch', '/otlp/v1/traces', '/otlp/v1/logs'])
    codes.add((await app.post(path, '{}')).json.code)
  table.push(['answers of all doors beyond the quota', [...codes].join(), 'quota_spent'])
  const stored = (await app.events()).filter(({ kind }) => kind === 'exception').length
  table.push(['exceptions accepted and not stored', `${accepted - stored}`, '0'])
}

const signUp = async ({ rooms }: TestApp, name: string) =>
  (await rooms.accounts.create({ email: `${name}@example.com`, password: PASSWORD, address: `${name}-net` })).key.secret

async function attackDisk(count: number): Promise<void> {
  const disk = mountSmallDisk(1000)
  const clock = createStepClock(Date.now() * 1000)
  const app = await startApp({
    env: { DATA_DIR: join(disk.dir, 'data') },
    clock,
    signup: 'open',
    spoolMaxBytes: 2 ** 33,
  })
  const bob = await signUp(app, 'bob')
  clock.pass(WEEK_US + 1e6)
  const eves: string[] = []
  for (let i = 0; i < count; i++) eves.push(await signUp(app, `eve${i}`))
  const filler = openSync(join(disk.dir, 'filler'), 'w')
  for (let i = 0; i < 700; i++) writeSync(filler, new Uint8Array(1_000_000))
  closeSync(filler)
  const post = (path: string, key: string, body: string) =>
    app.fetch(path, { method: 'POST', key, headers: JSON_TYPE, body })
  let [accepted, bobs, bobsRefused] = [0, 0, 0]
  for (let i = 0; i < 150; i += 2) {
    const answers = await Promise.all([0, 1].map((j) => post('/v1/batch', eves[(i + j) % count]!, BATCH)))
    accepted += answers.reduce((sum, { json }) => sum + (json.accepted ?? 0), 0)
    if ((await post('/v1/start', bob, START)).status === 201) bobs++
    else bobsRefused++
  }
  table.push([
    `refusals of bob while ${count} accounts of eve fill 1 GB`,
    `${bobsRefused} of ${bobs + bobsRefused}`,
    '0',
  ])
  table.push(['events accepted and not stored', `${accepted + bobs - (await app.events()).length}`, '0'])
  await app.stop()
  disk.unmount()
}

/** One day of exceptions in the embedded engine; then its account is deleted. */
async function attackErasure(): Promise<void> {
  const dataDir = join(tempDir('attack-bytes'), 'data')
  const stint = createStintProcess({ SIGNUP: 'open' }, { dataDir })
  await stint.start()
  const eve = await signUpAt(stint.url, 'eve@example.com')
  const texts = () => JSON.stringify(Array.from({ length: 200 }, () => ({ ...EXCEPTION, exception: random(15_000) })))
  for (let i = 0; i < 20; i++) await eve.byKey.post('/v1/batch', JSON.parse(texts()))
  const idle = async () => (await eve.bySession.call('GET', '/api/health')).json.spools.exceptions.records === 0
  while (!(await idle())) await Bun.sleep(500)
  const path = join(dataDir, 'clickhouse')
  const full = sizeOf(path)
  const { id } = (await eve.bySession.call('GET', '/api/session')).json.account
  const gone = await eve.bySession.call('DELETE', '/api/account', { id, password: PASSWORD })
  const began = Date.now()
  while (sizeOf(path) > full / 4 && Date.now() - began < 600_000) await Bun.sleep(2000)
  const seconds = Math.round((Date.now() - began) / 1000)
  table.push([
    `bytes of the engine before, and after a deletion (${gone.status})`,
    `${full} → ${sizeOf(path)}`,
    'a quarter or less',
  ])
  table.push(['seconds until then', `${seconds}`, '600, with the 120 for requests under way'])
  await stint.close()
}

const random = (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length / 2))).toString('hex')

function sizeOf(dir: string): number {
  const { stdout } = Bun.spawnSync(['du', '-sb', dir])
  return statSync(dir, { throwIfNoEntry: false }) === undefined ? 0 : Number.parseInt(stdout.toString(), 10)
}

await attackQuota()
await attackDisk(1)
await attackDisk(200)
if (process.argv[2] !== '--quick') await attackErasure()
const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]!.length)))
for (const [attack, figure, wanted] of [['attack', 'measured', 'wanted'] as const, ...table])
  console.log(`${attack.padEnd(widths[0]!)}  ${figure.padEnd(widths[1]!)}  ${wanted}`)
process.exit(0)
