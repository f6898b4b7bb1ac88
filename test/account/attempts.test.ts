// How passwords are compared and attempts limited, which is the same whatever database holds the accounts.
import { expect, test } from 'bun:test'
import { ADA, BOB, codeOf, openFresh, problemOf } from './accounts-cast.ts'

test('sign-up is rate-limited per network and hour', async () => {
  await using accounts = openFresh({ setupCodeRequired: true, signUpsMax: 1 })
  const create = (address: string) => problemOf(() => accounts.create({ ...ADA, address }))
  await create('2001:db8::1') // the same network as the next
  expect(await create('2001:db8::abcd')).toMatchObject({ code: 'rate_limited', retryAfterS: 3600 })
  expect(await create('2001:db9::1')).toMatchObject({ code: 'setup_code_invalid' })
  expect(await codeOf(() => accounts.create(BOB))).toBe('setup_code_invalid')
})

test('a password is the same in every Unicode normalization form', async () => {
  await using accounts = openFresh()
  await accounts.create({ ...ADA, password: 'caf\u00e9 cr\u00e8me' })
  await accounts.people.signIn({ ...ADA, password: 'cafe\u0301 cre\u0300me' })
})

test('every character of a password counts, also beyond 72 bytes', async () => {
  await using accounts = openFresh()
  const long = 'p'.repeat(1023)
  await accounts.create({ ...ADA, password: `${long}1` })
  expect(await codeOf(() => accounts.people.signIn({ ...ADA, password: `${long}2` }))).toBe('credentials_invalid')
  await accounts.people.signIn({ ...ADA, password: `${long}1` })
})

test('ten failures lock a known or unknown account for that address only, for a limited time', async () => {
  await using accounts = openFresh()
  await accounts.create(ADA)
  for (const { email } of [ADA, { email: 'unknown@example.com' }]) {
    const tryIt = (password: string) => problemOf(() => accounts.people.signIn({ ...ADA, email, password }))
    for (let i = 0; i < 10; i++) expect((await tryIt('wrong')).code).toBe('credentials_invalid')
    expect(await tryIt(ADA.password)).toMatchObject({ code: 'rate_limited', retryAfterS: 90 })
  }
  await accounts.people.signIn({ ...ADA, address: BOB.address })
  accounts.clock.passS(90)
  await accounts.people.signIn(ADA)
})

test('password failures count per session and do not lock out other sessions', async () => {
  await using accounts = openFresh()
  const { owner } = await accounts.create(ADA)
  for (let i = 0; i < 10; i++) await problemOf(() => accounts.people.signIn({ ...ADA, password: 'wrong' }))
  const confirm = (session: string, password = ADA.password) =>
    accounts.people.confirmPassword(owner.id, { password, session })
  await confirm('mine')
  for (let i = 0; i < 10; i++) expect(await codeOf(() => confirm('stolen', 'x'))).toBe('password_wrong')
  expect(await codeOf(() => confirm('stolen'))).toBe('rate_limited')
  await confirm('mine')
})

test('rate-limits correct passwords as well, since each costs a hash', async () => {
  await using accounts = openFresh()
  await accounts.create(ADA)
  const signIns = async (count: number) => {
    for (let done = 0; done < count; done += 10)
      await Promise.all(Array.from({ length: 10 }, () => accounts.people.signIn(ADA)))
  }
  await signIns(200)
  expect(await codeOf(() => accounts.people.signIn(ADA))).toBe('rate_limited')
  await accounts.people.signIn({ ...ADA, address: BOB.address })
})

test('rate-limits attempts at many accounts from one address', async () => {
  await using accounts = openFresh()
  await accounts.create(ADA)
  const tryAt = (i: number) => codeOf(() => accounts.people.signIn({ ...ADA, email: `x${i}@example.com` }))
  for (let i = 0; i < 50; i++) expect(await tryAt(i)).toBe('credentials_invalid')
  expect(await codeOf(() => accounts.people.signIn(ADA))).toBe('rate_limited')
  await accounts.people.signIn({ ...ADA, address: BOB.address })
})
