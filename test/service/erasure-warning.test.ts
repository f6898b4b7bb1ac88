// Why a deleted account is not erased is the operator's business: a store's answer may quote what is another account's.
import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'

test('only the operator reads what keeps a store from erasing a deleted account', async () => {
  const reason = 'clickhouse: while executing a mutation: account = acc_gone'
  await using app = await startApp({
    signup: 'open',
    replace: (rooms) => ({
      ...rooms,
      eraseAccounts: { ...rooms.eraseAccounts, waiting: () => ({ accounts: 1, reasons: [reason] }) },
    }),
  })
  const bob = await app.rooms.accounts.create({
    email: 'bob@example.com',
    password: 'a long password',
    address: '192.0.2.9',
  })
  const warningsOf = async (key: string) => (await app.fetch('/api/health', { key })).json.warnings
  expect(await warningsOf(app.keys.reader)).toMatchObject([
    { code: 'erasure_waiting', detail: expect.stringContaining(reason) },
  ])
  expect(await warningsOf(bob.key.secret)).toEqual([])
})
