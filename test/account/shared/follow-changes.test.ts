// What a node reads of PostgreSQL, counted in rows: a new key must not cost all of them.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadKeyRing } from '../../../src/account/key-ring.ts'
import { hashSecret } from '../../../src/account/secret.ts'
import { createFollowChanges } from '../../../src/account/shared/follow-changes.ts'
import { openReplica } from '../../../src/account/shared/replica.ts'
import { loadSuspensions } from '../../../src/account/suspensions.ts'
import type { Result, Script } from '../../../src/state/database.ts'
import { run } from '../../../src/state/database.ts'
import { openPostgres } from '../../../src/state/postgres.ts'
import { missing } from '../../support/needs.ts'
import { createManualClock, freshDir, silentLog } from '../accounts-cast.ts'
import { freshUrl, useNodes } from './use-nodes.ts'

const { atEnd } = useNodes()
const ACCOUNTS = 2_500
const HOUR_S = 3600

const secretOf = (i: number) => `stint_${String(i).padStart(42, '0')}`
const hashOf = (i: number) => hashSecret(secretOf(i))

async function openNodes() {
  const postgres = openPostgres(await freshUrl())
  atEnd(postgres.close)
  const add = (numbers: readonly number[]) =>
    postgres.write(function* () {
      const rows = numbers.map((i) => `('acc_${i}', 'a', 'a', 0, 0)`).join(', ')
      yield* run(`INSERT INTO account (id, name, email, operator, created_ms) VALUES ${rows}`)
      const keys = numbers.map((i) => `('key_${i}', 'acc_${i}', 'k', 'p', '${hashOf(i)}', 1, 1, 0)`).join(', ')
      yield* run(
        `INSERT INTO api_key (id, account, name, prefix, hash, may_write, may_read, created_ms) VALUES ${keys}`,
      )
    })
  await add(Array.from({ length: ACCOUNTS }, (_, i) => i))
  const change = (sql: string) => postgres.write(() => run(sql))

  /** A node, and the numbers of rows of the statements since it was last asked. */
  function openNode(path = join(freshDir(), 'known-keys.sqlite')) {
    const replica = openReplica(path, silentLog)
    const clock = createManualClock()
    const ring = loadKeyRing(replica.file.db, clock)
    const removed: string[] = []
    let rows: number[] = []
    let [reading, mostReading] = [0, 0]
    function* counting<T>(script: Script<T>): Script<T> {
      let step = script.next()
      while (!step.done) {
        const result: Result = yield step.value
        rows.push(result.rows.length)
        step = script.next(result)
      }
      return step.value
    }
    const read = async <T>(script: () => Script<T>) => {
      mostReading = Math.max(mostReading, ++reading)
      try {
        return await postgres.read(() => counting(script()))
      } finally {
        reading--
      }
    }
    const suspensions = loadSuspensions(replica.file.db, ring)
    const options = { postgres: { read }, replica, ring, suspensions, clock, log: silentLog }
    const follow = createFollowChanges({ ...options, onRemoved: (account) => void removed.push(account) })
    /** Follows once more; the rows that it read. */
    async function pull(): Promise<number[]> {
      rows = []
      await follow.catchUp()
      return rows
    }
    const { db } = replica.file
    const inFile = () => db.query<{ n: number }, []>('SELECT count(*) n FROM api_key').get()!.n
    const close = () => replica.file.close()
    return {
      pull,
      catchUp: follow.catchUp,
      mostReading: () => mostReading,
      ring,
      removed,
      clock,
      db,
      inFile,
      path,
      close,
      replica,
      knows: (i: number) => ring.find(secretOf(i)) !== undefined,
    }
  }
  return { add, change, openNode }
}

const total = (rows: readonly number[]) => rows.reduce((sum, n) => sum + n, 0)

