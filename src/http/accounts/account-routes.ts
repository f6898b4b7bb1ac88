// The account and the person over HTTP: signing up, in and out, passwords, sessions.
import type { Accounts } from '../../account/accounts.ts'
import { newEmail, normalizeEmail, passwordFault } from '../../account/credentials.ts'
import { networkOf } from '../../account/networks.ts'
import { invalidBody, Problem } from '../../problem.ts'
import * as wire from '../../wire/accounts.ts'
import * as sessionWire from '../../wire/sessions.ts'
import { emptyAnswer, jsonAnswer } from '../answers.ts'
import type { Mounts } from '../mount.ts'
import {
  answerSession,
  findSession,
  type PeopleDeps,
  requirePasswords,
  signedOut,
  startSession,
  withCookie,
} from './session-answers.ts'

/** A sign-in by the provider proves who deletes an account for this long. */
const RECENT_PROOF_MS = 5 * 60_000

const SIGN_UP_RULES = {
  email: (email: string) => (newEmail(email) === undefined ? 'must be an e-mail address' : undefined),
  password: (password: string | undefined) => password && passwordFault(password)?.detail,
}
const CONFIRM_RULES = { password: (password: string) => passwordFault(password)?.detail }
const PASSWORD_RULES = { new_password: (password: string) => passwordFault(password)?.detail }

