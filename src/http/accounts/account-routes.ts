// Accounts, sessions and keys over HTTP. All routes but sign-up and sign-in need the session cookie; those of keys also take a key with the scope `manage`.
// Order of checks: own host name and own site (403) → session (401) → size, content type, JSON, fields (413, 422) → the request itself.
import { Elysia } from 'elysia'
import type { Account, Accounts } from '../../account/accounts.ts'
import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import type { FoundKey } from '../../account/key-ring.ts'
import type { IssuedKey } from '../../account/keys.ts'
import { Problem } from '../../problem.ts'
import * as wire from '../../wire/accounts.ts'
import * as keyWire from '../../wire/keys.ts'
import { emptyAnswer, jsonAnswer } from '../answers.ts'
import { createMount } from '../mount.ts'
import { createRequireManager, refuseWiderScopes } from '../questions/authorize.ts'
import { type Rules, readJson } from '../read-json.ts'
import {
  clearedSessionCookie,
  refuseStrangers,
  type SessionRef,
  sessionCookie,
  sessionToken,
} from './session-cookie.ts'

/** Actions that are counted and logged. */
export const AUDIT_ACTIONS = [
  'account_created',
  'account_deleted',
  'password_changed',
  'signed_in',
  'sign_in_failed',
  'key_created',
  'key_rotated',
  'key_revoked',
] as const
type AuditAction = (typeof AUDIT_ACTIONS)[number]

export interface AuditFields {
  /** Absent after a failed sign-in. */
  readonly account?: string
  readonly key?: string
  /** The client's address. */
  readonly address: string
}

export interface AccountRoutesDeps {
  readonly accounts: Accounts
  /** The client's address, resolved behind trusted proxies. */
  addressOf(request: Request): string
  /** Did the browser reach Stint by TLS, directly or by a trusted proxy? */
  isSecure(request: Request): boolean
  /** Is the host name of the request one of Stint's own? */
  isOwnHost(request: Request): boolean
  /** The key that a request was sent with, where keys may manage keys. Throws Problem `key_invalid` or `rate_limited`. */
  findKey?(request: Request): FoundKey | undefined
  /** Called after each action; the fields hold no secret. */
  audit(action: AuditAction, fields: AuditFields): void
  /** Called after an account is deleted: its data in spools and stores must go too. What fails here is tried again at the next start. */
  onDeleted(account: string): void
}

function withCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie)
  return response
}

const time = (ms: number): string => new Date(ms).toISOString()
const maybeTime = (ms: number | null): string | null => (ms === null ? null : time(ms))

const answerAccount = ({ id, email, createdMs, operator }: Account): wire.Account => ({
  id,
  email,
  created_at: time(createdMs),
  operator,
})
const answerIssuedKey = ({ id, name, prefix, scopes, secret }: IssuedKey): keyWire.IssuedKey => ({
  id,
  name,
  prefix,
  scopes: [...scopes],
  secret,
})

const SIGN_UP_RULES: Rules<wire.SignUp> = {
  email: (email) => (normalizeEmail(email) === undefined ? 'must be an e-mail address' : undefined),
  password: (password) => passwordFault(password)?.detail,
}
const PASSWORD_RULES: Rules<wire.ChangePassword> = { new_password: (password) => passwordFault(password)?.detail }

/** An address is logged and shown by many programs: it must not open more than the pings. */
const pingAlone = () =>
  new Problem('fields_invalid', 'The body has a fault.', {
    errors: [{ pointer: '/scopes', detail: 'ping cannot be combined with other scopes' }],
  })