describe.skipIf(missing('postgresql') !== undefined)('a node follows PostgreSQL', () => {
  test('the first time by all rows in pages of 1,000, then by those that changed, also after a restart', async () => {
    const { add, change, openNode } = await openNodes()
    const node = openNode()
    const first = await node.pull()
    expect([total(first) >= 2 * ACCOUNTS, Math.max(...first), node.inFile()]).toEqual([true, 1000, ACCOUNTS])
    expect(await node.pull()).toEqual([1])
    await add([ACCOUNTS])
    expect(node.knows(ACCOUNTS)).toBe(false)
    expect(total(await node.pull())).toBe(1 + 2) // its account and its key
    expect([node.knows(ACCOUNTS), node.knows(7)]).toEqual([true, true])
    await change("UPDATE api_key SET revoked_ms = 1 WHERE id = 'key_7'")
    expect(total(await node.pull())).toBe(1 + 1)
    expect([node.knows(7), node.knows(8), node.inFile()]).toEqual([false, true, ACCOUNTS])
    node.close()

    await change("UPDATE api_key SET revoked_ms = 1 WHERE id = 'key_8'")
    const again = openNode(node.path)
    expect(again.knows(8)).toBe(true)
    expect(total(await again.pull())).toBe(1 + 1)
    expect([again.knows(8), again.knows(9)]).toEqual([false, true])
    again.close()
  })

  test('of several calls at once one reads at a time, and each knows what was committed before it', async () => {
    const { change, openNode } = await openNodes()
    const node = openNode()
    const first = node.catchUp()
    const next = node.catchUp()
    const afterFirst = first.then(async () => {
      await node.catchUp()
    })
    await change("UPDATE api_key SET revoked_ms = 1 WHERE id = 'key_7'")
    await node.catchUp()
    expect(node.knows(7)).toBe(false)
    await Promise.all([first, next, afterFirst])
    expect(node.mostReading()).toBe(1)
    node.close()
  })

  test('a thousand deletions at once cost a thousand rows', async () => {
    const { change, openNode } = await openNodes()
    const node = openNode()
    await node.pull()
    await change(
      "WITH gone AS (DELETE FROM account WHERE id < 'acc_2' RETURNING id) INSERT INTO removal SELECT id, 0 FROM gone",
    )
    const rows = await node.pull()
    const gone = node.removed.length
    expect(gone).toBeGreaterThan(1000)
    expect(total(rows)).toBe(1 + gone)
    expect([node.knows(1), node.knows(2), node.inFile()]).toEqual([false, true, ACCOUNTS - gone])
    expect(node.db.query('SELECT count(*) n FROM removal').get()).toEqual({ n: gone })
    node.close()
  })

  test('once an hour all of it is compared, some pages of each poll, and what differs is put right', async () => {
    const { change, openNode } = await openNodes()
    const node = openNode()
    await node.pull()
    node.db.run('DELETE FROM api_key WHERE hash = ?', [hashOf(3)])
    node.ring.delete(hashOf(4))
    node.db.run("INSERT INTO account (id, operator) VALUES ('acc_made_up', 0)")
    node.clock.passS(HOUR_S)
    let polls = 0
    do {
      expect(total(await node.pull())).toBeLessThanOrEqual(4 * 1000 + 10)
      if (++polls === 1) await change("UPDATE api_key SET revoked_ms = 1 WHERE id = 'key_5'")
    } while (polls < 3)
    expect([node.inFile(), node.knows(4), node.knows(5)]).toEqual([ACCOUNTS - 1, true, false])
    expect(node.removed).toEqual(['acc_made_up'])
    expect(node.db.query('SELECT count(*) n FROM account').get()).toEqual({ n: ACCOUNTS })
    expect(await node.pull()).toEqual([1])
    node.close()
  })

  test('comparing all of it writes no row that is the same', async () => {
    const { openNode } = await openNodes()
    const node = openNode()
    await node.pull()
    const changes = () => node.db.query<{ n: number }, []>('SELECT total_changes() n').get()!.n
    const before = changes()
    node.clock.passS(HOUR_S)
    for (let polls = 0; polls < 3; polls++) await node.pull()
    expect(changes()).toBe(before + 1) // the moment up to which all is known
    node.close()
  })

  test('while the disk is full a dispute holds, and ends, at once', async () => {
    const { change, openNode } = await openNodes()
    const node = openNode()
    await node.pull()
    node.db.run('PRAGMA query_only = ON')
    await change("UPDATE account SET disputed_by = 'per_1' WHERE id = 'acc_3'")
    await node.pull()
    expect(node.replica.disputedBy('acc_3')).toBe('per_1')
    node.db.run('PRAGMA query_only = OFF')
    for (let polls = 0; polls < 3; polls++) await node.pull()
    node.close()
    const again = openNode(node.path)
    expect([again.replica.disputedBy('acc_3'), again.replica.disputedBy('acc_4')]).toEqual(['per_1', undefined])
    await change("UPDATE account SET disputed_by = NULL WHERE id = 'acc_3'")
    await again.pull()
    expect(again.replica.disputedBy('acc_3')).toBeUndefined()
    again.close()
  })

  test('a change that the file does not take while all of it is compared is compared again', async () => {
    const { change, openNode } = await openNodes()
    const node = openNode()
    await node.pull()
    node.clock.passS(HOUR_S)
    await node.pull() // compares all accounts and some keys
    node.db.run("CREATE TRIGGER full BEFORE UPDATE ON account BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    await change("UPDATE account SET disputed_by = 'per_1' WHERE id = 'acc_3'")
    await node.pull()
    node.db.run('DROP TRIGGER full')
    for (let polls = 0; polls < 3; polls++) await node.pull()
    expect(node.db.query("SELECT disputed_by FROM account WHERE id = 'acc_3'").get()).toEqual({ disputed_by: 'per_1' })
    node.close()
  })

  test('of a database that went back everything is read', async () => {
    const { add, change, openNode } = await openNodes()
    const node = openNode()
    await add([ACCOUNTS])
    await node.pull()
    await change(`DELETE FROM account WHERE id = 'acc_${ACCOUNTS}'`)
    await change('UPDATE change_counter SET version = 1')
    expect(total(await node.pull())).toBeGreaterThan(2 * ACCOUNTS)
    expect([node.knows(ACCOUNTS), node.knows(0), node.removed]).toEqual([false, true, [`acc_${ACCOUNTS}`]])
    node.close()
  })
})
