import { describe, expect, test } from 'bun:test'
import pino from 'pino'
import { ADA, BOB, codeOf, databases, problemOf } from './accounts-cast.ts'

describe.each(databases())('accounts in $database', ({ open }) => {
  describe('sign-up', () => {
    test('only the first account is the operator', async () => {
      await using accounts = await open()
      await accounts.create(ADA)
      expect((await accounts.create(BOB)).account.operator).toBe(false)
    })

    test('closes after the first account', async () => {
      await using accounts = await open({ signup: 'first' })
      expect(accounts.signUpOpen()).toBe(true)
      await accounts.create(ADA)
      expect(accounts.signUpOpen()).toBe(false)
      expect(await codeOf(() => accounts.create(BOB))).toBe('signup_closed')
    })

    test('closed means closed for the first one too', async () => {
      await using accounts = await open({ signup: 'closed' })
      expect(await codeOf(() => accounts.create(ADA))).toBe('signup_closed')
    })

    test('only one of several concurrent first sign-ups succeeds', async () => {
      await using accounts = await open({ signup: 'first' })
      const tries = await Promise.allSettled(
        [1, 2, 3, 4].map((n) => accounts.create({ ...ADA, email: `n${n}@example.com` })),
      )
      expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
      expect(accounts.count()).toBe(1)
    })

    test('an address can be registered only once, regardless of case, also by concurrent requests', async () => {
      await using accounts = await open()
      const tries = await Promise.allSettled([
        accounts.create(ADA),
        accounts.create({ ...ADA, email: 'Ada@EXAMPLE.com' }),
      ])
      expect(tries.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await codeOf(() => accounts.create(ADA))).toBe('email_taken')
    })

    test('only the first account needs the set-up code', async () => {
      await using accounts = await open({ setupCodeRequired: true })
      const code = accounts.setupCode()!
      expect(code).toMatch(/^(?:[2-9A-HJ-NP-Z]{4}-){4}[2-9A-HJ-NP-Z]{4}$/)
      expect(accounts.setupCode()).toBe(code)
      expect(await codeOf(() => accounts.create(ADA))).toBe('setup_code_invalid')
      expect(await codeOf(() => accounts.create({ ...ADA, setupCode: `${code}x` }))).toBe('setup_code_invalid')
      await accounts.create({ ...ADA, setupCode: code })
      expect(accounts.setupCode()).toBeUndefined()
      await accounts.create(BOB)
    })

    test('a configured set-up code is the only valid one', async () => {
      await using accounts = await open({ setupCodeRequired: true, setupCode: 'open sesame' })
      expect(await codeOf(() => accounts.create({ ...ADA, setupCode: 'open sesam' }))).toBe('setup_code_invalid')
      await accounts.create({ ...ADA, setupCode: 'open sesame' })
    })
  })

  describe('sign-in', () => {
    test('answers a wrong password and an unknown address alike', async () => {
      await using accounts = await open()
      await accounts.create(ADA)
      const wrong = await problemOf(() => accounts.people.signIn({ ...ADA, password: 'wrong' }))
      const unknown = await problemOf(() => accounts.people.signIn(BOB))
      const nonsense = await problemOf(() => accounts.people.signIn({ ...ADA, email: "' OR 1=1 --" }))
      expect([wrong, unknown, nonsense].map(({ code, detail }) => [code, detail])).toEqual(
        Array(3).fill(['credentials_invalid', wrong.detail]),
      )
    })
  })

  describe('passwords', () => {
    test('a change ends the other sessions and needs the old password', async () => {
      await using accounts = await open()
      const { owner, seat } = await accounts.create(ADA)
      const [kept, other] = [
        await accounts.sessions.create({ ...seat, userAgent: '' }),
        await accounts.sessions.create({ ...seat, userAgent: '' }),
      ]
      const session = (await accounts.sessions.find(kept))!.id
      const change = { currentPassword: ADA.password, newPassword: 'something else', session }
      expect(await codeOf(() => accounts.people.changePassword(owner.id, { ...change, currentPassword: 'x' }))).toBe(
        'password_wrong',
      )
      const faulty = await problemOf(() => accounts.people.changePassword(owner.id, { ...change, newPassword: 'x' }))
      expect(faulty.errors?.[0]?.pointer).toBe('/new_password')
      expect(await accounts.sessions.find(other)).toBeDefined()
      await accounts.people.changePassword(owner.id, change)
      expect(await accounts.sessions.find(other)).toBeUndefined()
      expect(await accounts.sessions.find(kept)).toBeDefined()
      expect(await codeOf(() => accounts.people.signIn(ADA))).toBe('credentials_invalid')
      await accounts.people.signIn({ ...ADA, password: 'something else' })
    })

    test('of two simultaneous changes one wins and the other fails with an error', async () => {
      await using accounts = await open()
      const { owner } = await accounts.create(ADA)
      const change = (newPassword: string) =>
        accounts.people.changePassword(owner.id, { currentPassword: ADA.password, newPassword, session: 'none' })
      const tries = await Promise.allSettled([change('first new one'), change('second new one')])
      expect(tries.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    test('a reset needs no old password and ends all sessions', async () => {
      await using accounts = await open()
      const { seat } = await accounts.create(ADA)
      const token = await accounts.sessions.create({ ...seat, userAgent: '' })
      await accounts.people.resetPassword({ email: 'Ada@example.com' }, 'a new beginning')
      expect(await accounts.sessions.find(token)).toBeUndefined()
      await accounts.people.signIn({ ...ADA, password: 'a new beginning' })
      expect(await codeOf(() => accounts.people.resetPassword({ email: BOB.email }, 'a new beginning'))).toBe(
        'not_found',
      )
    })
  })

  describe('deleting an account', () => {
    test('revokes its keys and sessions immediately and lists the account until its data is erased', async () => {
      const accounts = await open()
      const { account, key, seat } = await accounts.create(ADA)
      const bob = await accounts.create(BOB)
      const token = await accounts.sessions.create({ ...seat, userAgent: '' })
      expect(accounts.findKey(key.secret)).toBeDefined()
      await accounts.delete(account.id, BOB.email)
      expect(accounts.findKey(key.secret)).toBeUndefined()
      expect(await accounts.sessions.find(token)).toBeUndefined()
      expect(await accounts.get(account.id)).toBeUndefined()
      expect(accounts.findKey(bob.key.secret)).toBeDefined()
      await accounts.close()

      await using again = await open({ path: accounts.path })
      expect(again.removals()).toEqual([account.id])
      again.removed(account.id)
      expect(again.removals()).toEqual([])
      expect((await again.create(ADA)).account.id).not.toBe(account.id)
    })

    test('the operator must name a successor while other accounts exist', async () => {
      await using accounts = await open()
      const [ada, bob] = [await accounts.create(ADA), await accounts.create(BOB)]
      expect(await codeOf(() => accounts.delete(ada.account.id))).toBe('operator_needed')
      for (const email of [ADA.email, 'nobody@example.com', 'nonsense']) {
        const problem = await problemOf(() => accounts.delete(ada.account.id, email))
        expect(problem).toMatchObject({ code: 'fields_invalid', errors: [{ pointer: '/operator' }] })
      }
      expect(await codeOf(() => accounts.delete(bob.account.id, ADA.email))).toBe('fields_invalid')
      expect([accounts.count(), accounts.findKey(ada.key.secret)]).toEqual([2, expect.anything()])
      await accounts.delete(ada.account.id, BOB.email)
      expect((await accounts.get(bob.account.id))?.operator).toBe(true)
    })

    test('deleting the last account reopens sign-up with the set-up code from the log', async () => {
      const lines: string[] = []
      const log = pino({}, { write: (line) => void lines.push(line) })
      await using accounts = await open({ signup: 'first', setupCodeRequired: true, log })
      const { account } = await accounts.create({ ...ADA, setupCode: accounts.setupCode()! })
      await accounts.delete(account.id)
      const code = accounts.setupCode()!
      expect(lines.at(-1)).toContain(code)
      expect(await codeOf(() => accounts.create(BOB))).toBe('setup_code_invalid')
      await accounts.create({ ...BOB, setupCode: code })
    })

    test('a concurrent sign-in fails', async () => {
      await using accounts = await open({ hashCost: { memoryCost: 19_456, timeCost: 8 } }) // the sign-in outlasts the deletion
      const { account } = await accounts.create(ADA)
      const signIn = problemOf(() => accounts.people.signIn(ADA))
      await accounts.delete(account.id)
      expect((await signIn).code).toBe('credentials_invalid')
    })
  })
})
