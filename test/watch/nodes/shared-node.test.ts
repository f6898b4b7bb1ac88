// One of several nodes, on real spools and a real PostgreSQL: what it does with a database of before.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { SqlDatabase } from '../../../src/state/database.ts'
import { openPostgres } from '../../../src/state/postgres.ts'
import { createSharedNode, type WatchNode } from '../../../src/watch/nodes/watch-node.ts'
import { createWatchStore, type WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import { ACCOUNT, judgedOf, watchOf } from '../watch-cast.ts'
import { accept, closeSpools, openSpools, optionsOf, type Spools } from './node-cast.ts'

const nowUs = () => Date.now() * 1000
const NODE = 1
const DATA_DIR = 'the directory of node 1'

describe.skipIf(missing('postgresql') !== undefined)('a node with its watches in PostgreSQL', () => {
  let sql: SQL
  let store: WatchStore
  let feedDatabase: SqlDatabase
  let spools: Spools
  let node: WatchNode
  beforeEach(async () => {
    const url = await (await sharedPostgres()).createDatabase()
    sql = new SQL(url, { max: 1 })
    const database = openPostgres(url, 'watches')
    feedDatabase = openPostgres(url, 'watches')
    store = createWatchStore(database)
    await store.watches() // brings the schema up to date
    await sql`INSERT INTO account VALUES (${ACCOUNT}, ${ACCOUNT}, 'ada@example.com', 0, 0)`
    spools = await openSpools(inMemoryDir())
    const shared = { database, feedDatabase, node: NODE, dataDir: DATA_DIR }
    node = createSharedNode({ ...optionsOf(spools, nowUs), ...shared })
  })
  afterEach(async () => {
    await node.stop()
    await closeSpools(spools)
    await Promise.all([store.close(), feedDatabase.close()])
    await sql.close()
  })

  test('that judges begins again from the state of a database that was restored', async () => {
    await store.addWatch(watchOf('job', { process: 'job', failed: { after: 1, exceptions: false } }), 9)
    await node.start()
    await until('a commit is stored', async () => (await store.judged()).judgedUs !== undefined)
    await sql`UPDATE alive SET judged_us = judged_us - 60000000`
    await accept(spools, 'failed', 'job', nowUs())
    await until('it gives the duty up', () => !node.isOnDuty())
    await sql`UPDATE watch_lease SET until_us = 0`
    await until('the failure is an alert', async () => (await store.openAlerts(ACCOUNT)).length === 1)
  })

  test('that was silent and takes over judges nothing of that time before its own events', async () => {
    const beganUs = nowUs()
    const times = { createdUs: 0, sinceUs: beganUs - 3635e6 } // due 35 s ago, late 30 s ago
    await store.addWatch(watchOf('job', { process: 'job', late: { every: '1h', grace: '5s' } }, times), 9)
    const { position } = spools.points
    const fed = { node: NODE, position, knownUs: beganUs - 60e6, dataDir: DATA_DIR }
    const positions = [{ ...fed, spool: 'points' } as const, { ...fed, spool: 'exceptions' } as const]
    await store.commitJudged(judgedOf({ judgedUs: beganUs - 5e6, aliveUs: beganUs, positions }), beganUs)
    await accept(spools, 'start', 'job', beganUs - 40e6) // punctual, and not handed over
    await node.start()
    await until('everything of before is judged', () => node.isOnDuty() && node.judgedUs() > beganUs)
    expect(await store.alerts(ACCOUNT, { limit: 9 })).toEqual([])
  })
})
