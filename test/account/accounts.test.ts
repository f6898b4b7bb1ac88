import { afterAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { ADA, BOB, codeOf, databases, openFresh, problemOf } from './accounts-cast.ts'

for (const { database, open } of databases()) {
  const shared = await open()
  let n = 0
  /** A person of the shared accounts that no other test uses. */
  const one = () => ({ ...ADA, email: `n${++n}@example.com` })

  describe(`accounts in ${database}`, () => {
    afterAll(() => shared.close())

    test('only one of several concurrent first sign-ups succeeds, then sign-up is closed', async () => {
      await using accounts = await open({ signup: 'first' })
      expect(accounts.signUpOpen()).toBe(true)
      const tries = await Promise.allSettled([1, 2, 3, 4].map(() => accounts.create(one())))
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect([accounts.count(), accounts.signUpOpen()]).toEqual([1, false])
      expect(await codeOf(() => accounts.create(BOB))).toBe('signup_closed')
    })

    test('an address can be registered only once, regardless of case, also by concurrent requests', async () => {
      const ada = one()
      const tries = await Promise.allSettled([
        shared.create(ada),
        shared.create({ ...ada, email: ada.email.replace('example', 'EXAMPLE') }),
      ])
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await codeOf(() => shared.create(ada))).toBe('email_taken')
    })

    test('a change of the password ends the other sessions and needs the old password', async () => {
      const ada = one()
      const { owner, seat } = await shared.create(ada)
      const [kept, other] = [
        await shared.sessions.create({ ...seat, userAgent: '' }),
        await shared.sessions.create({ ...seat, userAgent: '' }),
      ]
      const session = (await shared.sessions.find(kept))!.id
      const change = { currentPassword: ada.password, newPassword: 'something else', session }
      expect(await codeOf(() => shared.people.changePassword(owner.id, { ...change, currentPassword: 'x' }))).toBe(
        'password_wrong',
      )
      const faulty = await problemOf(() => shared.people.changePassword(owner.id, { ...change, newPassword: 'x' }))
      expect(faulty.errors?.[0]?.pointer).toBe('/new_password')
      expect(await shared.sessions.find(other)).toBeDefined()
      await shared.people.changePassword(owner.id, change)
      expect(await shared.sessions.find(other)).toBeUndefined()
      expect(await shared.sessions.find(kept)).toBeDefined()
      expect(await codeOf(() => shared.people.signIn(ada))).toBe('credentials_invalid')
      await shared.people.signIn({ ...ada, password: 'something else' })
    })

    test('of two simultaneous changes of a password one wins and the other fails with an error', async () => {
      const { owner } = await shared.create(one())
      const change = (newPassword: string) =>
        shared.people.changePassword(owner.id, { currentPassword: ADA.password, newPassword, session: 'none' })
      const tries = await Promise.allSettled([change('first new one'), change('second new one')])
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    test('only the first account is the operator, who must name a successor while other accounts exist', async () => {
      const accounts = await open()
      const [ada, bob] = [await accounts.create(ADA), await accounts.create(BOB)]
      expect([ada.account.operator, bob.account.operator]).toEqual([true, false])
      expect(await codeOf(() => accounts.delete(ada.account.id))).toBe('operator_needed')
      for (const email of [ADA.email, 'nobody@example.com', 'nonsense']) {
        const problem = await problemOf(() => accounts.delete(ada.account.id, email))
        expect(problem).toMatchObject({ code: 'fields_invalid', errors: [{ pointer: '/operator' }] })
      }
      expect(await codeOf(() => accounts.delete(bob.account.id, ADA.email))).toBe('fields_invalid')
      expect([accounts.count(), accounts.findKey(ada.key.secret)]).toEqual([2, expect.anything()])
      const token = await accounts.sessions.create({ ...ada.seat, userAgent: '' })
      await accounts.delete(ada.account.id, BOB.email)
      expect((await accounts.get(bob.account.id))?.operator).toBe(true)
      // its keys and sessions end at once; it is listed until its data is erased
      expect(accounts.findKey(ada.key.secret)).toBeUndefined()
      expect(await accounts.sessions.find(token)).toBeUndefined()
      expect(await accounts.get(ada.account.id)).toBeUndefined()
      expect(accounts.findKey(bob.key.secret)).toBeDefined()
      await accounts.close()

      await using again = await open({ path: accounts.path })
      expect(again.removals()).toEqual([ada.account.id])
      await again.removed([ada.account.id])
      expect(again.removals()).toEqual([])
      expect((await again.create(ADA)).account.id).not.toBe(ada.account.id)
    })
  })
}

test('closed means closed for the first account too', async () => {
  await using accounts = openFresh({ signup: 'closed' })
  expect(await codeOf(() => accounts.create(ADA))).toBe('signup_closed')
})

test('sign-in answers a wrong password and an unknown address alike', async () => {
  await using accounts = openFresh()
  await accounts.create(ADA)
  const wrong = await problemOf(() => accounts.people.signIn({ ...ADA, password: 'wrong' }))
  const unknown = await problemOf(() => accounts.people.signIn(BOB))
  const nonsense = await problemOf(() => accounts.people.signIn({ ...ADA, email: "' OR 1=1 --" }))
  expect([wrong, unknown, nonsense].map(({ code, detail }) => [code, detail])).toEqual(
    Array(3).fill(['credentials_invalid', wrong.detail]),
  )
})

test('deleting the last account reopens sign-up with the setup code from the log', async () => {
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  await using accounts = openFresh({ signup: 'first', setupCodeRequired: true, log })
  const first = accounts.setupCode()!
  expect(first).toMatch(/^(?:[2-9A-HJ-NP-Z]{4}-){4}[2-9A-HJ-NP-Z]{4}$/)
  const { account } = await accounts.create({ ...ADA, setupCode: first })
  expect(accounts.setupCode()).toBeUndefined()
  await accounts.delete(account.id)
  const code = accounts.setupCode()!
  expect(lines.at(-1)).toContain(code)
  expect(await codeOf(() => accounts.create(BOB))).toBe('setup_code_invalid')
  await accounts.create({ ...BOB, setupCode: code })
})

test('a sign-in while its account is deleted fails', async () => {
  await using accounts = openFresh({ hashCost: { memoryCost: 19_456, timeCost: 8 } }) // the sign-in outlasts the deletion
  const { account } = await accounts.create(ADA)
  const signIn = problemOf(() => accounts.people.signIn(ADA))
  await accounts.delete(account.id)
  expect((await signIn).code).toBe('credentials_invalid')
})
