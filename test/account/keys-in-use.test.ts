// Keys are found by their exact text while in use: whatever ends a key must end that, too.
import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'

test('a key that was just used fails at once when it is revoked, rotated without overlap, expired, or its account is gone', async () => {
  await using app = await startApp()
  const { keys, findKey } = app.rooms.accounts
  const create = () => keys.create(app.account, 'k', ['write'])
  const [revoked, rotated, expiring] = [await create(), await create(), await create()]
  for (const { secret } of [revoked, rotated, expiring])
    for (let i = 0; i < 2; i++) expect(findKey(secret)).toBeDefined()
  await keys.revoke(app.account, revoked.id)
  expect(findKey(revoked.secret)).toBeUndefined()
  await keys.rotate(app.account, rotated.id, 0)
  expect(findKey(rotated.secret)).toBeUndefined()
  await keys.rotate(app.account, expiring.id, 10)
  expect(findKey(expiring.secret)).toBeDefined()
  app.clock.pass(10_000_001)
  expect(findKey(expiring.secret)).toBeUndefined()
  expect(findKey(app.keys.owner)).toBeDefined()
  keys.dropAccount(app.account)
  expect(findKey(app.keys.owner)).toBeUndefined()
})