export function mountAccount({ on, onStranger }: Mounts, deps: PeopleDeps): void {
  const { accounts, addressOf, audit, limits, mails, publicUrl } = deps
  const { people, sessions } = accounts

  async function noteFailure(email: string, inAccount: string | undefined, address: string): Promise<void> {
    const person = await people.find(email)
    const account = inAccount ?? (person && (await people.landing(person.id)).account)
    const known = person && account !== undefined ? { account, actor: person.email } : {}
    await audit('sign_in_failed', { ...known, address })
  }

  /** Audits wrong passwords, too, in the account that sign-in would open; the answer does not wait for that. */
  async function audited<T>(request: Request, email: string, account: string | undefined, proved: Promise<T>) {
    try {
      return await proved
    } catch (error) {
      if (error instanceof Problem && (error.code === 'credentials_invalid' || error.code === 'password_wrong'))
        noteFailure(email, account, addressOf(request)).catch(() => {}) // the database is away
      throw error
    }
  }

  const signUp = async () => ({
    by_link: await accounts.signUp.isByLink(),
    open: accounts.signUpOpen(),
    setup_code_required: accounts.setupCode() !== undefined,
    passwords: deps.passwordSignIn,
    provider: deps.providerName === undefined ? null : { name: deps.providerName },
  })
  async function answerNew(request: Request, { account, owner, seat, key }: Awaited<ReturnType<Accounts['create']>>) {
    await audit('account_created', { account: account.id, actor: owner.email, address: addressOf(request) })
    const created: wire.NewAccount = { account, key }
    return withCookie(jsonAnswer(created, 201), await startSession(deps, request, seat))
  }

  /** An address with an account gets the link that sets a password: the caller cannot tell the two apart. */
  async function mailLink(email: string): Promise<void> {
    if (!(await accounts.strangerMails.take(email))) return
    const person = await people.find(email)
    const isAsBefore = async () => (await people.find(email))?.id === person?.id
    const linkTo = (path: string, issue: () => Promise<string>) => async () =>
      (await isAsBefore()) ? `${publicUrl()}/#/${path}?token=${await issue()}` : undefined
    if (person === undefined || (await people.isOnlyInvited(person.id))) {
      await mails?.signUp(
        email,
        linkTo('sign-up', () => accounts.signUp.issueLink(email)),
      )
    } else {
      await mails?.known(
        email,
        linkTo('reset', () => accounts.tickets.issue(person.id)),
      )
    }
  }

  onStranger(wire.SHOW_SIGN_UP, async (_, { request }) => ({
    ...(await signUp()),
    signed_in: (await findSession(deps, request)) !== undefined,
  }))
  onStranger(sessionWire.SHOW_SESSION, async (_, { request }) => {
    const session = await findSession(deps, request)
    if (session === undefined) return { signed_in: false, sign_up: await signUp() }
    const shown = await answerSession(deps, session, { id: session.person, email: session.email })
    return { signed_in: true, sign_up: await signUp(), ...shown }
  })
  onStranger(wire.CREATE_ACCOUNT, SIGN_UP_RULES, async (_, { request, body: { email, password, setup_code } }) => {
    const address = addressOf(request)
    if (await accounts.signUp.isByLink()) {
      await accounts.strangerMails.countLink(address)
      mailLink(normalizeEmail(email)!).catch(deps.mailFailed)
      return jsonAnswer({ sent: true }, 202)
    }
    if (password === undefined) throw invalidBody([{ pointer: '/password', detail: 'is required' }])
    const setupCode = setup_code === undefined ? {} : { setupCode: setup_code }
    return answerNew(request, await accounts.create({ email, password, address, ...setupCode }))
  })
  onStranger(wire.CONFIRM_ACCOUNT, CONFIRM_RULES, async (_, { request, body: { token, password } }) => {
    limits.linksOfCaller.attempt(networkOf(addressOf(request)))
    return answerNew(request, await accounts.signUp.confirm(token, password))
  })
  onStranger(sessionWire.SIGN_IN, async (_, { request, body: { email, password } }) => {
    requirePasswords(deps)
    const attempt = { email, password, address: addressOf(request) }
    const seat = await audited(request, email, undefined, people.signIn(attempt))
    const cookie = await startSession(deps, request, seat)
    const person = { id: seat.person, email: normalizeEmail(email) ?? email }
    await audit('signed_in', { account: seat.account, actor: person.email, address: attempt.address })
    return withCookie(jsonAnswer(await answerSession(deps, seat, person), 201), cookie)
  })

  on(wire.DELETE_ACCOUNT, async ({ account, session }, { request, body: { id, password = '', operator } }) => {
    if (id !== account) throw new Problem('account_changed', 'The id is not that of the account of this session.')
    const { person, email, proof, createdMs } = session!
    const isRecent = proof === 'oidc' && deps.nowMs() - createdMs <= RECENT_PROOF_MS
    if (!isRecent || password !== '')
      await audited(request, email, account, people.confirmPassword(person, { password, session: session!.id }))
    await accounts.delete(account, operator)
    await audit('account_deleted', { account, actor: email, address: addressOf(request) })
    deps.onDeleted(account)
    return signedOut(deps, request)
  })
  on(wire.CHANGE_ACCOUNT, async ({ account, isOperator }, { body: { name }, noted }) => {
    noted.detail = `${(await accounts.get(account))?.name ?? ''} → ${name.trim()}`
    return { account: { ...(await accounts.rename(account, name.trim())), operator: isOperator } }
  })
  on(wire.CHANGE_PASSWORD, PASSWORD_RULES, async ({ account, session }, { request, body }) => {
    const { person, email, id } = session!
    const change = { currentPassword: body.current_password, newPassword: body.new_password, session: id }
    await audited(request, email, account, people.changePassword(person, change))
  })
  on(sessionWire.ENTER_ACCOUNT, async ({ session }, { request, body: { id: account } }) => {
    const { id, person, email } = session!
    await sessions.enter(id, { account, person })
    await audit('account_entered', { account, actor: email, address: addressOf(request) })
    return answerSession(deps, { account, person }, { id: person, email })
  })
  on(sessionWire.SIGN_OUT, async ({ session }, { request }) => {
    await sessions.revoke(session!.person, session!.id)
    return signedOut(deps, request)
  })
  on(sessionWire.LIST_SESSIONS, async ({ session }) => ({
    sessions: (await sessions.list(session!.person)).map((it) => ({ ...it, current: it.id === session!.id })),
  }))
  on(sessionWire.END_SESSIONS, async ({ session }, { request, noted }) => {
    await sessions.revokeAll(session!.person)
    noted.target = 'all'
    return signedOut(deps, request)
  })
  on(sessionWire.END_SESSION, async ({ session }, { request, params }) => {
    await sessions.revoke(session!.person, params.id)
    return params.id === session!.id ? signedOut(deps, request) : emptyAnswer()
  })
}
