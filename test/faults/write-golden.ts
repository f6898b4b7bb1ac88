// Wrote golden/data-dir-1.tar.gz and what is in it, once: `bun test/faults/write-golden.ts`. Run it again only for a new version of the data, into new files. With
// `--turn` it wrote golden/second-turn.tar.gz: the wall clock was an hour ahead for a moment, so the stamp clock is in its second turn.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { createLog } from '../../src/log.ts'
import { openDeadLetters } from '../../src/state/dead-letters.ts'
import { createStintProcess } from '../support/process.ts'

const VERSION = 1
const AWAY = {
  INFLUX_URL: 'http://127.0.0.1:1',
  INFLUX_TOKEN: 'token',
  INFLUX_ORG: 'org',
  INFLUX_BUCKET: 'bucket',
  CLICKHOUSE_URL: 'http://127.0.0.1:1',
}
const EVENTS = [
  ['/v1/start', { process: 'golden', meta: 'ü', uid: 'a' }],
  ['/v1/end', { process: 'golden', meta: 'ü', uid: 'a' }],
  ['/v1/metrics', { process: 'golden', items: { value: 0.1, 'läng e': -3 } }],
  ['/v1/exception', { process: 'golden', exception: 'boom\n\t"at" \\ 😀' }],
  ['/v1/start', { process: 'golden', at: new Date(Date.now() - 60_000).toISOString() }],
] as const

const golden = join(import.meta.dir, 'golden')

function pack(dataDir: string, name: string, facts: object): void {
  for (const file of ['lock', 'lock.pid']) rmSync(join(dataDir, file))
  const archive = join(golden, `${name}.tar.gz`)
  Bun.spawnSync(['tar', '--numeric-owner', '--owner=0', '--group=0', '-czf', archive, '-C', dataDir, '.'])
  writeFileSync(join(golden, `${name}.json`), `${JSON.stringify(facts, null, 2)}\n`)
}

async function writeSecondTurn(): Promise<void> {
  const clockFile = `${golden}.clock`
  const setClock = (stepUs: number) => writeFileSync(clockFile, JSON.stringify({ stepUs, passUs: 0 }))
  const entry = join(import.meta.dir, '../support/fault-clock-main.ts')
  await using stint = createStintProcess({ ...AWAY, SPOOL_MAX_BYTES: '1MiB', CLOCK_FILE: clockFile }, { entry })
  setClock(0)
  await stint.start()
  const { account, keyId, secret, post } = await stint.signUp('golden@example.com')
  const sent: object[] = []
  const send = async (uid: string) => {
    const answer = await post('/v1/start', { process: 'turns', uid })
    sent.push({ uid, at: ((await answer.json()) as { at: string }).at })
  }
  await send('before')
  setClock(3_600_000_000)
  await send('ahead')
  setClock(0)
  await send('after')
  const wallUs = systemClock.wallUs()
  await stint.terminate()
  pack(stint.dataDir, 'second-turn', { account, keyId, secret, wallUs, sent })
  rmSync(clockFile)
}

if (process.argv.includes('--turn')) {
  await writeSecondTurn()
  process.exit()
}

const stint = createStintProcess({ ...AWAY, SPOOL_MAX_BYTES: '1MiB' })
await stint.start()
const email = 'golden@example.com'
const caller = await stint.signUp(email)
const sent: object[] = []
for (const [path, body] of EVENTS) {
  const answer = await caller.post(path, body)
  sent.push({ path, ...body, at: ((await answer.json()) as { at: string }).at })
}
await stint.terminate()

const log = createLog({ level: 'silent', pretty: false })
const path = join(stint.dataDir, 'dead.sqlite')
const dead = openDeadLetters({ path, maxBytes: 2 ** 20, clock: systemClock, log })
const us = systemClock.wallUs() - 60_000_000
const record = JSON.stringify(['m', us, 0, caller.account, 'buried', '', [['value', 7]]])
dead.bury([{ destination: 'points', account: caller.account, reason: 'field type conflict', record }])
dead.close()

pack(stint.dataDir, `data-dir-${VERSION}`, {
  email,
  account: caller.account,
  keyId: caller.keyId,
  secret: caller.secret,
  sent,
})
await stint.close()
