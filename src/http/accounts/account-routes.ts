// Accounts, sessions and keys over HTTP. All but sign-up and sign-in need the session cookie; none takes an API key.
// Order of checks: own name and own site (403) → session (401) → size, content type, JSON, fields (413, 422) → what is asked for.
import type { TObject } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Account, Accounts } from '../../account/accounts.ts'
import type { IssuedKey } from '../../account/keys.ts'
import { Problem } from '../../problem.ts'
import { accountDetails as details } from '../docs/describe-accounts.ts'
import { emptyAnswer, jsonAnswer } from '../json-answer.ts'
import { type AccountBody, createAccountSchemas, readAccountBody } from './account-bodies.ts'
import {
  clearedSessionCookie,
  createFindSession,
  refuseCrossSite,
  refuseForeignHost,
  type SessionRef,
  sessionCookie,
  sessionToken,
} from './session-cookie.ts'

export interface AccountRoutesDeps {
  readonly accounts: Accounts
  /** Whose attempts these are; the address is resolved behind trusted proxies. */
  addressOf(request: Request): string
  /** Did the browser reach Stint by TLS, directly or by a trusted proxy? */
  isSecure(request: Request): boolean
  /** Is the name by which the request asked for Stint one of its own? */
  isOwnHost(request: Request): boolean
  /** Called after an account is gone: its data elsewhere has to go too. What fails here is tried again at the next start. */
  onDeleted(account: string): void
}

function withCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie)
  return response
}

const time = (ms: number): string => new Date(ms).toISOString()
const maybeTime = (ms: number | null): string | null => (ms === null ? null : time(ms))

const toAccountJson = ({ id, email, createdMs, operator }: Account) => ({
  id,
  email,
  created_at: time(createdMs),
  operator,
})
const toIssuedKeyJson = ({ id, name, prefix, scopes, secret }: IssuedKey) => ({ id, name, prefix, scopes, secret })

