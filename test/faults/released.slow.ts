// A DATA_DIR as each released version left it when it was killed, kept in released/: this version opens it on the day it was written, and
// everything is there once: accounts, keys, sessions, a watch with its channel and alert, what was stored, and what only the spools held.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { createCaller } from '../support/caller.ts'
import { lacks, WITHIN_MS } from '../support/fault-trial.ts'
import { readStored, untilShipped } from '../support/oracle.ts'
import { callerOf } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { ROOT, readRepo } from '../support/readme.ts'
import { OPENED_VERSIONS, RELEASED, RELEASED_VERSIONS, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const MINUTE_US = 60_000_000

test('every released version has its DATA_DIR', () => {
  const versions = [...readRepo('src/CHANGELOG.md').matchAll(/^## (\S+)/gm)].map(([, version]) => version!)
  expect(versions).toContain(packageJson.version)
  expect(versions.filter((version) => version !== packageJson.version && !RELEASED_VERSIONS.includes(version))).toEqual(
    [],
  )
})

function unpack(version: string): string {
  const dataDir = tempDir('released')
  expect(Bun.spawnSync(['tar', '-xJf', join(RELEASED, `${version}.tar.xz`), '-C', dataDir]).success).toBe(true)
  return dataDir
}

const tooOld = RELEASED_VERSIONS.filter((version) => !OPENED_VERSIONS.includes(version))

test.each(tooOld)('the DATA_DIR of %s is refused and keeps its data', (version) => {
  const dataDir = unpack(version)
  const filesOf = (dir: string) => new Bun.Glob('**/*').scanSync({ cwd: dir, dot: true })
  const read = () =>
    new Map([...filesOf(dataDir)].map((name) => [name, Bun.hash(readFileSync(join(dataDir, name))).toString()]))
  const before = read()
  const { exitCode, stderr, stdout } = Bun.spawnSync(['bun', join(ROOT, 'src/main.ts')], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: dataDir },
  })
  expect(`${stdout}${stderr}`).toContain(
    `${join(dataDir, 'accounts.sqlite')} was written by a Stint before 2.0: start 2.0 once, then this version`,
  )
  expect(exitCode).toBe(1)
  const after = read()
  // SQLite removes an empty write-ahead log
  for (const [name, hash] of before) if (!name.endsWith('-wal')) expect([name, after.get(name)]).toEqual([name, hash])
})

test.skipIf(lacks('chdb')).each(OPENED_VERSIONS)('the DATA_DIR of %s opens and has everything', async (version) => {
  const facts = readReleased(version)
  const dataDir = unpack(version)
  const stepUs = facts.wallUs + MINUTE_US - Date.now() * 1_000
  await using stint = createClockedProcess({ stepUs, passUs: 0 }, { SIGNUP: 'open' }, { dataDir })
  await stint.start()
  await untilShipped(stint.url, WITHIN_MS)
  const { timings, points, exceptions } = await readStored(callerOf(stint.url, { keyId: '', ...facts.ada }))
  expect(timings.map(({ uid, meta, state }) => `${uid} ${meta} ${state}`).sort()).toEqual([
    'bad null failed',
    'good ü completed',
    'spooled null running',
  ])
  expect(points.map(({ name, value }) => `${name} ${value}`).sort()).toEqual(['läng e -3', 'rows 0.1', 'rows 7'])
  expect(exceptions.map(({ exception }) => exception).sort()).toEqual(['boom\n\t"at" \\ 😀', 'spooled'])
  const times = [
    ...timings.flatMap((it) => [it.started_at, it.ended_at]),
    ...[...points, ...exceptions].map(({ at }) => at),
  ]
  expect([...new Set(times.filter((at) => at !== null))].sort()).toEqual(facts.sent.map(({ at }) => at).sort())

  const [session, ofBob] = [facts.ada, facts.bob].map(({ cookie }) => createCaller(stint.url, { cookie }))
  for (const { account, email } of [facts.ada, facts.bob]) {
    const answer = await createCaller(stint.url).post('/api/session', { email, password: facts.password })
    expect([answer.status, answer.json.account.id]).toEqual([201, account])
  }
  expect((await session!.get('/api/session')).json.account.id).toBe(facts.ada.account)
  expect((await ofBob!.get('/api/metrics?from=-1h')).json.points).toMatchObject([{ process: 'of bob', value: 1 }])
  const { keys } = (await session!.get('/api/keys')).json
  expect(keys.map(({ name }: { name: string }) => name).sort()).toEqual(['first key', 'manager', 'revoked'])
  const [manager, revoked] = [facts.manager, facts.revoked].map(({ secret: key }) => createCaller(stint.url, { key }))
  expect((await revoked!.get('/api/timings')).status).toBe(401)

  const channel = { id: facts.channel, name: 'on call', kind: 'webhook', state: 'delivered' }
  expect((await manager!.get('/api/channels')).json.channels).toMatchObject([channel])
  const watch = { id: facts.watch, name: 'imports', process: 'import', channels: [facts.channel] }
  expect((await manager!.get('/api/watches')).json.watches).toMatchObject([watch])
  const alerts = async () => (await manager!.get('/api/alerts')).json.alerts
  expect(await alerts()).toMatchObject([{ id: facts.alert, condition: 'failed', state: 'firing' }])

  const ada = createCaller(stint.url, { key: facts.ada.secret })
  for (const path of ['start', 'end'])
    expect((await ada.post(`/v1/${path}`, { process: 'import', uid: 'after' })).status).toBe(201)
  await until('the alert ends', async () => (await alerts())[0].state === 'resolved')
  expect(await alerts()).toMatchObject([{ id: facts.alert, ended_by: 'event' }])
})
