// Nodes on a real PostgreSQL, in one process: who is on duty, who is silent, and what the fence keeps out. Only the nodes' clocks are the test's.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres, type Postgres } from '../../../src/state/postgres.ts'
import { findUnjudged } from '../../../src/watch/manage/find-unjudged.ts'
import { createManageNodes } from '../../../src/watch/nodes/manage-nodes.ts'
import { fenced, LeaseLost, type NodeReport } from '../../../src/watch/nodes/node-table.ts'
import { createPresence, type PresenceOptions } from '../../../src/watch/nodes/presence.ts'
import { createWatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { ACCOUNT, silent, watchOf } from '../watch-cast.ts'

describe.skipIf(missing('postgresql') !== undefined)('nodes with their watches in PostgreSQL', () => {
  const databases: Postgres[] = []
  let sql: SQL
  let url: string
  afterEach(() => Promise.all([sql.close(), ...databases.splice(0).map((database) => database.close())]))
  beforeEach(async () => {
    url = await (await sharedPostgres()).createDatabase()
    sql = new SQL(url, { max: 1 })
  })

  function nodeOf(node: number, over: Partial<PresenceOptions> = {}) {
    const database = openPostgres(url, 'watches')
    databases.push(database)
    let passedUs = 0
    const tokens: number[] = []
    const heard: NodeReport[][] = []
    let ended = 0
    const presence = createPresence({
      database,
      node,
      nowUs: () => Date.now() * 1000 + passedUs,
      monotonicUs: () => performance.now() * 1000,
      accepts: () => true,
      oldestUnstoredUs: () => ({ points: undefined, exceptions: undefined }),
      round: () => ({ unknown: ['acc_1'] }),
      async takeDuty(token) {
        tokens.push(token)
        return async () => {
          ended++
        }
      },
      onReports: (reports) => heard.push([...reports]),
      log: silent,
      ...over,
    })
    return {
      ...presence,
      database,
      tokens,
      heard,
      ended: () => ended,
      standStill: (s: number) => (passedUs += s * 1e6),
    }
  }
  /** PostgreSQL's clock cannot be moved, so its rows are. */
  const age = (node: number, s: number) =>
    sql.unsafe('UPDATE node SET seen_us = seen_us - $1 WHERE node = $2', [s * 1e6, node])
  const expire = () => sql.unsafe('UPDATE watch_lease SET until_us = 0')

  test('a silent node is named until it is forgotten; a live one is not forgotten', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    const nodes = createManageNodes(a.database)
    await a.step()
    await b.step()
    expect(await nodes.forget(2)).toBe('alive')
    expect(await nodes.forget(3)).toBe('unknown')
    await age(2, 60)
    await a.step()
    expect(a.silent().map(({ node }) => node)).toEqual([2])
    expect((await nodes.list()).map(({ node, isSilent }) => [node, isSilent])).toEqual([
      [1, false],
      [2, true],
    ])
    const watch = watchOf('wat_1', { late: { every: '1h', grace: '5m' } })
    const unjudged = await findUnjudged({
      account: ACCOUNT,
      store: { watches: async () => [watch] },
      node: { unjudged: () => [], gaps: () => [], silent: a.silent },
      nowUs: () => Date.now() * 1000,
    })
    expect(unjudged).toMatchObject([{ watch: { id: 'wat_1' }, condition: 'late' }])
    expect(unjudged[0]!.reason).toContain('stint node forget 2')
    expect(await nodes.forget(2)).toBe('done')
    await a.step()
    expect(a.silent()).toEqual([])
  })

  test('what another node accepted is reported at least twice, and named while it is little', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await a.step()
    const hintsOf = () => a.heard.flat().map(({ hints }) => (hints === 'all' ? 'all' : hints?.acc_1))
    b.noteHint({ account: 'acc_1', process: 'job', kind: 'mark' })
    for (let i = 0; i < 4; i++) {
      await b.step()
      await a.step()
    }
    expect(hintsOf().filter((it) => JSON.stringify(it) === '["job"]').length).toBeGreaterThanOrEqual(2)
    expect(hintsOf().at(-1)).toBeUndefined()
    b.noteHint({ account: 'acc_1', process: 'job', kind: 'metrics' })
    await b.step()
    await a.step()
    expect(hintsOf()).toContain(null)
    for (let i = 0; i < 2000; i++) b.noteHint({ account: `acc_${i}`, process: 'job', kind: 'mark' })
    await b.step()
    await a.step()
    expect(hintsOf()).toContain('all')
  })

  test('one is on duty; another takes over only when the lease has expired, with a greater token', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await Promise.all([a.step(), b.step()])
    const [first, second] = a.isOnDuty() ? [a, b] : [b, a]
    for (let i = 0; i < 3; i++) await Promise.all([a.step(), b.step()])
    expect([first.tokens.length, second.tokens.length, second.isOnDuty()]).toEqual([1, 0, false])
    await expire()
    await second.step()
    expect(second.tokens).toEqual([expect.any(Number)])
    expect(second.tokens[0]).toBeGreaterThan(first.tokens[0]!)
    expect(first.isOnDuty()).toBe(true) // it cannot know yet …
    const store = createWatchStore(fenced(first.database, first.tokens[0]!))
    expect(store.noteAlive({ aliveUs: 1, blind: [], rewinds: [] })).rejects.toBeInstanceOf(LeaseLost) // … but it can write nothing
    await first.step()
    expect([first.isOnDuty(), first.ended(), second.isOnDuty()]).toEqual([false, 1, true])
    expect((await store.alive()).aliveUs).toBe(0)
    await createWatchStore(fenced(second.database, second.tokens[0]!)).noteAlive({ aliveUs: 2, blind: [], rewinds: [] })
    expect((await store.alive()).aliveUs).toBe(2)
  })

  test('the holder of a lease that a failover has lost does not share the duty with the next holder', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await a.step()
    await sql.unsafe("UPDATE watch_lease SET token = 0, holder = '', until_us = 0") // as before the first step
    await b.step()
    expect(fenced(a.database, a.tokens[0]!).write(function* () {})).rejects.toBeInstanceOf(LeaseLost)
    await a.step()
    expect([a.isOnDuty(), a.ended(), b.isOnDuty()]).toEqual([false, 1, true])
  })

  test('one that cannot begin gives the lease back', async () => {
    const takeDuty = () => Promise.reject(new Error('the disk is full'))
    const [a, b] = [nodeOf(1, { takeDuty }), nodeOf(2)]
    await a.step()
    expect(a.isOnDuty()).toBe(false)
    await b.step()
    expect(b.isOnDuty()).toBe(true)
  })

  test('one that stood still knows before it asks that it may deliver nothing, and covers no time', async () => {
    const a = nodeOf(1)
    await a.step()
    const coveredSinceUs = a.coveredSinceUs()
    await a.step()
    expect([a.isOnDuty(), a.coveredSinceUs()]).toEqual([true, coveredSinceUs])
    a.standStill(60)
    expect(a.isOnDuty()).toBe(false)
    await a.step()
    expect(a.ended()).toBe(1)
    expect(a.coveredSinceUs()).toBeGreaterThan(coveredSinceUs + 59e6)
  })

  test('what another node has not stored holds back, a silent one only by its backlog, until it is forgotten', async () => {
    const now = Date.now() * 1000
    const a = nodeOf(1)
    const backlog = nodeOf(2, { oldestUnstoredUs: () => ({ points: now - 60e6, exceptions: undefined }) })
    const fresh = nodeOf(3, {
      oldestUnstoredUs: () => ({ points: now - 1e6, exceptions: now - 1e6 }),
      accepts: () => false,
    })
    await backlog.step()
    await fresh.step()
    await a.step()
    expect(a.oldestUnstoredUs().points).toBe(now - 60e6)
    expect(a.oldestUnstoredUs().exceptions).toBeLessThanOrEqual(now - 1e6)
    expect(a.silent().map(({ node }) => node)).toEqual([])
    for (const node of [2, 3]) await age(node, 31)
    await a.step()
    expect(a.silent().map(({ node }) => node)).toEqual([2, 3])
    expect(a.oldestUnstoredUs()).toEqual({ points: now - 60e6, exceptions: undefined })
    for (const node of [2, 3]) await age(node, 3600)
    await a.step()
    expect([a.silent().map(({ node }) => node), a.oldestUnstoredUs()]).toEqual([
      [],
      { points: undefined, exceptions: undefined },
    ])
  })

  test('a node with empty spools leaves, one with events in them is missed', async () => {
    const a = nodeOf(1)
    const full = nodeOf(2, { oldestUnstoredUs: () => ({ points: Date.now() * 1000, exceptions: undefined }) })
    const empty = nodeOf(3)
    for (const node of [a, full, empty]) await node.step()
    for (const node of [full, empty]) {
      await node.stop()
      await node.leave()
      await age(2, 31)
      await age(3, 31)
    }
    await a.step()
    expect(a.silent().map(({ node }) => node)).toEqual([2])
  })

  test('the node on duty hears of late events and changes at others, and they of its rounds', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await a.step()
    const late = { account: 'acc_2', process: 'p', isException: false }
    for (const atUs of [7, 5, 9]) b.noteDelayed({ ...late, atUs })
    b.noteChanged('acc_3')
    for (let i = 0; i < 3; i++) {
      await b.step()
      await a.step()
      expect(a.heard.at(-1)![1]).toMatchObject({ late: [{ ...late, fromUs: 5, toUs: 9 }], changed: ['acc_3'] })
    }
    await b.step()
    await a.step()
    expect(a.heard.at(-1)![1]).toMatchObject({ late: [], changed: [] })
    b.noteChanged('acc_4')
    await b.step()
    await a.step()
    expect(a.heard.at(-1)![1]).toMatchObject({ changed: ['acc_4'] })
    await a.step()
    expect(a.heard.at(-1)).toHaveLength(1) // b may be gone: its last report was heard before
    expect(b.round()).toEqual({ unknown: ['acc_1'] })
    await age(1, 31)
    await b.step()
    expect(b.round()).toBeUndefined()
  })

  test('since when no node evaluates is known though nobody asked before', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    for (let i = 0; i < 2; i++) await a.step()
    b.standStill(3600)
    await b.step()
    const seenUs = (Date.now() + 3600_000) * 1000
    await age(1, 31)
    await b.step()
    expect(b.round()).toBeUndefined()
    expect(Math.abs(b.roundUs() - seenUs)).toBeLessThan(20e6)
  })

  test('time is covered while at least one node accepts events', async () => {
    const refusing = nodeOf(1, { accepts: () => false })
    await refusing.step()
    expect(refusing.accepts()).toBe(false)
    const accepting = nodeOf(2)
    await accepting.step()
    const sinceUs = accepting.coveredSinceUs()
    await refusing.step()
    expect(refusing.accepts()).toBe(true)
    expect(Math.abs(refusing.coveredSinceUs() - sinceUs)).toBeLessThan(5e6)
    await age(2, 11)
    await refusing.step()
    expect(refusing.accepts()).toBe(false)
  })
})
