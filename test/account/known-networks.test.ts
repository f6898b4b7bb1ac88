import { expect, test } from 'bun:test'
import { createKnownNetworks } from '../../src/account/known-networks.ts'
import { createSqliteDatabase } from '../../src/state/sqlite-database.ts'
import { ADA, BOB, createManualClock, openFresh, openFreshDatabase } from './accounts-cast.ts'

const signIn = (account: string, address: string) => ({
  ...{ account, action: 'signed_in' as const, actor: ADA.email, key: null, target: null, detail: null, address },
})

test('a network is known for 30 days after a sign-in from it, also after a restart', async () => {
  const clock = createManualClock()
  const accounts = openFresh({ clock })
  const { account } = await accounts.create(ADA)
  await accounts.audit.note(signIn(account.id, '2001:db8:1:2::7'))
  await accounts.audit.note({ ...signIn(account.id, BOB.address), action: 'sign_in_failed' })
  await accounts.close()
  const file = openFreshDatabase(accounts.path)
  const networks = createKnownNetworks(createSqliteDatabase(file), () => clock.wallUs() / 1000)
  expect(await networks.has('2001:db8:1:2::8')).toBe(true)
  expect(await networks.has('2001:db8:1:3::8')).toBe(false)
  expect(await networks.has(BOB.address)).toBe(false)
  networks.note(BOB.address)
  expect(await networks.has(BOB.address)).toBe(true)
  clock.passS(30 * 86_400)
  expect(await networks.has('2001:db8:1:2::8')).toBe(false)
  file.close()
})

test('a database that is away is asked again, and nobody is refused meanwhile', async () => {
  let isAway = true
  const read = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([{ address: ADA.address, ms: 5 }]))
  const networks = createKnownNetworks({ read: read as never }, () => 6)
  expect(await networks.has(ADA.address)).toBe(false)
  isAway = false
  expect(await networks.has(ADA.address)).toBe(true)
})
