// `stint drain`: a real node that is killed while its stores are away, and what it accepted is delivered by the command.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { all, run } from '../../src/state/database.ts'
import { openPostgres } from '../../src/state/postgres.ts'
import { PASSWORD, signInAt } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { missing } from '../support/needs.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runStint } from './run-stint.ts'

const AWAY = 'http://127.0.0.1:9'
const EVENTS = 300

/** Someone signs up and sends two events; `remove` deletes the account at a node. */
async function signUpLeaver(node: StintProcess) {
  const { account: id, post } = await node.signUp('leaver@example.com')
  await post('/v1/start', { process: 'left' })
  await post('/v1/exception', { process: 'left', exception: 'Error: left' })
  return async ({ url }: StintProcess) => {
    const session = await signInAt(url, 'leaver@example.com')
    expect((await session.call('DELETE', '/api/account', { id, password: PASSWORD })).status).toBe(204)
  }
}

describe.skipIf(engineMissing !== undefined)('the spools of a lost node', () => {
  const node = createStintProcess({
    SIGNUP: 'open',
    CLICKHOUSE_URL: AWAY,
    INFLUX_URL: AWAY,
    INFLUX_TOKEN: 't',
    INFLUX_ORG: 'o',
    INFLUX_BUCKET: 'b',
  })
  const DATA_DIR = tempDir('drained')
  afterAll(() => node.close())

  test('are delivered into the configured stores, once, but for deleted accounts', async () => {
    await node.start()
    const caller = await node.signUp('ada@example.com')
    for (let i = 0; i < EVENTS / 3; i++) {
      for (const path of ['/v1/start', '/v1/end']) await caller.post(path, { process: `job ${i}` })
      await caller.post('/v1/exception', { process: `job ${i}`, exception: 'Error: away' })
    }
    await (await signUpLeaver(node))(node)
    const running = await runStint(['drain', node.dataDir], { DATA_DIR })
    expect(running).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is in use by another Stint') })
    await node.kill()
    const env = { DATA_DIR }
    const expected = { delivered: EVENTS, expired: 0, buried: 0, damaged: 0, deleted: 2 }
    const drained = await runStint(['drain', node.dataDir, '--json'], env)
    expect({ ...drained, stdout: JSON.parse(drained.stdout || 'null') }).toMatchObject({
      exitCode: 0,
      stdout: expected,
    })
    expect(await runStint(['drain', node.dataDir], env)).toMatchObject({
      exitCode: 0,
      stdout: `The spools are empty: 0 events delivered into the embedded engine in ${DATA_DIR}, 0 expired, 0 in the dead letters.\n`,
    })
    const away = { DATA_DIR, CLICKHOUSE_URL: AWAY }
    expect(await runStint(['drain', node.dataDir], away)).toMatchObject({ exitCode: 0, stderr: '' })
    const file = join(DATA_DIR, 'all.ndjson')
    expect(await runStint(['copy', '--from', 'embedded', '--to', file], env)).toMatchObject({ exitCode: 0 })
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBe(EVENTS)
    expect(new Set(lines.map(({ kind, process }) => `${kind} ${process}`)).size).toBe(EVENTS)
  })

  test.skipIf(missing('postgresql') !== undefined)(
    'keep the other nodes waiting no longer, once they are empty',
    async () => {
      const url = await (await sharedPostgres()).createDatabase()
      const postgres = openPostgres(url, 'watches')
      const nodes = () => postgres.read(() => all<{ node: number }>('SELECT node FROM node ORDER BY node'))
      for (const gone of [6, 7]) await postgres.write(() => run("INSERT INTO node VALUES ($1, 0, '{}')", gone))
      const dir = tempDir('gone')
      mkdirSync(join(dir, 'spool'))
      writeFileSync(join(dir, 'node-id'), '7\n')
      expect(await runStint(['drain', dir], { DATA_DIR, DATABASE_URL: url })).toMatchObject({ exitCode: 0, stderr: '' })
      expect(await nodes()).toEqual([{ node: 6 }])
      await postgres.close()
      const away = await runStint(['drain', dir], { DATA_DIR, DATABASE_URL: 'postgres://127.0.0.1:1/stint' })
      expect([away.exitCode, away.stderr]).toEqual([1, expect.stringContaining('PostgreSQL cannot be used: ')])
    },
  )

  test.skipIf(missing('postgresql') !== undefined)(
    'are delivered for accounts in PostgreSQL, which stay there',
    async () => {
      const DATABASE_URL = await (await sharedPostgres()).createDatabase()
      await using lost = createStintProcess({ CLICKHOUSE_URL: AWAY, DATABASE_URL, NODE_ID: '9', SIGNUP: 'open' })
      await using other = createStintProcess({ CLICKHOUSE_URL: AWAY, DATABASE_URL, NODE_ID: '8' })
      const target = tempDir('drained-postgres')
      await lost.start()
      const caller = await lost.signUp('grace@example.com')
      for (let i = 0; i < 20; i++) await caller.post('/v1/start', { process: `job ${i}` })
      const deleteLeaver = await signUpLeaver(lost)
      await lost.kill()
      await other.start()
      await deleteLeaver(other)
      await other.kill()
      const drained = await runStint(['drain', lost.dataDir, '--json'], { DATA_DIR: target, DATABASE_URL })
      expect({ ...drained, stdout: JSON.parse(drained.stdout || 'null') }).toMatchObject({
        exitCode: 0,
        stdout: { delivered: 20, expired: 0, buried: 0, damaged: 0, deleted: 2 },
      })
      await using successor = createStintProcess({ DATABASE_URL, NODE_ID: '9' }, { dataDir: target }) // its lease was given back
      await successor.start()
      const { url } = successor
      const read = await fetch(`${url}/api/timings?state=running`, { headers: { 'x-stint-api-key': caller.secret } })
      expect(((await read.json()) as { timings: unknown[] }).timings.length).toBe(20)
    },
  )

  test('go into the embedded engine of the node itself, which finds them at its next start', async () => {
    await using own = createStintProcess({})
    await own.start()
    const caller = await own.signUp('alan@example.com')
    const items = Array.from({ length: 1000 }, () => ({ kind: 'exception', process: 'p', exception: 'Error: away' }))
    for (let i = 0; i < 3; i++) expect((await caller.post('/v1/batch', items)).status).toBe(201)
    await own.kill()
    const drained = await runStint(['drain', own.dataDir])
    expect(drained).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`engine in ${own.dataDir}, 0 exp`) })
    await own.start()
    const answer = await caller.get('/api/exceptions/groups?from=-1h')
    const { groups } = (await answer.json()) as { groups: { count: number }[] }
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(3000)
  })

  test.skipIf(influxdMissing !== undefined)(
    'are counted as what they became, beside points outside the retention and deleted accounts',
    async () => {
      const settings = influxSettings(await (await influxd()).freshBucket(86_400))
      await using lost = createStintProcess({ SIGNUP: 'open', CLICKHOUSE_URL: AWAY, ...settings, INFLUX_URL: AWAY })
      await lost.start()
      const caller = await lost.signUp('kay@example.com')
      const at = new Date(Date.now() - 3 * 86_400_000).toISOString()
      await caller.post('/v1/metrics', { process: 'old', items: { a: 1, b: 2, c: 3, d: 4 }, at })
      await (await signUpLeaver(lost))(lost)
      await lost.kill()
      const { stdout } = await runStint(['drain', lost.dataDir, '--json'], { ...settings, DATA_DIR })
      expect(JSON.parse(stdout)).toEqual({ delivered: 0, expired: 4, buried: 0, damaged: 0, deleted: 2 })
    },
  )

  test('of a node with other stores need the settings that it had', async () => {
    const dir = tempDir('elsewhere')
    mkdirSync(join(dir, 'spool'))
    expect(await runStint(['drain', dir])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `stint: ${dir} has no embedded engine: set CLICKHOUSE_URL, or DATA_DIR to a directory whose engine takes the events\n`,
    })
  })

  test('are kept while the deleted accounts cannot be read', async () => {
    const dir = tempDir('damaged')
    const path = join(dir, 'accounts.sqlite')
    mkdirSync(join(dir, 'spool'))
    writeFileSync(path, 'no database'.repeat(1000))
    const { exitCode, stderr } = await runStint(['drain', dir], { DATA_DIR })
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/cannot be read from .*sqlite: .*; move the file away/),
    ])
    expect(stderr).toContain(path)
    rmSync(path)
    expect(await runStint(['drain', dir], { DATA_DIR })).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('are not created by draining an empty directory', async () => {
    const dir = tempDir('empty')
    writeFileSync(join(dir, 'note'), '')
    expect(await runStint(['drain', dir], { DATA_DIR })).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `stint: ${dir} holds no spools: name the DATA_DIR of a node\n`,
    })
  })
})