export function accountRoutes(deps: AccountRoutesDeps) {
  const { accounts, addressOf, isSecure } = deps
  const { keys, sessions } = accounts
  const schemas = createAccountSchemas()
  const findSession = createFindSession(sessions.find)

  function refuseStrangers(request: Request): void {
    refuseForeignHost(request, deps.isOwnHost)
    refuseCrossSite(request)
  }

  /** The session of a request that may act for it. */
  function requireSession(request: Request): SessionRef {
    refuseStrangers(request)
    const session = findSession(request)
    if (session === undefined) throw new Problem('session_invalid', 'There is no session, or it has ended.')
    return session
  }

  /** For routes without a session: own site, then the body. */
  const openBody = <T extends TObject>(schema: T) => ({
    parse: ({ request }: { request: Request }) => {
      refuseStrangers(request)
      return readAccountBody(request, schema)
    },
    body: schema,
  })
  const sessionBody = <T extends TObject>(schema: T) => ({
    parse: ({ request }: { request: Request }) => {
      requireSession(request)
      return readAccountBody(request, schema)
    },
    body: schema,
  })

  const signedIn = (request: Request, account: string) => {
    const token = sessions.create(account, request.headers.get('user-agent') ?? '', sessionToken(request))
    return sessionCookie(token, isSecure(request))
  }

  return new Elysia({ normalize: false })
    .get(
      '/api/sign-up',
      ({ request }) => {
        refuseStrangers(request)
        return jsonAnswer({
          open: accounts.signUpOpen(),
          setup_code_required: accounts.setupCode() !== undefined,
          signed_in: findSession(request) !== undefined,
        })
      },
      { detail: details.signUpState },
    )
    .post(
      '/api/accounts',
      async ({ request, body }) => {
        const { email, password, setup_code } = body as AccountBody<'signUp'>
        const address = addressOf(request)
        const setupCode = setup_code === undefined ? {} : { setupCode: setup_code }
        const { account, key } = await accounts.create({ email, password, address, ...setupCode })
        const made = { account: toAccountJson(account), key: toIssuedKeyJson(key) }
        return withCookie(jsonAnswer(made, 201), signedIn(request, account.id))
      },
      { ...openBody(schemas.signUp), detail: details.signUp },
    )
    .delete(
      '/api/account',
      ({ request }) => {
        const { account } = requireSession(request)
        accounts.delete(account)
        deps.onDeleted(account)
        return withCookie(emptyAnswer(), clearedSessionCookie(isSecure(request)))
      },
      { detail: details.deleteAccount },
    )
    .post(
      '/api/password',
      async ({ request, body }) => {
        const { current_password, new_password } = body as AccountBody<'password'>
        const { account, id } = requireSession(request)
        await accounts.changePassword(account, {
          currentPassword: current_password,
          newPassword: new_password,
          address: addressOf(request),
          keepSession: id,
        })
        return emptyAnswer()
      },
      { ...sessionBody(schemas.password), detail: details.changePassword },
    )
    .post(
      '/api/session',
      async ({ request, body }) => {
        const { email, password } = body as AccountBody<'signIn'>
        const account = await accounts.signIn({ email, password, address: addressOf(request) })
        return withCookie(jsonAnswer({ account: toAccountJson(account) }, 201), signedIn(request, account.id))
      },
      { ...openBody(schemas.signIn), detail: details.signIn },
    )
    .get(
      '/api/session',
      ({ request }) => jsonAnswer({ account: toAccountJson(accounts.get(requireSession(request).account)!) }),
      { detail: details.whoAmI },
    )
    .delete(
      '/api/session',
      ({ request }) => {
        const { account, id } = requireSession(request)
        sessions.revoke(account, id)
        return withCookie(emptyAnswer(), clearedSessionCookie(isSecure(request)))
      },
      { detail: details.signOut },
    )
    .get(
      '/api/sessions',
      ({ request }) => {
        const { account, id: current } = requireSession(request)
        const list = sessions.list(account).map(({ id, userAgent, createdMs, seenMs, expiresMs }) => ({
          id,
          current: id === current,
          user_agent: userAgent,
          created_at: time(createdMs),
          last_seen_at: time(seenMs),
          expires_at: time(expiresMs),
        }))
        return jsonAnswer({ sessions: list })
      },
      { detail: details.listSessions },
    )
    .delete(
      '/api/sessions/:id',
      ({ request, params }) => {
        const { account, id } = requireSession(request)
        sessions.revoke(account, params.id)
        return params.id === id ? withCookie(emptyAnswer(), clearedSessionCookie(isSecure(request))) : emptyAnswer()
      },
      { detail: details.revokeSession },
    )
    .get(
      '/api/keys',
      ({ request }) => {
        const { account } = requireSession(request)
        const list = keys.list(account).map(({ createdMs, lastUsedMs, expiresMs, revokedMs, ...key }) => ({
          ...key,
          created_at: time(createdMs),
          last_used_at: maybeTime(lastUsedMs),
          expires_at: maybeTime(expiresMs),
          revoked_at: maybeTime(revokedMs),
        }))
        return jsonAnswer({ keys: list })
      },
      { detail: details.listKeys },
    )
    .post(
      '/api/keys',
      ({ request, body }) => {
        const { account } = requireSession(request)
        const { name, scopes = ['write'] } = body as AccountBody<'createKey'>
        return jsonAnswer({ key: toIssuedKeyJson(keys.create(account, name.trim(), scopes)) }, 201)
      },
      { ...sessionBody(schemas.createKey), detail: details.createKey },
    )
    .delete(
      '/api/keys/:id',
      ({ request, params }) => {
        keys.revoke(requireSession(request).account, params.id)
        return emptyAnswer()
      },
      { detail: details.revokeKey },
    )
    .post(
      '/api/keys/:id/rotate',
      ({ request, params, body }) => {
        const { account } = requireSession(request)
        const { overlap_seconds = 0 } = body as AccountBody<'rotateKey'>
        return jsonAnswer({ key: toIssuedKeyJson(keys.rotate(account, params.id, overlap_seconds)) }, 201)
      },
      { ...sessionBody(schemas.rotateKey), detail: details.rotateKey },
    )
}
