// The operator looks at accounts, suspends and resumes them: in both databases, on two nodes, without PostgreSQL.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadKeyRing } from '../../src/account/key-ring.ts'
import { createOperator } from '../../src/account/operator.ts'
import { createFollowChanges } from '../../src/account/shared/follow-changes.ts'
import { openReplica } from '../../src/account/shared/replica.ts'
import { loadSuspensions, type Suspension } from '../../src/account/suspensions.ts'
import { run } from '../../src/state/database.ts'
import { openPostgres } from '../../src/state/postgres.ts'
import type { AccountSort } from '../../src/wire/operator.ts'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import {
  ADA,
  BOB,
  codeOf,
  createManualClock,
  databases,
  freshDir,
  type OpenedAccounts,
  openFreshDatabase,
  silentLog,
} from './accounts-cast.ts'
import { freshUrl, useNodes } from './shared/use-nodes.ts'

const CY = { ...BOB, email: 'cy@example.com' }
const US = 1000

describe.each(databases())('the operator in $database', ({ open }) => {
  async function openThree(options = {}) {
    const accounts = await open(options)
    const ada = await accounts.create(ADA)
    accounts.clock.passS(60)
    const bob = await accounts.create(BOB)
    accounts.clock.passS(60)
    const cy = await accounts.create(CY)
    return { accounts, ada, bob, cy }
  }
  const list = async (
    accounts: OpenedAccounts,
    question: { sort?: AccountSort; q?: string; isSuspended?: boolean } = {},
  ) => (await accounts.operator.list({ sort: 'created', isSuspended: false, limit: 10, ...question })).accounts

  test('suspends an account with all of its keys, also later ones, and no other account', async () => {
    const { accounts, bob, cy } = await openThree()
    await using _closed = accounts
    const id = bob.account.id
    const began = accounts.clock.wallUs()
    expect(await accounts.operator.suspend(id)).toMatchObject({ id, suspended_at: new Date(began / US).toISOString() })
    const later = await accounts.keys.create(id, 'later', ['read'])
    for (const { secret } of [bob.key, later]) expect(accounts.findKey(secret)).toMatchObject({ isSuspended: true })
    expect(accounts.findKey(cy.key.secret)).toMatchObject({ isSuspended: false })
    accounts.clock.passS(60)
    await accounts.operator.suspend(id)
    const known = (): Suspension[] => [...accounts.suspensions.all()]
    expect(known()).toEqual([{ account: id, fromUs: began, toUs: undefined }])
    expect(await list(accounts, { isSuspended: true })).toMatchObject([{ id }])
    expect(await accounts.operator.resume(id)).toMatchObject({ suspended_at: null })
    expect(accounts.findKey(bob.key.secret)).toMatchObject({ isSuspended: false })
    expect(known()).toEqual([{ account: id, fromUs: began, toUs: began + 60e6 }])
    accounts.clock.passS(60)
    await accounts.operator.resume(id)
    expect(known()).toEqual([{ account: id, fromUs: began, toUs: began + 60e6 }])
  })

  test('is still suspended after a restart, and resumed after another', async () => {
    const { accounts, bob } = await openThree()
    const { path, clock } = accounts
    await accounts.operator.suspend(bob.account.id)
    await accounts.close()
    const again = await open({ path, clock })
    expect(again.findKey(bob.key.secret)).toMatchObject({ isSuspended: true })
    await again.operator.resume(bob.account.id)
    await again.close()
    await using last = await open({ path, clock })
    expect(last.findKey(bob.key.secret)).toMatchObject({ isSuspended: false })
    expect([...last.suspensions.all()]).toHaveLength(1)
  })

  test('has an account that is neither suspended nor handed to a suspended one', async () => {
    const { accounts, ada, bob } = await openThree()
    await using _closed = accounts
    expect(await codeOf(() => accounts.operator.suspend(ada.account.id))).toBe('operator_needed')
    expect(await codeOf(() => accounts.operator.findOther(ada.account.id))).toBe('operator_needed')
    expect(await codeOf(() => accounts.operator.suspend('acc_none'))).toBe('not_found')
    expect(await codeOf(() => accounts.operator.resume('acc_none'))).toBe('not_found')
    await accounts.operator.suspend(bob.account.id)
    expect(await codeOf(() => accounts.delete(ada.account.id, BOB.email))).toBe('fields_invalid')
    await accounts.delete(bob.account.id)
    expect(accounts.suspensions.isSuspended(bob.account.id)).toBe(false)
  })

  test('orders accounts by what they use, finds them by a text, and pages', async () => {
    const { accounts, ada, bob, cy } = await openThree()
    await using _closed = accounts
    const byAccount = new Map([[bob.account.id, { bytes: 2500, records: 3 }]])
    accounts.use.add(byAccount, 'points')
    accounts.use.add(byAccount, 'exceptions')
    accounts.use.addEmail(bob.account.id)
    accounts.findKey(cy.key.secret)
    accounts.clock.passS(60)
    accounts.findKey(ada.key.secret)
    await accounts.keys.flush()
    const emails = async (sort: AccountSort) => (await list(accounts, { sort })).map(({ email }) => email[0]).join('')
    expect(await emails('created')).toBe('cba')
    expect((await emails('bytes'))[0]).toBe('b')
    expect(await emails('seen')).toBe('acb')
    expect(await list(accounts, { sort: 'bytes', q: 'BOB@' })).toEqual([
      {
        ...{ id: bob.account.id, name: BOB.email, email: BOB.email, created_at: bob.account.created_at },
        ...{ operator: false, suspended_at: null, seen_at: null },
        ...{ bytes: 5000, events: 6, exceptions: 3, emails: 1 },
      },
    ])
    const question = { sort: 'created', isSuspended: false, limit: 2 } as const
    const first = await accounts.operator.list(question)
    expect(first).toMatchObject({ found: 3, total: 3, suspended: 0 })
    const second = await accounts.operator.list({ ...question, after: first.next! })
    expect([...first.accounts, ...second.accounts].map(({ id }) => id)).toEqual(
      [cy, bob, ada].map(({ account }) => account.id),
    )
    expect(second.next).toBeNull()
    await accounts.delete(cy.account.id)
    expect((await list(accounts)).map(({ id }) => id)).toEqual([bob, ada].map(({ account }) => account.id))
  })
})

