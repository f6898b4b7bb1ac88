// The row of a NODE_ID in a real PostgreSQL; test/integration/node-lease.slow.ts runs processes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import pino from 'pino'
import { openNodeLease } from '../../src/state/node-lease.ts'
import { missing } from '../support/needs.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })

describe.skipIf(missing('postgresql') !== undefined)('nodes with one NODE_ID', () => {
  const closes: (() => Promise<void>)[] = []
  let url: string
  let sql: SQL
  beforeAll(async () => {
    url = await (await sharedPostgres()).createDatabase()
    sql = new SQL(url)
  })
  afterAll(async () => {
    await Promise.all(closes.map((close) => close()))
    await sql?.close()
  })

  function nodeOf(
    nodeId: number,
    dataDirId: string,
    more: { isEmbedded?: boolean; isNew?: boolean; url?: string } = {},
  ) {
    const splits: (readonly number[])[] = []
    const onSplit = (nodes: readonly number[]) => void splits.push(nodes)
    const everyMs = { renewEveryMs: 10, retryEveryMs: 10 }
    const given = { url, isNew: false, isEmbedded: false, ...more }
    const lease = openNodeLease({ ...given, nodeId, dataDirId, log, onSplit, ...everyMs })
    closes.push(lease.stop)
    return { ...lease, splits }
  }
  const start = async (nodeId: number, dataDirId: string) => {
    const node = nodeOf(nodeId, dataDirId)
    await node.start()
    return node
  }
  const rows = (nodeId: number) =>
    sql`SELECT data_dir, held::int FROM node_lease WHERE node = ${nodeId} ORDER BY data_dir`
  /** As PostgreSQL sees it once so much time has passed without a heartbeat. */
  const pass = (nodeId: number, seconds: number) =>
    sql`UPDATE node_lease SET at_us = at_us - ${seconds * 1e6}::bigint WHERE node = ${nodeId}`

  test('another DATA_DIR is refused with the way out until the first gives the NODE_ID back', async () => {
    const first = await start(1, 'one')
    await expect(start(1, 'other')).rejects.toThrow(
      /^NODE_ID 1 is in use: another DATA_DIR renewed it in PostgreSQL \d+ s ago\. .*of its own.*again in 3 minutes$/,
    )
    await start(2, 'other')
    await first.stop()
    await start(1, 'third')
    expect(await rows(1)).toEqual([{ data_dir: 'third', held: 1 }])
  })

  test('of several that start at once exactly one succeeds', async () => {
    const starts = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((id) => start(3, id)))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await rows(3)).toHaveLength(1)
  })

  test('after a kill the same DATA_DIR starts at once, another one three minutes after the last heartbeat', async () => {
    await sql`INSERT INTO node_lease VALUES ('killed', 4, 1, 0, (extract(epoch FROM now()) * 1000000)::bigint)`
    const again = await start(4, 'killed')
    await again.stop()
    await sql`INSERT INTO node_lease VALUES ('killed', 4, 1, 0, (extract(epoch FROM now()) * 1000000)::bigint)`
    await pass(4, 170)
    await expect(start(4, 'fresh')).rejects.toThrow('NODE_ID 4 is in use')
    await pass(4, 11)
    await start(4, 'fresh')
    expect(await rows(4)).toEqual([{ data_dir: 'fresh', held: 1 }])
  })

  test('a running node whose NODE_ID was taken over is not ready until it gets it back', async () => {
    const first = await start(5, 'one')
    await sql`UPDATE node_lease SET data_dir = 'rival' WHERE node = 5`
    await until('it is noticed', () => first.rival() !== undefined)
    expect(await rows(5)).toEqual([{ data_dir: 'rival', held: 1 }])
    await pass(5, 181)
    await until('it has it again', () => first.rival() === undefined)
    expect(await rows(5)).toEqual([{ data_dir: 'one', held: 1 }])
  })

  test('a node of 1.1 that gave its lease back leaves nothing behind', async () => {
    await sql`INSERT INTO node_lease VALUES ('former', 6, 0, 0, (extract(epoch FROM now()) * 1000000)::bigint)`
    await start(6, 'newer')
    expect(await rows(6)).toEqual([{ data_dir: 'newer', held: 1 }])
  })

  test('while PostgreSQL is away only a DATA_DIR that had a NODE_ID before starts', async () => {
    const away = 'postgres://postgres@127.0.0.1:1/none'
    const known = nodeOf(7, 'known', { url: away })
    await known.start()
    expect(known.rival()).toBeUndefined()
    await expect(nodeOf(7, 'new', { url: away, isNew: true }).start()).rejects.toThrow(
      'PostgreSQL does not answer, so it is unknown whether NODE_ID 7 is in use',
    )
    await nodeOf(7, 'new', { isNew: true }).start()
  })

  test('nodes that keep events in an embedded engine beside other nodes are reported by each of them', async () => {
    url = await (await sharedPostgres()).createDatabase()
    const [remote, embedded] = [nodeOf(3, 'c'), nodeOf(4, 'd', { isEmbedded: true })]
    await remote.start()
    expect(remote.split()).toEqual([]) // one alone is no fault
    await embedded.start()
    for (const one of [remote, embedded]) await until('it is noticed', () => one.split().join() === '3,4')
    await embedded.stop()
    await until('it is over', () => remote.split().length === 0)
    expect(remote.splits).toEqual([[3, 4]])
  })
})