export function accountRoutes(deps: AccountRoutesDeps) {
  const { accounts, addressOf, isSecure } = deps
  const { keys, sessions } = accounts

  /** Looks up the session of a request that `refuseStrangers` let pass. */
  async function findSession(request: Request): Promise<SessionRef | undefined> {
    const token = sessionToken(request)
    return token === undefined ? undefined : sessions.find(token)
  }

  /** The session of a request that may act for it. Another site's request is refused (403) before a missing session is (401). */
  async function requireSession(request: Request): Promise<SessionRef> {
    refuseStrangers(request, deps.isOwnHost)
    const session = await findSession(request)
    if (session === undefined) throw new Problem('session_invalid', 'There is no session, or it has ended.')
    return session
  }

  const requireManager = createRequireManager((request) => deps.findKey?.(request), requireSession)

  const audit = (request: Request, action: AuditAction, fields: Omit<AuditFields, 'address'> = {}) =>
    deps.audit(action, { ...fields, address: addressOf(request) })

  /** A wrong password is logged, too. */
  async function audited<T>(request: Request, account: string | undefined, proved: Promise<T>): Promise<T> {
    try {
      return await proved
    } catch (error) {
      if (error instanceof Problem && (error.code === 'credentials_invalid' || error.code === 'password_wrong'))
        audit(request, 'sign_in_failed', account === undefined ? {} : { account })
      throw error
    }
  }

  const signedOut = (request: Request) => withCookie(emptyAnswer(), clearedSessionCookie(isSecure(request)))
  const signedIn = async (request: Request, account: string) => {
    const token = await sessions.create(account, request.headers.get('user-agent') ?? '', sessionToken(request))
    return sessionCookie(token, isSecure(request))
  }

  const app = new Elysia({ normalize: false })
  const onAnyone = createMount(app, (request) => refuseStrangers(request, deps.isOwnHost))
  onAnyone(wire.SHOW_SIGN_UP, async (_, { request }) => ({
    open: accounts.signUpOpen(),
    setup_code_required: accounts.setupCode() !== undefined,
    signed_in: (await findSession(request)) !== undefined,
  }))
  onAnyone(wire.CREATE_ACCOUNT, async (_, { request }) => {
    const { email, password, setup_code } = await readJson(request, wire.SignUp, SIGN_UP_RULES)
    const address = addressOf(request)
    const setupCode = setup_code === undefined ? {} : { setupCode: setup_code }
    const { account, key } = await accounts.create({ email, password, address, ...setupCode })
    audit(request, 'account_created', { account: account.id })
    const created: wire.NewAccount = { account: answerAccount(account), key: answerIssuedKey(key) }
    return withCookie(jsonAnswer(created, 201), await signedIn(request, account.id))
  })
  onAnyone(wire.SIGN_IN, async (_, { request }) => {
    const { email, password } = await readJson(request, wire.SignIn)
    const attempt = { email, password, address: addressOf(request) }
    const account = await audited(request, undefined, accounts.signIn(attempt))
    audit(request, 'signed_in', { account: account.id })
    const answer: wire.SignedIn = { account: answerAccount(account) }
    return withCookie(jsonAnswer(answer, 201), await signedIn(request, account.id))
  })

  // where a body is read the session is looked up again: it may have ended while the body arrived
  const onSession = createMount(app, requireSession)
  onSession(wire.DELETE_ACCOUNT, async (_, { request }) => {
    const { password = '', operator } = await readJson(request, wire.DeleteAccount)
    const { account, id } = await requireSession(request)
    await audited(request, account, accounts.confirmPassword(account, { password, session: id }))
    await accounts.delete(account, operator)
    audit(request, 'account_deleted', { account })
    deps.onDeleted(account)
    return signedOut(request)
  })
  onSession(wire.CHANGE_PASSWORD, async (_, { request }) => {
    const { current_password, new_password } = await readJson(request, wire.ChangePassword, PASSWORD_RULES)
    const { account, id } = await requireSession(request)
    const change = { currentPassword: current_password, newPassword: new_password, session: id }
    await audited(request, account, accounts.changePassword(account, change))
    audit(request, 'password_changed', { account })
  })
  onSession(wire.SHOW_SESSION, async (session) => {
    const account = await accounts.get(session.account)
    if (account === undefined) throw new Problem('session_invalid', 'The account is gone.')
    return { account: answerAccount(account) }
  })
  onSession(wire.SIGN_OUT, async ({ account, id }, { request }) => {
    await sessions.revoke(account, id)
    return signedOut(request)
  })
  onSession(wire.LIST_SESSIONS, async ({ account, id: current }) => ({
    sessions: (await sessions.list(account)).map(({ id, userAgent, createdMs, seenMs, expiresMs }) => ({
      id,
      current: id === current,
      user_agent: userAgent,
      created_at: time(createdMs),
      last_seen_at: time(seenMs),
      expires_at: time(expiresMs),
    })),
  }))
  onSession(wire.END_SESSION, async ({ account, id }, { request, params }) => {
    await sessions.revoke(account, params.id)
    return params.id === id ? signedOut(request) : emptyAnswer()
  })

  const onManager = createMount(app, requireManager)
  onManager(keyWire.LIST_KEYS, async ({ account }) => ({
    keys: (await keys.list(account)).map(
      ({ id, name, prefix, scopes, createdMs, lastUsedMs, expiresMs, revokedMs }) => ({
        id,
        name,
        prefix,
        scopes: [...scopes],
        created_at: time(createdMs),
        last_used_at: maybeTime(lastUsedMs),
        expires_at: maybeTime(expiresMs),
        revoked_at: maybeTime(revokedMs),
      }),
    ),
  }))
  onManager(keyWire.CREATE_KEY, async (_, { request }) => {
    const { name, scopes = ['write'] } = await readJson(request, keyWire.CreateKey)
    if (scopes.includes('ping') && scopes.length > 1) throw pingAlone()
    const { account, has } = await requireManager(request)
    refuseWiderScopes(has, scopes)
    const key = await keys.create(account, name.trim(), scopes)
    audit(request, 'key_created', { account, key: key.id })
    return { key: answerIssuedKey(key) }
  })
  onManager(keyWire.REVOKE_KEY, async ({ account }, { request, params }) => {
    await keys.revoke(account, params.id)
    audit(request, 'key_revoked', { account, key: params.id })
  })
  onManager(keyWire.ROTATE_KEY, async (_, { request, params }) => {
    const { overlap_seconds = 0 } = await readJson(request, keyWire.RotateKey)
    const { account, has } = await requireManager(request)
    refuseWiderScopes(has, await keys.scopesOf(account, params.id))
    const key = await keys.rotate(account, params.id, overlap_seconds)
    audit(request, 'key_rotated', { account, key: key.id })
    return { key: answerIssuedKey(key) }
  })
  return app
}
