// Members, roles, invitations and the keys of people: on SQLite and on a real PostgreSQL.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { hashSecret } from '../../src/account/secret.ts'
import { toTime } from '../../src/clock.ts'
import type { Role } from '../../src/wire/roles.ts'
import { codeOf, databases, type OpenedAccounts } from './accounts-cast.ts'

const DAY_S = 86_400

for (const { database, open } of databases()) {
  const accounts: OpenedAccounts = await open()
  const { clock, members, invitations, keys, sessions, people, tickets } = accounts
  let n = 0
  let owner: { id: string; email: string }
  let account: string
  const email = (name: string) => `${name}${n}@example.com`
  const signUp = (name: string) =>
    accounts.create({ email: email(name), password: 'correct horse battery', address: '192.0.2.1' })

  /** A new person who has accepted an invitation. */
  async function join(name: string, role: Role): Promise<{ id: string; email: string }> {
    const { token } = await invitations.create({ account, person: owner.id }, email(name), role)
    const { person, email: address } = await invitations.joinAsNew(token, 'no hash')
    return { id: person, email: address }
  }
  const sessionOf = (person: string, of = account) => sessions.create({ account: of, person, userAgent: '' })
  const roleOf = async (token: string) => (await sessions.find(token))?.role

  describe(`people in ${database}`, () => {
    afterAll(() => accounts.close())
    beforeEach(async () => {
      n++
      const made = await signUp('ada')
      owner = made.owner
      account = made.account.id
    })

    test('the person who signs up owns the account', async () => {
      expect(await members.list(account)).toMatchObject([{ id: owner.id, email: owner.email, role: 'owner' }])
      expect(await members.accountsOf(owner.id)).toEqual([{ id: account, name: owner.email, role: 'owner' }])
    })

    test('an invitation is good once', async () => {
      const { token } = await invitations.create({ account, person: owner.id }, email('bob'), 'member')
      expect(await invitations.look(token)).toMatchObject({ email: email('bob'), role: 'member', known: false })
      const tries = await Promise.allSettled([invitations.joinAsNew(token, 'h'), invitations.joinAsNew(token, 'h')])
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await codeOf(() => invitations.look(token))).toBe('not_found')
      expect((await members.list(account)).map(({ role }) => role)).toEqual(['owner', 'member'])
    })

    test('an invitation ends after seven days, by withdrawal, and by a newer one for the address', async () => {
      const by = { account, person: owner.id }
      const old = await invitations.create(by, email('bob'), 'viewer')
      const newer = await invitations.create(by, email('bob'), 'member')
      expect(await codeOf(() => invitations.joinAsNew(old.token, 'h'))).toBe('not_found')
      expect((await invitations.list(account)).map(({ id }) => id)).toEqual([newer.id])
      const { account: other } = await signUp('eve')
      expect(await codeOf(() => invitations.revoke(other.id, newer.id))).toBe('not_found')
      await invitations.revoke(account, newer.id)
      expect(await codeOf(() => invitations.look(newer.token))).toBe('not_found')
      const late = await invitations.create(by, email('bob'), 'member')
      clock.passS(7 * DAY_S)
      expect(await codeOf(() => invitations.joinAsNew(late.token, 'h'))).toBe('not_found')
      expect(await invitations.list(account)).toEqual([])
    })

    test('accepting for an address that is known needs the person, and nobody else may', async () => {
      const bob = await signUp('bob')
      const eve = await signUp('eve')
      const { token } = await invitations.create({ account, person: owner.id }, email('bob'), 'viewer')
      expect((await invitations.look(token)).known).toBe(true)
      expect(await codeOf(() => invitations.joinAsNew(token, 'h'))).toBe('session_invalid')
      expect(await codeOf(() => invitations.join(token, eve.owner))).toBe('invitation_for_another')
      expect(await invitations.join(token, bob.owner)).toEqual({ account, person: bob.owner.id })
      expect(await members.accountsOf(bob.owner.id)).toHaveLength(2)
      expect((await people.landing(bob.owner.id)).account).toBe(account)
    })

    test('a member is not invited again, and only owners invite', async () => {
      const bob = await join('bob', 'member')
      expect(await codeOf(() => invitations.create({ account, person: owner.id }, bob.email, 'owner'))).toBe(
        'already_member',
      )
      expect(await codeOf(() => invitations.create({ account, person: bob.id }, email('cy'), 'viewer'))).toBe(
        'role_missing',
      )
    })

    test('the invitations of an owner end with the role', async () => {
      const bob = await join('bob', 'owner')
      const second = await invitations.create({ account, person: bob.id }, email('bobs-second'), 'owner')
      await members.changeRole({ account, person: bob.id }, 'member')
      expect(await codeOf(() => invitations.joinAsNew(second.token, 'h'))).toBe('not_found')
    })

    test('a session has the current role, and ends with the membership', async () => {
      const bob = await join('bob', 'member')
      const token = await sessionOf(bob.id)
      expect(await roleOf(token)).toBe('member')
      await members.changeRole({ account, person: bob.id }, 'viewer')
      expect(await roleOf(token)).toBe('viewer')
      await members.remove({ account, person: bob.id })
      expect(await sessions.find(token)).toBeUndefined()
      expect(await codeOf(() => sessionOf(bob.id))).toBe('credentials_invalid')
      expect(await people.find(bob.email)).toBeUndefined() // in no other account
    })

    test('someone removed from one account keeps the others', async () => {
      const bob = await signUp('bob')
      const { token } = await invitations.create({ account, person: owner.id }, email('bob'), 'viewer')
      await invitations.join(token, bob.owner)
      const [here, there] = [await sessionOf(bob.owner.id), await sessionOf(bob.owner.id, bob.account.id)]
      await members.remove({ account, person: bob.owner.id })
      expect(await sessions.find(here)).toBeUndefined()
      expect((await sessions.find(there))?.account).toBe(bob.account.id)
      expect(await people.landing(bob.owner.id)).toEqual(bob.seat)
      const id = (await sessions.find(there))!.id
      expect(await codeOf(() => sessions.enter(id, { account, person: bob.owner.id }))).toBe('not_found')
    })

    test('the last owner neither leaves nor steps down, also not two at once', async () => {
      const seat = { account, person: owner.id }
      expect(await codeOf(() => members.changeRole(seat, 'viewer'))).toBe('owner_needed')
      expect(await codeOf(() => members.remove(seat))).toBe('owner_needed')
      const bob = await join('bob', 'owner')
      const tries = await Promise.allSettled([
        members.changeRole(seat, 'member'),
        members.remove({ account, person: bob.id }),
      ])
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect((await members.list(account)).filter(({ role }) => role === 'owner')).toHaveLength(1)
    })

    test('a key follows the role of its creator', async () => {
      const bob = await join('bob', 'member')
      const key = await keys.create(account, 'bobs', ['read', 'write', 'manage'], bob)
      expect(accounts.findKey(key.secret)?.role).toBe('member')
      await members.changeRole({ account, person: bob.id }, 'viewer')
      expect(accounts.findKey(key.secret)?.role).toBe('viewer')
      expect(await codeOf(() => keys.create(account, 'more', ['read'], bob))).toBe('role_missing')
      const rotated = await keys.rotate(account, key.id, 60)
      expect(accounts.findKey(rotated.secret)?.role).toBe('viewer')
      await members.changeRole({ account, person: bob.id }, 'owner')
      expect(accounts.findKey(rotated.secret)?.role).toBe('member')
    })

    test('when a person leaves, keys that only write stay and the others end', async () => {
      const bob = await join('bob', 'member')
      const create = (...scopes: ('read' | 'write' | 'manage' | 'ping')[]) =>
        keys.create(account, scopes.join(), scopes, bob)
      const made = [await create('write'), await create('ping'), await create('write', 'read'), await create('manage')]
      await members.remove({ account, person: bob.id })
      expect(made.map(({ secret }) => accounts.findKey(secret)?.role)).toEqual([
        'viewer',
        'viewer',
        undefined,
        undefined,
      ])
      const [, , , job] = await keys.list(account)
      expect(job).toMatchObject({ name: 'write', creator: { id: null, email: bob.email }, revoked_at: null })
      const used = toTime(clock.wallUs() / 1000)
      expect(await keys.take(account, job!.id, owner)).toMatchObject({ creator: owner, last_used_at: used })
      expect(accounts.findKey(made[0]!.secret)?.role).toBe('member')
      expect(await keys.list(account, bob.id)).toEqual([])
    })

    test('an owner takes the keys of a member over who leaves', async () => {
      const bob = await join('bob', 'member')
      const key = await keys.create(account, 'bobs', ['read', 'manage'], bob)
      const heir = await join('heir', 'viewer')
      expect(await codeOf(() => members.remove({ account, person: bob.id }, heir))).toBe('role_missing')
      await members.remove({ account, person: bob.id }, owner)
      expect(accounts.findKey(key.secret)?.manage).toBe(true)
      expect(await keys.list(account, owner.id)).toHaveLength(2)
    })

    test('a link that sets a password is good once and for 30 minutes, and ends with the password', async () => {
      const issue = () => tickets.issue(owner.id)
      const [token, second, late] = [await issue(), await issue(), await issue()]
      const tries = await Promise.all([tickets.redeem(token), tickets.redeem(token)])
      expect(tries.toSorted()).toEqual([owner.id, undefined])
      expect(await tickets.redeem(hashSecret(second))).toBeUndefined()
      await people.resetPassword({ id: owner.id }, 'a new beginning', true)
      expect(await tickets.redeem(second)).toBeUndefined()
      const third = await issue()
      const change = { currentPassword: 'a new beginning', newPassword: 'another one of mine', session: 'ses_1' }
      await people.changePassword(owner.id, change)
      expect(await tickets.redeem(third)).toBeUndefined()
      const last = await issue()
      clock.passS(30 * 60)
      expect(await tickets.redeem(last)).toBeUndefined()
      expect(await tickets.redeem(late)).toBeUndefined()
    })

    test('deleting an account ends people who are in no other', async () => {
      const bob = await signUp('bob')
      const cy = await join('cy', 'viewer')
      const { token } = await invitations.create({ account, person: owner.id }, email('bob'), 'owner')
      await invitations.join(token, bob.owner)
      const successor = accounts.isOperator(account) ? bob.account.id : undefined
      await accounts.delete(account, successor)
      expect(await people.find(cy.email)).toBeUndefined()
      expect(await people.find(owner.email)).toBeUndefined()
      expect(await members.accountsOf(bob.owner.id)).toHaveLength(1)
    })

    test('the audit log lists entries newest first, by filter and page, for 365 days', async () => {
      const { audit } = accounts
      const entry = { account, actor: owner.email, key: null, target: 'x', detail: null, address: '192.0.2.1' }
      const beganMs = clock.wallUs() / 1000
      for (let i = 0; i < 3; i++) {
        await audit.note({ ...entry, action: i === 1 ? 'key_created' : 'signed_in', detail: `${i}\0\ud800` })
        clock.passS(10)
      }
      const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, limit: 2 }
      const page = await audit.list(account, all)
      expect(page.map(({ detail }) => detail)).toEqual(['2\ufffd', '1\ufffd'])
      const rest = await audit.list(account, { ...all, before: page[1]!.seq })
      expect(rest.map(({ detail }) => detail)).toEqual(['0\ufffd'])
      expect(await audit.list(account, { ...all, action: 'key_created' })).toHaveLength(1)
      expect(await audit.list(account, { ...all, actor: 'bob@example.com' })).toEqual([])
      expect(await audit.list(account, { ...all, fromMs: beganMs + 5000, toMs: beganMs + 15_000 })).toHaveLength(1)
      const { account: other } = await signUp('eve')
      expect(await audit.list(other.id, all)).toEqual([])
      clock.passS(366 * DAY_S)
      await audit.note({ ...entry, action: 'signed_out' })
      expect((await audit.list(account, { ...all, limit: 10 })).map(({ action }) => action)).toEqual(['signed_out'])
    })
  })
}
