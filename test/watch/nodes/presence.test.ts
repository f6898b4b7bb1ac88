// Nodes on a real PostgreSQL, in one process: who is on duty, who is silent, and what the fence keeps out. Only the nodes' clocks are the test's.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { pino } from 'pino'
import type { SqlDatabase } from '../../../src/state/database.ts'
import { openPostgres } from '../../../src/state/postgres.ts'
import { fenced, LeaseLost } from '../../../src/watch/nodes/node-table.ts'
import { createPresence, type PresenceOptions } from '../../../src/watch/nodes/presence.ts'
import { createWatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { silent } from '../watch-cast.ts'

/** As before the first step of any node. */
const NO_LEASE = "UPDATE watch_lease SET token = 0, holder = '', until_us = 0"

describe.skipIf(missing('postgresql') !== undefined)('nodes with their watches in PostgreSQL', () => {
  const databases: SqlDatabase[] = []
  let sql: SQL
  let url: string
  beforeAll(async () => {
    url = await (await sharedPostgres()).createDatabase()
    sql = new SQL(url, { max: 1 })
    const database = openPostgres(url, 'watches')
    await database.read(function* () {}) // brings the schema up to date
    await database.close()
  })
  beforeEach(async () => {
    await sql.unsafe('DELETE FROM node')
    await sql.unsafe(NO_LEASE)
  })
  afterEach(() => Promise.all(databases.splice(0).map((database) => database.close())))
  afterAll(() => sql.close())

  function nodeOf(node: number, over: Partial<PresenceOptions> = {}) {
    const database = openPostgres(url, 'watches')
    databases.push(database)
    let passedUs = 0
    const tokens: number[] = []
    const heard: string[][] = []
    let ended = 0
    const presence = createPresence({
      database,
      node,
      nowUs: () => Date.now() * 1000 + passedUs,
      monotonicUs: () => performance.now() * 1000,
      accepts: () => true,
      knownUs: () => 5,
      stored: () => undefined,
      round: () => ({ judgedUs: 7, waiting: [], dropped: {} }),
      async takeDuty(token) {
        tokens.push(token)
        return async () => {
          ended++
        }
      },
      onChanged: (accounts) => heard.push([...accounts]),
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

  test('a silent node is named for an hour, and nothing waits for it; one that leaves is not named', async () => {
    const [a, b, c] = [nodeOf(1), nodeOf(2), nodeOf(3)]
    for (const node of [a, b, c, a]) await node.step()
    expect([a.awaited(), a.nodes().map(({ node, isSilent }) => [node, isSilent])]).toEqual([
      [1, 2, 3],
      [
        [2, false],
        [3, false],
      ],
    ])
    await age(2, 11)
    await c.stop()
    await c.leave()
    await a.step()
    expect([a.awaited(), a.nodes().map(({ node, isSilent }) => [node, isSilent])]).toEqual([[1], [[2, true]]])
    await age(2, 3600)
    await a.step()
    expect(a.nodes()).toEqual([])
  })

  test('an outage of PostgreSQL makes no node silent; what is silent after it is', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    for (const node of [a, b, a]) await node.step()
    a.standStill(60) // no heartbeat of any node was written
    expect(a.nodes().map(({ isSilent }) => isSilent)).toEqual([false])
    await age(2, 60)
    await a.step()
    expect([a.awaited(), a.nodes().map(({ isSilent }) => isSilent)]).toEqual([[1, 2], [false]])
    for (let s = 0; s < 12; s += 3) {
      a.standStill(3)
      await age(2, 3)
      await a.step()
    }
    expect([a.awaited(), a.nodes().map(({ isSilent }) => isSilent)]).toEqual([[1], [true]])
  })

  test('while a node of version 1 lives, it judges', async () => {
    const a = nodeOf(2)
    const now = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
    await sql.unsafe(`INSERT INTO node VALUES (1, ${now}, '{"late":[],"changed":[]}')`)
    await a.step()
    expect(a.isOnDuty()).toBe(false)
    await age(1, 11)
    await a.step()
    await a.step()
    expect(a.isOnDuty()).toBe(true)
  })

  test('a node that is on duty leaves it to one of 2.0 that comes, and takes it again when that has gone', async () => {
    const a = nodeOf(2)
    await a.step()
    expect(a.isOnDuty()).toBe(true)
    const now = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
    await sql.unsafe(`INSERT INTO node VALUES (1, ${now}, '{"knownUs":5,"late":[],"changed":[]}')`)
    await a.step() // hears of it
    await a.step()
    expect([a.isOnDuty(), a.ended()]).toEqual([false, 1])
    await expire()
    await a.step()
    expect(a.isOnDuty()).toBe(false)
    await sql.unsafe('DELETE FROM node WHERE node = 1') // it stopped
    await a.step()
    await a.step()
    expect(a.isOnDuty()).toBe(true)
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
    expect(store.noteAlive({ aliveUs: 1, blind: [] })).rejects.toBeInstanceOf(LeaseLost) // … but it can write nothing
    await first.step()
    expect([first.isOnDuty(), first.ended(), second.isOnDuty()]).toEqual([false, 1, true])
    expect((await store.alive()).aliveUs).toBe(0)
    await createWatchStore(fenced(second.database, second.tokens[0]!)).noteAlive({ aliveUs: 2, blind: [] })
    expect((await store.alive()).aliveUs).toBe(2)
  })

  test('the holder of a lease that a failover has lost does not share the duty with the next holder', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await a.step()
    await sql.unsafe(NO_LEASE)
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

  test('a duty that is given up is over at once, although its work takes time to end', async () => {
    const work = Promise.withResolvers<void>()
    const a = nodeOf(1, { takeDuty: async () => () => work.promise })
    await a.step()
    expect(a.isOnDuty()).toBe(true)
    a.dropDuty()
    expect(a.isOnDuty()).toBe(false)
    await a.step()
    expect(a.isOnDuty()).toBe(false)
    work.resolve()
  })

  test('the node on duty hears of changes at others, and they of how far it is', async () => {
    const [a, b] = [nodeOf(1), nodeOf(2)]
    await a.step()
    b.noteChanged('acc_3')
    for (let i = 0; i < 3; i++) {
      await b.step()
      await a.step()
      expect(a.heard.at(-1)).toEqual(['acc_3'])
    }
    await b.step()
    await a.step()
    expect(a.heard.at(-1)).toEqual([])
    expect(b.round()).toEqual({ judgedUs: 7, waiting: [], dropped: {} })
    await age(1, 11)
    await b.step()
    expect(b.round()).toBeUndefined()
  })

  test('a node warns once when its clock differs from that of PostgreSQL by more than a second', async () => {
    const warned: { readonly aheadMs?: number }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => warned.push(JSON.parse(line)) })
    const a = nodeOf(1, { log })
    for (const s of [0, 60, 0, -60, -60, 0, 60]) {
      a.standStill(s)
      await a.step()
    }
    expect(warned.flatMap(({ aheadMs }) => Math.sign(aheadMs ?? 0) || [])).toEqual([1, -1])
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
