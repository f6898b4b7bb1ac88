// The account and the person over HTTP: signing up, in and out, passwords, sessions.
// Order of checks: own host name and own site (403) → session (401) → account (409) → role (403) → size, content type,
// JSON, fields (413, 422) → the request itself.
import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import { Problem } from '../../problem.ts'
import * as wire from '../../wire/accounts.ts'
import * as sessionWire from '../../wire/sessions.ts'
import { emptyAnswer, jsonAnswer } from '../answers.ts'
import type { Mounts } from '../mount.ts'
import { type Rules, readJson } from '../read-json.ts'
import { answerIssuedKey } from './key-routes.ts'
import {
  answerAccount,
  answerSession,
  type PeopleDeps,
  requirePasswords,
  signedOut,
  startSession,
  toTime,
  withCookie,
} from './session-answers.ts'
import { sessionToken } from './session-cookie.ts'

/** A sign-in by the provider proves who deletes an account for this long. */
const RECENT_PROOF_MS = 5 * 60_000

const SIGN_UP_RULES: Rules<wire.SignUp> = {
  email: (email) => (normalizeEmail(email) === undefined ? 'must be an e-mail address' : undefined),
  password: (password) => passwordFault(password)?.detail,
}
const PASSWORD_RULES: Rules<wire.ChangePassword> = { new_password: (password) => passwordFault(password)?.detail }

export function mountAccount({ on, onStranger }: Mounts, deps: PeopleDeps): void {
  const { accounts, addressOf, audit } = deps
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

  onStranger(wire.SHOW_SIGN_UP, async (_, { request }) => {
    const token = sessionToken(request)
    return {
      open: accounts.signUpOpen(),
      setup_code_required: accounts.setupCode() !== undefined,
      passwords: deps.passwordSignIn,
      provider: deps.providerName === undefined ? null : { name: deps.providerName },
      signed_in: token !== undefined && (await sessions.find(token)) !== undefined,
    }
  })
  onStranger(wire.CREATE_ACCOUNT, async (_, { request }) => {
    const { email, password, setup_code } = await readJson(request, wire.SignUp, SIGN_UP_RULES)
    const address = addressOf(request)
    const setupCode = setup_code === undefined ? {} : { setupCode: setup_code }
    const { account, owner, seat, key } = await accounts.create({ email, password, address, ...setupCode })
    await audit('account_created', { account: account.id, actor: owner.email, address })
    const created: wire.NewAccount = { account: answerAccount(account, account.operator), key: answerIssuedKey(key) }
    return withCookie(jsonAnswer(created, 201), await startSession(deps, request, seat))
  })
  onStranger(sessionWire.SIGN_IN, async (_, { request }) => {
    const { email, password } = await readJson(request, sessionWire.SignIn)
    requirePasswords(deps)
    const attempt = { email, password, address: addressOf(request) }
    const seat = await audited(request, email, undefined, people.signIn(attempt))
    const cookie = await startSession(deps, request, seat)
    const person = { id: seat.person, email: normalizeEmail(email) ?? email }
    await audit('signed_in', { account: seat.account, actor: person.email, address: attempt.address })
    return withCookie(jsonAnswer(await answerSession(deps, seat, person), 201), cookie)
  })

  on(wire.DELETE_ACCOUNT, async (_, { request, again }) => {
    const { id, password = '', operator } = await readJson(request, wire.DeleteAccount)
    const { account, session } = await again()
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
  on(wire.CHANGE_ACCOUNT, async (_, { request, again, noted }) => {
    const { name } = await readJson(request, wire.ChangeAccount)
    const { account, isOperator } = await again()
    noted.detail = name
    return { account: answerAccount(await accounts.rename(account, name.trim()), isOperator) }
  })
  on(wire.CHANGE_PASSWORD, async (_, { request, again }) => {
    const { current_password, new_password } = await readJson(request, wire.ChangePassword, PASSWORD_RULES)
    const { account, session } = await again()
    const { person, email, id } = session!
    const change = { currentPassword: current_password, newPassword: new_password, session: id }
    await audited(request, email, account, people.changePassword(person, change))
  })
  on(sessionWire.SHOW_SESSION, ({ session }) =>
    answerSession(deps, session!, { id: session!.person, email: session!.email }),
  )
  on(sessionWire.ENTER_ACCOUNT, async (_, { request, again }) => {
    const { id: account } = await readJson(request, sessionWire.EnterAccount)
    const { session } = await again()
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
    sessions: (await sessions.list(session!.person)).map(({ id, userAgent, createdMs, seenMs, expiresMs }) => ({
      id,
      current: id === session!.id,
      user_agent: userAgent,
      created_at: toTime(createdMs),
      last_seen_at: toTime(seenMs),
      expires_at: toTime(expiresMs),
    })),
  }))
  on(sessionWire.END_SESSION, async ({ session }, { request, params }) => {
    await sessions.revoke(session!.person, params.id)
    return params.id === session!.id ? signedOut(deps, request) : emptyAnswer()
  })
}