test('10,000 accounts are paged without a gap, in few rows at a time', async () => {
  const [{ open }] = databases() as [ReturnType<typeof databases>[number]]
  const file = openFreshDatabase()
  const path = file.path
  file.write(() => {
    const add = file.db.query('INSERT INTO account (id, name, email, operator, created_ms) VALUES (?1, ?1, ?1, 0, ?2)')
    for (let i = 0; i < 10_000; i++) add.run(`acc_${String(i).padStart(16, '0')}`, i % 7)
  })
  file.close()
  await using accounts = await open({ path })
  const seen = new Set<string>()
  const question = { sort: 'created', isSuspended: false, limit: 1000 } as const
  let after: { figure: number; id: string } | null = null
  let pages = 0
  do {
    const page: Awaited<ReturnType<typeof accounts.operator.list>> = await accounts.operator.list({
      ...question,
      ...(after && { after }),
    })
    for (const { id } of page.accounts) seen.add(id)
    after = page.next
    pages++
  } while (after !== null)
  expect([seen.size, pages]).toEqual([10_000, 10])
})

describe.skipIf(missing('postgresql') !== undefined)('on several nodes', () => {
  const { openNode } = useNodes()

  test('the other node refuses the keys, also one that is made there, and after a restart without PostgreSQL', async () => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    await a.create(ADA)
    const { account, key } = await a.create(BOB)
    await until('the other node knows the key', () => b.findKey(key.secret) !== undefined)
    await a.operator.suspend(account.id)
    expect(a.findKey(key.secret)).toMatchObject({ isSuspended: true })
    await until('the other node knows it', () => b.findKey(key.secret)?.isSuspended === true)
    const later = await b.keys.create(account.id, 'later', ['write'])
    expect(b.findKey(later.secret)).toMatchObject({ isSuspended: true })
    await b.close()
    const nowhere = await openNode('postgres://nobody@127.0.0.1:1/none', { replicaPath: b.replicaPath })
    expect(nowhere.findKey(key.secret)).toMatchObject({ isSuspended: true })
    expect(nowhere.suspensions.isSuspended(account.id)).toBe(true)
    await nowhere.close()
    const again = await openNode(url, { replicaPath: b.replicaPath })
    await a.operator.resume(account.id)
    await until('the other node knows it', () => again.findKey(key.secret)?.isSuspended === false)
  })

  test('of a suspension and a resumption at two nodes, both end with the later one, whatever their clocks', async () => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    await a.create(ADA)
    const { account, key } = await a.create(BOB)
    await until('the other node knows the key', () => b.findKey(key.secret) !== undefined)
    b.clock.passS(-5)
    const postgres = openPostgres(url)
    /** `a` hears of what `b` did before its own change returns to it. */
    const operator = createOperator({
      database: {
        ...postgres,
        async write(script) {
          const result = await postgres.write(script)
          await b.operator.resume(account.id)
          await until('a knows what b did', async () => {
            await a.keys.create(account.id, 'reads back', ['write'])
            return [...a.suspensions.all()][0]?.toUs !== undefined
          })
          return result
        },
      },
      ...{ suspensions: a.suspensions, use: a.use, log: silentLog, nowMs: () => a.clock.wallUs() / US },
    })
    await operator.suspend(account.id)
    for (const node of [a, b]) expect(node.findKey(key.secret)).toMatchObject({ isSuspended: false })
    await b.operator.suspend(account.id)
    await until('a knows of the second suspension', () => a.findKey(key.secret)!.isSuspended)
    await a.operator.resume(account.id)
    await until('b knows that it ended', () => !b.findKey(key.secret)!.isSuspended)
    await postgres.close()
  })

  test('a suspension holds in memory while the file of a node cannot take it, which has it later', async () => {
    const url = await freshUrl()
    const node = await openNode(url)
    await node.create(ADA)
    const { account, key } = await node.create(BOB)
    const [clock, postgres] = [createManualClock(), openPostgres(url)]
    const replica = openReplica(join(freshDir(), 'known-keys.sqlite'), silentLog)
    const { db } = replica.file
    const ring = loadKeyRing(db, clock)
    const suspensions = loadSuspensions(db, ring)
    const options = { postgres, replica, ring, suspensions, clock, log: silentLog }
    const follow = createFollowChanges({ ...options, onRemoved: () => {} })
    await follow.catchUp()
    db.run("CREATE TRIGGER fails BEFORE UPDATE ON account BEGIN SELECT RAISE(ABORT, 'no space'); END")
    await node.operator.suspend(account.id)
    for (let i = 0; i < 3; i++) await follow.catchUp()
    expect(ring.find(key.secret)).toMatchObject({ isSuspended: true })
    const inFile = () => loadSuspensions(db, { setSuspended() {} }).isSuspended(account.id)
    expect(inFile()).toBe(false)
    db.run('DROP TRIGGER fails')
    await follow.catchUp()
    expect(inFile()).toBe(true)
    await postgres.close()
    replica.file.close()
  })

  test('an account that a node of 2.0 makes or changes is not suspended', async () => {
    const url = await freshUrl()
    const node = await openNode(url)
    const { account, key } = await node.create(ADA)

    const postgres = openPostgres(url)
    await postgres.write(() => run("UPDATE account SET name = 'renamed', operator = 1 WHERE id = $1", account.id))
    await postgres.write(() =>
      run("INSERT INTO account (id, name, email, operator, created_ms) VALUES ('acc_20', 'n', 'e', 0, 1)"),
    )
    await until('the node knows it', () => node.count() === 2)
    expect(node.findKey(key.secret)).toMatchObject({ isSuspended: false })
    expect(node.suspensions.count()).toBe(0)
    await postgres.close()
  })
})
