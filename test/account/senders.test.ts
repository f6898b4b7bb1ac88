// Who is refused first while the disk is nearly full.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSenders } from '../../src/account/senders.ts'
import { countPerTurn } from '../support/count-turns.ts'
import { until } from '../support/until.ts'
import { ADA, createManualClock, databases, type OpenedAccounts, openFresh, silentLog } from './accounts-cast.ts'

const WEEK_S = 7 * 86_400

/** The first one is the operator's. */
async function createAccount(accounts: OpenedAccounts, name: string): Promise<string> {
  return (await accounts.create({ ...ADA, email: `${name}@example.com`, address: `${name}-net` })).account.id
}

const send = ({ use }: OpenedAccounts, account: string, bytes: number) =>
  use.add(new Map([[account, { bytes, records: 1 }]]), 'points')

describe.each(databases())('while the disk is nearly full, with $database', ({ open }) => {
  test('the account that sent the most is refused first, a tenth of all bytes or all', async () => {
    const clock = createManualClock()
    await using accounts = await open({ clock })
    const [ops, bob, eve] = [
      await createAccount(accounts, 'ops'),
      await createAccount(accounts, 'bob'),
      await createAccount(accounts, 'eve'),
    ]
    clock.passS(WEEK_S + 1)
    send(accounts, ops, 9000)
    send(accounts, bob, 100)
    send(accounts, eve, 900)
    const refused = (fullness: number) => {
      accounts.senders.judge(0)
      return [ops, bob, eve].map((account) => accounts.senders.judge(fullness)?.(account))
    }
    expect(refused(0)).toEqual([undefined, undefined, undefined])
    expect(refused(0.01)).toEqual([false, false, true])
    expect(refused(0.9)).toEqual([false, false, true])
    expect(refused(0.91)).toEqual([false, true, true])
    expect(refused(1)).toEqual([false, true, true])
  })

  test('200 new accounts are one, and an old one with more bytes than each of them is not refused', async () => {
    const clock = createManualClock()
    await using accounts = await open({ clock, signUpsMax: 1000 })
    await createAccount(accounts, 'ops')
    const bob = await createAccount(accounts, 'bob')
    clock.passS(WEEK_S + 1)
    const eves: string[] = []
    for (let i = 0; i < 200; i++) eves.push(await createAccount(accounts, `eve${i}`))
    send(accounts, bob, 50)
    for (const eve of eves) send(accounts, eve, 10)
    const isRefused = accounts.senders.judge(0.01)!
    expect([isRefused(bob), ...new Set(eves.map(isRefused))]).toEqual([false, true])
    clock.passS(WEEK_S + 1)
    for (const eve of eves) send(accounts, eve, 10)
    send(accounts, bob, 50)
    expect(accounts.senders.judge(0.01)!(bob)).toBe(true)
  })
})

test('an account alone is not refused, and an account that sends nothing loses nothing', async () => {
  await using accounts = openFresh()
  const ops = await createAccount(accounts, 'ops')
  send(accounts, ops, 1000)
  expect(accounts.senders.judge(1)!(ops)).toBe(false)
  accounts.senders.judge(0)
  const bob = await createAccount(accounts, 'bob')
  expect(accounts.senders.judge(0.5)!(bob)).toBe(false)
})

test('who passes the limit between two looks is refused at once', async () => {
  const clock = createManualClock()
  await using accounts = openFresh({ clock })
  const [, bob, eve] = [
    await createAccount(accounts, 'ops'),
    await createAccount(accounts, 'bob'),
    await createAccount(accounts, 'eve'),
  ]
  clock.passS(WEEK_S + 1)
  send(accounts, bob, 100)
  const isRefused = accounts.senders.judge(0.1)!
  expect([isRefused(bob), isRefused(eve)]).toEqual([true, false])
  send(accounts, eve, 200)
  expect(isRefused(eve)).toBe(true)
})

test('whatever was sent: who is refused sent no less than who is not, and together enough', async () => {
  const clock = createManualClock()
  await using accounts = openFresh({ clock, signUpsMax: 1000 })
  await createAccount(accounts, 'ops')
  const names: string[] = []
  for (let i = 0; i < 12; i++) names.push(await createAccount(accounts, `a${i}`))
  clock.passS(WEEK_S + 1)
  const sizes = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 12, maxLength: 12 })
  fc.assert(
    fc.property(sizes, fc.double({ min: 0.001, max: 1, noNaN: true }), (bytes, fullness) => {
      clock.passS(2 * 86_400)
      for (const [i, name] of names.entries()) if (bytes[i]! > 0) send(accounts, name, bytes[i]!)
      const isRefused = accounts.senders.judge(fullness)!
      const of = (refused: boolean) => bytes.filter((_, i) => isRefused(names[i]!) === refused)
      const total = bytes.reduce((sum, n) => sum + n, 0)
      if (total === 0) return expect(of(true)).toEqual([])
      expect(Math.min(...of(true))).toBeGreaterThan(Math.max(...of(false), -1))
      expect(of(true).reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(total * fullness - 1)
    }),
    { numRuns: 100 },
  )
})

test('10,000 senders are judged in turns of the event loop', async () => {
  using db = new Database(':memory:')
  db.run('CREATE TABLE account (id TEXT PRIMARY KEY, operator INTEGER, created_ms INTEGER)')
  db.run("INSERT INTO account VALUES ('acc_9999', 0, 0)")
  const clock = createManualClock()
  let note = () => {}
  const senders = createSenders({
    ...{ db, count: () => 10_000, nowMs: () => clock.wallUs() / 1000, monotonicUs: clock.monotonicUs, log: silentLog },
    use: {
      bytesOf: (account) => Number(account.slice('acc_'.length)),
      *all() {
        for (let i = 0; i < 10_000; i++) {
          note()
          yield [`acc_${i}`, i] as const
        }
      },
    },
  })
  const most = await countPerTurn(async (counted) => {
    note = counted
    await until('they are judged', () => senders.judge(0.0001) !== undefined)
  })
  expect(most).toBeWithin(1, 1_001)
  expect(['acc_9999', 'acc_1'].map(senders.judge(0.0001)!)).toEqual([true, false])
})
