// Resolved and ignored groups of exceptions: on SQLite and on a real PostgreSQL.
import { afterAll, describe, expect, test } from 'bun:test'
import { createGroupStates } from '../../src/account/group-states.ts'
import { fingerprint, formerFingerprint } from '../../src/event/fingerprint.ts'
import { createIsIgnored } from '../../src/service/open-watch-room.ts'
import { all, insertRows, run, type Script, type SqlDatabase, type Statement } from '../../src/state/database.ts'
import { openPostgres } from '../../src/state/postgres.ts'
import { createSqliteDatabase } from '../../src/state/sqlite-database.ts'
import { missing } from '../support/needs.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { ADA, codeOf, databases, openFresh, openFreshDatabase } from './accounts-cast.ts'

const state = (fingerprint: string, status: 'resolved' | 'ignored', atUs: number, process = 'p') => ({
  ...{ fingerprint, process, status, by: 'ada@example.com', atUs },
})

for (const { database, open } of databases()) {
  const accounts = await open()
  const { clock, groupStates } = accounts
  let n = 0
  const signUp = async () => {
    const credentials = { email: `a${n++}@example.com`, password: 'correct horse battery', address: '192.0.2.1' }
    return (await accounts.create(credentials)).account.id
  }
  const list = async (account: string) =>
    (await groupStates.list(account)).toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))

  describe(`states of groups in ${database}`, () => {
    afterAll(() => accounts.close())

    test('a group has the newest state, those of older fingerprints stay, and other accounts see none', async () => {
      const [account, other] = [await signUp(), await signUp()]
      const now = clock.wallUs()
      const old = state('v1:00', 'ignored', now, 'pé😀"\\')
      await groupStates.put(account, [old, state('v9:ff', 'ignored', now)])
      await groupStates.put(account, [state('v9:ff', 'resolved', now + 1)])
      expect(await list(account)).toEqual([old, state('v9:ff', 'resolved', now + 1)])
      expect((await groupStates.list(account)).filter(({ status }) => status === 'ignored')).toEqual([old])
      expect(await list(other)).toEqual([])
      await groupStates.remove(other, [old])
      await groupStates.remove(account, [{ ...old, process: 'another' }])
      expect(await list(account)).toHaveLength(2)
      await groupStates.remove(account, [old])
      expect(await list(account)).toHaveLength(1)
      await accounts.delete(account, other)
      expect(await list(account)).toEqual([])
      expect(await codeOf(() => groupStates.put(account, [old]))).toBe('not_found')
    })
  })
}

test('an account has at most 10,000 of them; resolved ones leave after a year', async () => {
  await using accounts = openFresh()
  const { clock, groupStates } = accounts
  const { id } = (await accounts.create(ADA)).account
  const list = () => groupStates.list(id)
  const now = clock.wallUs()
  const many = Array.from({ length: 9_999 }, (_, i) => state(`v4:${i}`, 'ignored', now))
  await groupStates.put(id, [...many, state('v4:r', 'resolved', now)])
  const one = state('v4:more', 'ignored', now)
  expect(await codeOf(() => groupStates.put(id, [one]))).toBe('limit_reached')
  expect(await list()).toHaveLength(10_000)
  await groupStates.put(id, [state('v4:5', 'resolved', now)]) // has a state already
  clock.passS(366 * 86_400)
  await groupStates.put(id, [{ ...one, atUs: clock.wallUs() }])
  const left = await list()
  expect(left).toHaveLength(9_999)
  expect(left.every(({ status }) => status === 'ignored')).toBe(true)
  await groupStates.remove(id, many)
  expect((await list()).map(({ fingerprint }) => fingerprint)).toEqual(['v4:more'])
})

const BY_KEY = {
  SQLite: ['EXPLAIN QUERY PLAN', 'SEARCH exception_group USING INDEX', 'account=? AND fingerprint=? AND process=?'],
  PostgreSQL: ['EXPLAIN', 'Index Scan using exception_group_pkey'],
} as const

test.each(Object.keys(BY_KEY) as (keyof typeof BY_KEY)[])(
  'an exception reads the decision about its group by key, however many groups have one: %s',
  async (name) => {
    if (name === 'PostgreSQL' && missing('postgresql') !== undefined) return
    const database =
      name === 'SQLite'
        ? createSqliteDatabase(openFreshDatabase())
        : openPostgres(await (await sharedPostgres()).createDatabase())
    const account = { id: 'acc', name: 'a', email: 'ada@example.com', operator: 0, created_ms: 0 }
    await database.write(() => insertRows('account', [account]))
    const read: (Statement & { readonly rows: number })[] = []
    function* noted<T>(script: Script<T>): Script<T> {
      let step = script.next()
      while (!step.done) {
        const result = yield step.value
        read.push({ ...step.value, rows: result.rows.length })
        step = script.next(result)
      }
      return step.value
    }
    const states = createGroupStates({ ...database, read: (script) => database.read(() => noted(script())) }, () => 1)
    const others = Array.from({ length: 9_998 }, (_, i) => state(`v5:${i}`, 'ignored', 1))
    await states.put('acc', [...others, state(fingerprint('noise'), 'ignored', 1)])
    await states.put('acc', [state(formerFingerprint('noise of 2.0'), 'ignored', 1)])
    const isIgnored = createIsIgnored({ groupStates: states })
    const ask = (exception: string) =>
      isIgnored({ kind: 'exception', account: 'acc', process: 'p', meta: '', exception, stamp: { us: 2, sub: 0 } }, 2)
    expect([await ask('noise'), await ask('noise of 2.0'), await ask('disk full')]).toEqual([true, true, false])
    expect(read.map(({ rows }) => rows)).toEqual([1, 1, 0])
    await database.write(() => run('ANALYZE exception_group'))
    const [explain, ...by] = BY_KEY[name]
    const plan = JSON.stringify(await database.read(() => all(`${explain} ${read[0]!.sql}`, ...read[0]!.values)))
    for (const words of by) expect(plan).toContain(words)
    await database.close()
  },
)

test('1,000 states change with few statements: each is a round trip while other writers wait', async () => {
  const database = createSqliteDatabase(openFreshDatabase())
  const account = { id: 'acc', name: 'a', email: 'ada@example.com', operator: 0, created_ms: 0 }
  await database.write(() => insertRows('account', [account]))
  let statements = 0
  function* counted<T>(script: Script<T>): Script<T> {
    let step = script.next()
    while (!step.done) {
      statements++
      step = script.next(yield step.value)
    }
    return step.value
  }
  const counting: SqlDatabase = { ...database, write: (script) => database.write(() => counted(script())) }
  const many = Array.from({ length: 1_000 }, (_, i) => state('v4:a', 'ignored', 1, `process ${i}`))
  const states = createGroupStates(counting, () => 1)
  await states.put('acc', many)
  await states.remove('acc', many)
  expect(statements).toBeLessThan(10)
  await database.close()
})
