// Whose an address is: a stranger's sign-up without proof is a claim, which ends with the first proof. Both databases.
import { describe, expect, test } from 'bun:test'
import type { SignUp } from '../../src/account/sign-up.ts'
import { ADA, BOB, codeOf, databases, type OpenedAccounts, openFresh, openFreshDatabase } from './accounts-cast.ts'

const EVE = { email: 'eve@example.com', password: 'a password of a stranger', address: '203.0.113.9' }
const VICTIM = { ...BOB, address: EVE.address }
const HOUR_S = 3600

describe.each(databases())('claims in $database', ({ open }) => {
  /** Ada is the operator; a stranger signed up with the address of Bob. */
  async function openClaimed(signup: 'open' | 'first' = 'open', sign: SignUp = VICTIM) {
    const accounts = await open({ signup: 'open' })
    await accounts.create(ADA)
    const claimed = await accounts.create(sign)
    if (signup === 'open') return { accounts, claimed }
    const { path, clock } = accounts
    await accounts.close()
    return { accounts: await open({ signup, path, clock }), claimed }
  }
  const reset = async ({ tickets, people }: OpenedAccounts, person: string) =>
    people.resetPassword({ id: (await tickets.redeem(await tickets.issue(person)))! }, 'the password of Bob', true)
  const byProvider = ({ identities }: OpenedAccounts, email: string) =>
    identities.admit({ issuer: 'https://id.example', subject: email, email, isEmailVerified: true })
  const confirm = async ({ tickets, people }: OpenedAccounts, person: string) =>
    (await people.proveAddress((await tickets.redeem(await tickets.issue(person, 'confirm'), 'confirm'))!))!

  const PROOFS = {
    'a reset': reset,
    'a confirmation': confirm,
    'the provider': (accounts: OpenedAccounts) => byProvider(accounts, BOB.email),
  }

  test.each(Object.entries(PROOFS))('%s ends what the stranger has, and holds the account back', async (_, prove) => {
    const { accounts, claimed } = await openClaimed()
    await using _closed = accounts
    const { account, owner, seat, key } = claimed
    const token = await accounts.sessions.create({ ...seat, userAgent: '' })
    await accounts.invitations.create(seat, EVE.email, 'owner')
    const stale = await accounts.tickets.issue(owner.id)
    expect((await prove(accounts, owner.id)).disputed).toEqual([account.id])
    expect(accounts.disputedBy(account.id)).toBe(owner.id)
    expect(await accounts.sessions.find(token)).toBeUndefined()
    expect(await codeOf(() => accounts.people.signIn(VICTIM))).toBe('credentials_invalid')
    expect(await accounts.invitations.list(account.id)).toEqual([])
    expect(await accounts.tickets.redeem(stale)).toBeUndefined()
    expect(accounts.findKey(key.secret)).toMatchObject({ account: account.id, write: true })
    expect((await prove(accounts, owner.id)).disputed).toEqual([])
  })

  test('the operator, people by invitation, proved ones and those of a closed sign-up lose nothing by a reset', async () => {
    const { accounts, claimed } = await openClaimed('first')
    await using _closed = accounts
    expect(accounts.disputedBy(claimed.account.id)).toBeUndefined()
    const ada = (await accounts.people.find(ADA.email))!
    const { account, person } = (await accounts.people.landing(ada.id))!
    const { token } = await accounts.invitations.create({ account, person }, 'cy@example.com', 'owner')
    const cy = await accounts.invitations.joinAsNew(token, 'no hash')
    for (const id of [ada.id, cy.id]) {
      const session = await accounts.sessions.create({ account, person: id, userAgent: '' })
      const token = await accounts.tickets.issue(id, 'confirm')
      const self = (await accounts.sessions.find(session))!
      const proved = await accounts.people.proveAddress((await accounts.tickets.redeem(token, 'confirm'))!, self)
      expect(proved).toMatchObject({ disputed: [], hasEnded: false })
      expect(await accounts.sessions.find(session)).toMatchObject({ person: id })
    }
    expect(await accounts.people.proofOf(cy.id)).toEqual({ isProved: true, isClaim: false })
    expect((await reset(accounts, ada.id)).disputed).toEqual([])
    expect(await accounts.keys.list(account)).toHaveLength(1)
  })

  test('the provider ends the password and sessions of an honest account, and no key', async () => {
    const { accounts } = await openClaimed()
    await using _closed = accounts
    const ada = (await accounts.people.find(ADA.email))!
    const { account } = await accounts.people.landing(ada.id)
    const token = await accounts.sessions.create({ account, person: ada.id, userAgent: '' })
    expect((await byProvider(accounts, ADA.email)).disputed).toEqual([])
    expect(await accounts.sessions.find(token)).toBeUndefined()
    expect(await codeOf(() => accounts.people.signIn(ADA))).toBe('credentials_invalid')
    expect((await accounts.keys.list(account)).map(({ revoked_at }) => revoked_at)).toEqual([null])
  })

  /** Eve accepts, with a password of hers, the invitation that she sent to the victim. */
  async function preHijack() {
    const accounts = await open({ signup: 'open' })
    const { seat } = await accounts.create(ADA)
    const { token } = await accounts.invitations.create(seat, BOB.email, 'owner')
    const hash = await accounts.hashFrom(EVE.password, EVE.address)
    const bob = await accounts.invitations.joinAsNew(token, hash)
    return { accounts, bob, byEve: () => accounts.people.signIn({ ...EVE, email: BOB.email }) }
  }

  test('a link that is opened without the session of the person ends the password that an inviter may have set', async () => {
    const { accounts, bob, byEve } = await preHijack()
    await using _closed = accounts
    const session = await accounts.sessions.create({ ...(await byEve()), userAgent: '' })
    await accounts.invitations.create({ account: bob.account, person: bob.id }, EVE.email, 'owner')
    const stale = await accounts.tickets.issue(bob.id)
    expect(await accounts.people.proveAddress(bob.id, { person: 'per_another' })).toMatchObject({ hasEnded: true })
    expect(await codeOf(byEve)).toBe('credentials_invalid')
    expect(await accounts.sessions.find(session)).toBeUndefined()
    expect(await accounts.invitations.list(bob.account)).toEqual([])
    expect(await accounts.tickets.redeem(stale)).toBeUndefined()
  })

  test('a person by invitation alone signs up by a link, into an account of their own', async () => {
    const { accounts, bob, byEve } = await preHijack()
    await using _closed = accounts
    expect(await accounts.people.isOnlyInvited(bob.id)).toBe(true)
    const session = await accounts.sessions.create({ ...(await byEve()), userAgent: '' })
    const made = await accounts.signUp.confirm(await accounts.signUp.issueLink(BOB.email), BOB.password)
    expect(made.owner).toEqual({ id: bob.id, email: BOB.email })
    expect(made.account.id).not.toBe(bob.account)
    expect(await codeOf(byEve)).toBe('credentials_invalid')
    expect(await accounts.sessions.find(session)).toBeUndefined()
    expect(await accounts.people.signIn(BOB)).toMatchObject({ person: bob.id, account: made.account.id })
    expect(await accounts.people.isOnlyInvited(bob.id)).toBe(false)
    const ada = (await accounts.people.find(ADA.email))!
    expect(await accounts.people.isOnlyInvited(ada.id)).toBe(false)
  })

  test('the first sign-in by the provider ends a password that a confirmation kept, and none that a mailed link set', async () => {
    const { accounts, bob, byEve } = await preHijack()
    await using _closed = accounts
    expect(await accounts.people.proveAddress(bob.id, { person: bob.id })).toMatchObject({ hasEnded: false })
    const session = await accounts.sessions.create({ ...(await byEve()), userAgent: '' })
    expect(await accounts.people.proveAddress(bob.id, { person: bob.id })).toMatchObject({ hasEnded: false })
    expect(await accounts.people.proveAddress(bob.id)).toMatchObject({ hasEnded: false })
    await byProvider(accounts, BOB.email)
    expect(await codeOf(byEve)).toBe('credentials_invalid')
    expect(await accounts.sessions.find(session)).toBeUndefined()

    const { token } = await accounts.invitations.create(
      await accounts.people.landing(bob.id),
      'cy@example.com',
      'member',
    )
    const cy = await accounts.invitations.joinAsNew(token, 'no hash')
    await accounts.people.proveAddress(cy.id, { person: cy.id })
    await reset(accounts, cy.id)
    await byProvider(accounts, 'cy@example.com')
    const signedIn = { ...EVE, email: 'cy@example.com', password: 'the password of Bob' }
    expect(await accounts.people.signIn(signedIn)).toMatchObject({ person: cy.id })
  })

  test('kept, the account is theirs with all that is in it', async () => {
    const { accounts, claimed } = await openClaimed()
    await using _closed = accounts
    await reset(accounts, claimed.owner.id)
    const made = async () => (await accounts.disputes.made(claimed.seat)).made
    const use = (address: string) => {
      accounts.clock.passS(60)
      accounts.findKey(claimed.key.secret)!.usedFrom ??= address
    }
    const key = { what: 'key', name: 'first key', by: BOB.email }
    expect(await made()).toEqual([expect.objectContaining({ ...key, last_used_at: null, used_from: null })])
    use('203.0.113.1')
    expect(await made()).toEqual([expect.objectContaining({ ...key, used_from: '203.0.113.1' })])
    await accounts.keys.flush()
    accounts.clock.passS(60)
    accounts.findKey(claimed.key.secret)
    await accounts.keys.flush()
    const [shown] = await made()
    expect(shown).toMatchObject({ last_used_at: expect.any(String), used_from: '203.0.113.1' })
    use('203.0.113.2')
    await accounts.keys.flush()
    expect(await made()).toEqual([expect.objectContaining({ ...key, used_from: '203.0.113.2' })])
    await accounts.disputes.keep(claimed.seat)
    expect(accounts.disputedBy(claimed.account.id)).toBeUndefined()
    expect(accounts.findKey(claimed.key.secret)).toMatchObject({ read: true })
    expect(await codeOf(() => accounts.disputes.keep(claimed.seat))).toBe('not_found')
  })

  test('a stranger whom accomplices made a viewer there keeps no way in either', async () => {
    const { accounts, claimed } = await openClaimed()
    await using _closed = accounts
    const { account, owner, seat } = claimed
    const { token } = await accounts.invitations.create(seat, EVE.email, 'owner')
    await accounts.invitations.joinAsNew(token, 'no hash')
    await accounts.members.changeRole(seat, 'viewer')
    const session = await accounts.sessions.create({ ...seat, userAgent: '' })
    expect(await accounts.people.proveAddress(owner.id)).toMatchObject({ disputed: [], hasEnded: true })
    expect(await accounts.sessions.find(session)).toBeUndefined()
    expect(await codeOf(() => accounts.people.signIn(VICTIM))).toBe('credentials_invalid')
    expect(accounts.disputedBy(account.id)).toBeUndefined() // it belongs to somebody else: the person is a viewer there
  })

  test('left, it is deleted if nobody else is in it, and the session shows a new account', async () => {
    const { accounts, claimed } = await openClaimed()
    await using _closed = accounts
    const { account, seat, key } = claimed
    await reset(accounts, seat.person)
    const token = await accounts.sessions.create({ ...seat, userAgent: '' })
    const { id } = (await accounts.sessions.find(token))!
    const left = await accounts.disputes.leave(seat, id)
    expect(left.isDeleted).toBe(true)
    expect(left.account.id).not.toBe(account.id)
    expect(await accounts.get(account.id)).toBeUndefined()
    expect(accounts.findKey(key.secret)).toBeUndefined()
    expect(accounts.findKey(left.key.secret)).toMatchObject({ account: left.account.id })
    expect(await accounts.sessions.find(token)).toMatchObject({ account: left.account.id, role: 'owner' })
  })

  test('left, it stays to an accomplice, without a way into the new one', async () => {
    const { accounts, claimed } = await openClaimed()
    await using _closed = accounts
    const { account, seat } = claimed
    const { token } = await accounts.invitations.create(seat, EVE.email, 'viewer')
    const eve = await accounts.invitations.joinAsNew(token, 'no hash')
    const reader = await accounts.keys.create(account.id, 'reader', ['read'], claimed.owner)
    const writer = await accounts.keys.create(account.id, 'writer', ['write'], claimed.owner)
    await reset(accounts, seat.person)
    const mine = await accounts.sessions.create({ ...seat, userAgent: '' })
    const { isDeleted, account: mineNow } = await accounts.disputes.leave(
      seat,
      (await accounts.sessions.find(mine))!.id,
    )
    expect(isDeleted).toBe(false)
    expect((await accounts.members.list(account.id)).map(({ id, role }) => [id, role])).toEqual([[eve.id, 'owner']])
    expect((await accounts.members.list(mineNow.id)).map(({ id }) => id)).toEqual([seat.person])
    expect(accounts.findKey(reader.secret)).toBeUndefined()
    expect(accounts.findKey(writer.secret)).toMatchObject({ account: account.id })
    expect(accounts.disputedBy(account.id)).toBeUndefined()
  })

  test('three e-mails a day go to an address that did not ask, however it is written', async () => {
    await using accounts = await open({ isMailed: true })
    const take = (email: string) => accounts.strangerMails.take(email)
    expect([
      await take(BOB.email),
      await take('BOB@example.com'),
      await take(BOB.email),
      await take(BOB.email),
    ]).toEqual([true, true, true, false])
    expect(await take('bob+shop@example.com')).toBe(false)
    expect(await take(EVE.email)).toBe(true)
    const odd = 'odd..one@example.com'
    for (const [email, isTaken] of [
      [odd, true],
      [odd.toUpperCase(), true],
      ['Odd..One@example.com', true],
      [odd, false],
    ] as const)
      expect(await take(email)).toBe(isTaken)
    accounts.clock.passS(24 * HOUR_S)
    expect(await take(BOB.email)).toBe(true)
  })

  test('a link makes the account of its address, once and within a day', async () => {
    await using accounts = await open({ isMailed: true })
    expect(await accounts.signUp.isByLink()).toBe(false)
    await accounts.create(ADA)
    expect(await accounts.signUp.isByLink()).toBe(true)
    const [late, other, token] = [
      await accounts.signUp.issueLink(EVE.email),
      await accounts.signUp.issueLink(BOB.email),
      await accounts.signUp.issueLink(BOB.email),
    ]
    expect(await codeOf(() => accounts.signUp.confirm('nothing', BOB.password))).toBe('credentials_invalid')
    expect(await codeOf(() => accounts.signUp.confirm(token, 'short'))).toBe('fields_invalid')
    const made = await accounts.signUp.confirm(token, BOB.password)
    expect(made.account).toMatchObject({ email: BOB.email, operator: false })
    expect(await accounts.people.proofOf(made.owner.id)).toEqual({ isProved: true, isClaim: false })
    for (const used of [token, other])
      expect(await codeOf(() => accounts.signUp.confirm(used, BOB.password))).toBe('credentials_invalid')
    accounts.clock.passS(24 * HOUR_S)
    expect(await codeOf(() => accounts.signUp.confirm(late, EVE.password))).toBe('credentials_invalid')
  })
})

test.each(['open', 'first'] as const)(
  'a sign-up of 2.0 is a claim while sign-up is open: SIGNUP=%s',
  async (signup) => {
    const before = openFresh()
    await before.create(ADA)
    const { owner } = await before.create(BOB)
    await before.close()
    const file = openFreshDatabase(before.path)
    file.write(() => file.db.run('UPDATE person SET claim = NULL'))
    file.close()
    await using accounts = openFresh({ signup, path: before.path, clock: before.clock })
    const isOpen = signup === 'open'
    expect((await accounts.people.proofOf(owner.id)).isClaim).toBe(isOpen)
    expect((await accounts.people.proveAddress(owner.id))!.disputed).toHaveLength(isOpen ? 1 : 0)
    const ada = (await accounts.people.find(ADA.email))!
    expect((await accounts.people.proveAddress(ada.id))!.disputed).toEqual([])
  },
)
