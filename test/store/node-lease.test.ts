// The lease of a NODE_ID in a real PostgreSQL; test/integration/node-lease.slow.ts runs it against the stores.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { openPostgresLeases, type PostgresLeases } from '../../src/state/postgres-leases.ts'
import { createNodeLease, FRESH_S, type Leases, type NodeLease } from '../../src/store/node-lease.ts'
import { missing } from '../support/needs.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })

test('the lease is given back behind a renewal that is still under way', async () => {
  const written: boolean[] = []
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>()
  const lease = createNodeLease({
    leases: [
      {
        store: 'slow',
        read: async () => [{ dataDirId: 'here', ageS: 1 }],
        async write(_node, _dir, isHeld) {
          if (isHeld) await arrives
          written.push(isHeld)
        },
      },
    ],
    nodeId: 1,
    dataDirId: 'here',
    log,
  })
  lease.start()
  const stopped = lease.stop()
  arrive()
  await stopped
  expect(written).toEqual([true, false])
})

test.each([
  ['a', true],
  ['b', false],
])('of two with a lease each the one with the smaller id keeps it (%s: %p)', async (dataDirId, isKept) => {
  const written: boolean[] = []
  const lease = createNodeLease({
    leases: [
      {
        store: 'shared',
        read: async () => ['a', 'b'].map((id) => ({ dataDirId: id, ageS: 1 })),
        write: async (_node, _dir, isHeld) => void written.push(isHeld),
      },
    ],
    nodeId: 1,
    dataDirId,
    log,
  })
  lease.start()
  await until('it has looked', () => written.length > 0)
  expect(lease.rival()).toMatchObject({ holder: { dataDirId: isKept ? 'b' : 'a' }, isOurs: isKept })
  await lease.stop()
  expect(written).toEqual([isKept, false])
})

describe.skipIf(missing('postgresql') !== undefined)('nodes with one NODE_ID', () => {
  const closes: (() => Promise<void>)[] = []
  afterAll(() => Promise.all(closes.map((close) => close())))
  let url: string
  beforeAll(async () => {
    url = await (await sharedPostgres()).createDatabase()
  })

  /** `cut` = it cannot reach PostgreSQL. */
  function nodeOf(nodeId: number, dataDirId: string, isEmbedded = false) {
    const splits: (readonly number[])[] = []
    const onSplit = (nodes: readonly number[]) => void splits.push(nodes)
    const postgres: PostgresLeases = openPostgresLeases({ url, freshS: FRESH_S, isEmbedded, onSplit })
    let isCut = false
    const unlessCut = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isCut) throw new Error('cut')
      return work()
    }
    const leases: Leases[] = [
      {
        store: postgres.store,
        read: (...args) => unlessCut(() => postgres.read(...args)),
        write: (...args) => unlessCut(() => postgres.write(...args)),
      },
    ]
    const lease: NodeLease = createNodeLease({ leases, nodeId, dataDirId, log, renewEveryMs: 10, retryEveryMs: 10 })
    closes.push(async () => {
      isCut = false
      await lease.stop()
      await postgres.close()
    })
    return { ...lease, split: postgres.split, splits, setCut: (is: boolean) => (isCut = is) }
  }
  const isReady = ({ rival }: Pick<NodeLease, 'rival'>) => rival()?.isOurs ?? true

  test.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('the one that came later is not ready although PostgreSQL was away at its start (%s, %s)', async (one, other) => {
    const first = nodeOf(1, one)
    await first.check()
    first.start()
    await until('the first has the lease', async () => (await nodeOf(1, 'reader').check().catch(String)) !== undefined)
    const later = nodeOf(1, other)
    later.setCut(true)
    await later.check()
    later.start()
    expect(isReady(later)).toBe(true) // nobody can know
    later.setCut(false)
    await until('it is noticed', () => !isReady(later))
    expect(later.rival()?.holder).toMatchObject({ store: 'PostgreSQL', dataDirId: one })
    expect(isReady(first)).toBe(true)
    await first.stop()
    await until('the later one is ready', () => later.rival() === undefined)
    await later.stop()
  })

  test('of two that started while PostgreSQL was away exactly one becomes ready', async () => {
    const both = [nodeOf(2, 'a'), nodeOf(2, 'b')] as const
    for (const one of both) one.setCut(true)
    for (const one of both) one.start()
    for (const one of both) one.setCut(false)
    await until('one gives way', () => !both.every(isReady))
    expect(both.filter(isReady)).toHaveLength(1)
    const winner = both.find(isReady)!
    const loser = both.find((one) => !isReady(one))!
    await winner.stop()
    await until('the other one is ready', () => isReady(loser))
    await loser.stop()
  })

  test('nodes that keep events in an embedded engine beside other nodes are reported by each of them', async () => {
    const [remote, embedded] = [nodeOf(3, 'c'), nodeOf(4, 'd', true)]
    remote.start()
    await until('one alone is no fault', () => remote.split().length === 0)
    embedded.start()
    for (const one of [remote, embedded]) await until('it is noticed', () => one.split().join() === '3,4')
    await embedded.stop()
    await until('it is over', () => remote.split().length === 0)
    expect(remote.splits).toEqual([[3, 4]])
    await remote.stop()
  })
})
