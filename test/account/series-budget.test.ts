import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import pino from 'pino'
import { createSeriesBudget } from '../../src/account/series-budget.ts'
import type { SqliteFile } from '../../src/state/open-sqlite.ts'
import { until } from '../support/until.ts'
import { openFreshDatabase, silentLog } from './accounts-cast.ts'

function addAccounts({ db, write }: SqliteFile, ...ids: string[]): void {
  const insert = db.query("INSERT INTO account (id, name, email, operator, created_ms) VALUES (?1, ?1, '', 0, 0)")
  write(() => {
    for (const id of ids) insert.run(id)
  })
}

function open(max: number, path?: string, flushAfterMs = 60_000) {
  const database = openFreshDatabase(path)
  if (path === undefined) addAccounts(database, 'a', 'b')
  return { database, ...createSeriesBudget({ database, max, log: silentLog, flushAfterMs }) }
}

describe('a budget', () => {
  test('of 0 has no limit and costs nothing', () => {
    const { admit, use, database } = open(0)
    for (let i = 0; i < 100; i++) expect(admit('a', `p${i}`, '', undefined)).toBe(true)
    expect(use('a')).toEqual({ used: 0, max: 0 })
    expect(database.db.query('SELECT * FROM series').all()).toEqual([])
  })

  test('persists across a restart, also with a lower limit', () => {
    const first = open(10)
    first.admit('a', 'p', '', ['1', '2', '3'])
    first.close()
    const path = first.database.path
    first.database.close()
    const again = open(2, path)
    expect(again.use('a')).toEqual({ used: 3, max: 2 })
    expect(again.admit('a', 'p', '', ['1', '2', '3'])).toBe(true)
    expect(again.admit('a', 'p', '', ['4'])).toBe(false)
    again.database.close()
  })

  test('is written in the background soon after a change', async () => {
    const { admit, database } = open(5000, undefined, 20)
    for (let i = 0; i < 3000; i++) admit('a', `p${i}`, '', undefined)
    const rows = () => database.db.query<{ n: number }, []>('SELECT count(*) n FROM series').get()!.n
    expect(rows()).toBe(0)
    await until('all are written', () => rows() === 3000)
    database.close()
  })

  test('is freed when its account is deleted; an unknown account is not written', () => {
    const { admit, dropAccount, use, close, database } = open(10)
    admit('a', 'p', '', ['1', '2', '3'])
    admit('nobody', 'p', '', ['1'])
    close()
    database.write(() => database.db.run("DELETE FROM account WHERE id = 'a'"))
    dropAccount('a')
    expect(use('a').used).toBe(0)
    expect(database.db.query('SELECT * FROM series').all()).toEqual([])
    expect(admit('a', 'p', '', ['1', '2', '3'])).toBe(true)
    expect(use('a').used).toBe(3)
    database.close()
  })

  test('keeps working while it cannot be written, logs it, and is written later', async () => {
    const lines: string[] = []
    const log = pino({}, { write: (line) => void lines.push(line) })
    const database = openFreshDatabase()
    addAccounts(database, 'a')
    const budget = createSeriesBudget({ database, max: 10, log, flushAfterMs: 20 })
    database.db.run('ALTER TABLE series RENAME TO elsewhere')
    database.db.run('CREATE VIEW series AS SELECT * FROM elsewhere')
    expect(budget.admit('a', 'p', '', undefined)).toBe(true)
    await until('the failure is logged', () => lines.some((line) => line.includes('could not be written')))
    expect(budget.admit('a', 'p', '', undefined)).toBe(true)
    database.db.run('DROP VIEW series')
    database.db.run('ALTER TABLE elsewhere RENAME TO series')
    await until('the series is written', () => database.db.query('SELECT * FROM series').all().length === 1)
    database.close()
  })

  test('a write that fails after the close is not tried again', async () => {
    const database = openFreshDatabase()
    addAccounts(database, 'a')
    const commits: { reject(reason: Error): void }[] = []
    const commit = () => {
      const { promise, reject } = Promise.withResolvers<never>()
      commits.push({ reject })
      return promise
    }
    const flushAfterMs = 23 // no other timer has it
    const budget = createSeriesBudget({ database: { ...database, commit }, max: 10, log: silentLog, flushAfterMs })
    budget.admit('a', 'p', '', undefined)
    await until('the first write', () => commits.length === 1)
    budget.close()
    const timers = spyOn(globalThis, 'setTimeout')
    commits[0]!.reject(new Error('the disk is full'))
    await new Promise(setImmediate)
    expect(timers.mock.calls.filter(([, ms]) => ms === flushAfterMs)).toEqual([])
    timers.mockRestore()
    expect(commits.length).toBe(1)
    expect(database.db.query('SELECT * FROM series').all().length).toBe(1)
    database.close()
  })

  test('behaves like a plain set of triples for any requests', () => {
    const word = fc.constantFrom('', 'a', 'b', 'ab', 'ä', '\u{1f600}')
    const request = fc.record({
      account: fc.constantFrom('a', 'b'),
      process: word,
      meta: word,
      names: fc.option(fc.array(word, { minLength: 1, maxLength: 4 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (requests, max) => {
        const { admit, use, database } = open(max)
        const model: Record<string, Set<string>> = { a: new Set(), b: new Set() }
        for (const { account, process, meta, names } of requests) {
          const triples = (names ?? [null]).map((name) => JSON.stringify([process, meta, name]))
          const next = new Set([...model[account]!, ...triples])
          const fits = next.size <= max || next.size === model[account]!.size
          expect(admit(account, process, meta, names)).toBe(fits)
          if (fits) model[account] = next
          expect(use(account).used).toBe(model[account]!.size)
        }
        database.close()
      }),
      { numRuns: 20 },
    )
  })
})
