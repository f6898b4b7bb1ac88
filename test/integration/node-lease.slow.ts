// Two Stints with one NODE_ID: the second is refused. Copies of a DATA_DIR are one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { lacks } from '../support/fault-trial.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { createStintProcess, type Env, STORES_AWAY, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const processes: StintProcess[] = []
afterAll(() => Promise.all(processes.map((one) => one.close())))

function stint(settings: Env, dataDir?: string): StintProcess {
  const one = createStintProcess({ ...STORES_AWAY, ...settings }, dataDir === undefined ? {} : { dataDir })
  processes.push(one)
  return one
}

describe.skipIf(lacks('postgresql'))('a NODE_ID that another DATA_DIR on the same PostgreSQL uses', () => {
  const dir = tempDir('node-lease')
  let postgres: PostgresServer
  let shared: Env
  let sql: SQL
  let first: StintProcess
  let second: StintProcess
  beforeAll(async () => {
    postgres = await startPostgres()
    shared = { DATABASE_URL: await postgres.createDatabase(), NODE_ID: '3' }
    sql = new SQL(shared.DATABASE_URL!, { max: 1 })
    first = stint(shared)
    second = stint(shared)
    await first.start()
  })
  afterAll(async () => {
    await sql?.close()
    await postgres?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const refused = async (one: StintProcess) => {
    await expect(one.start()).rejects.toThrow(/NODE_ID 3 is in use: .*in PostgreSQL \d+ s ago.*in 3 minutes/)
    await one.ended()
  }

  const readiness = async () => {
    const answer = await fetch(`${first.url}/readyz`)
    return answer.ok ? 'ready' : ((await answer.json()) as { code: string }).code
  }

  test('is refused with the way out; another NODE_ID starts', async () => {
    await refused(second)
    const other = stint({ ...shared, NODE_ID: '4' })
    await other.start()
    expect(await other.terminate()).toBe(0)
  })

  test('is no hindrance to the same DATA_DIR after a kill, nor where it is moved to', async () => {
    await first.kill()
    await first.start()
    await first.kill()
    const moved = join(dir, 'moved')
    cpSync(first.dataDir, moved, { recursive: true })
    const there = stint(shared, moved)
    await there.start()
    await there.kill()
  })

  test('is taken over three minutes after a kill, and at once after a stop', async () => {
    await refused(second)
    await sql`UPDATE node_lease SET at_us = at_us - 181000000`
    await second.start()
    await refused(first)
    expect(await second.terminate()).toBe(0)
    await first.start()
    await first.kill()
  })

  test('is noticed by a node that started while PostgreSQL was away: it accepts events and is not ready', async () => {
    await sql`UPDATE node_lease SET data_dir = 'other', at_us = (extract(epoch FROM now()) * 1000000)::bigint`
    await postgres.stop()
    await first.start()
    await postgres.start()
    await until('it is noticed', async () => (await readiness()) === 'node_id_in_use')
    const caller = await first.signUp('ada@example.com')
    const health = (await (await caller.get('/api/health')).json()) as { warnings: { code: string }[] }
    expect(health.warnings.map(({ code }) => code)).toEqual(['node_id_in_use'])
    expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    await sql`DELETE FROM node_lease`
    await until('it has it again', async () => (await readiness()) === 'ready')
  })
})

test('without PostgreSQL a new DATA_DIR with the accounts of another Stint needs a NODE_ID that is not 0', async () => {
  const [first, second] = [stint({}), stint({})]
  await first.start()
  await first.signUp('ada@example.com')
  expect(await first.terminate()).toBe(0)
  copyFileSync(join(first.dataDir, 'accounts.sqlite'), join(second.dataDir, 'accounts.sqlite'))
  await expect(second.start()).rejects.toThrow(/its accounts come from another Stint: set NODE_ID/)
  await stint({ NODE_ID: '1' }, second.dataDir).start()
  await first.start()
})
