// The one check of every route: who asks, and are they allowed, by src/wire/roles.ts. A key goes before a session.
// Order of refusals: another site (403) → no valid key or session (401) → the key's scope (403) → the page shows an
// account other than the session's (409) → the account is disputed (409) or suspended (403) → the role (403) → the rate
// (429).
import type { FoundKey } from '../account/key-ring.ts'
import { networkOf } from '../account/networks.ts'
import type { FoundSession } from '../account/sessions.ts'
import { type TokenBuckets, tooManyAttempts } from '../account/token-buckets.ts'
import { Problem } from '../problem.ts'
import { ACCESS, type AccessRule, includesRole, type Role, type Scope } from '../wire/roles.ts'
import { isChange, type Route } from '../wire/route.ts'
import { refuseStrangers, type SessionCookies } from './accounts/session-cookie.ts'

/** Names the account that a page of the console shows. */
const ACCOUNT_HEADER = 'x-stint-account'

export interface AuthorizeDeps {
  readonly keyHeader: string
  readonly keyInvalid: Problem
  /** Absent: requests without a valid key are not limited. */
  readonly limitBadKeys?: LimitBadKeys
  /** Requests per account and second. Absent: not limited. */
  readonly readLimit?: TokenBuckets
  /** `request`: the one that uses it. */
  findKey(secret: string, request: Request): FoundKey | undefined
  readonly cookies: Pick<SessionCookies, 'tokenOf'>
  findSession(token: string): Promise<FoundSession | undefined>
  /** The person who has to choose what becomes of this account, if anybody. */
  disputedBy(account: string): string | undefined
  isSuspended(account: string): boolean
  isOperator(account: string): boolean
  isOwnHost(request: Request): boolean
  readonly publicOrigin?: string | undefined
}

/** The sender of an admitted request: either `key` or `session` is there. */
export interface Asker {
  readonly account: string
  /** A key counts as a member, or as a viewer after its creator became one. */
  readonly role: Role
  /** The session of an owner of the operator's account; no key is one. */
  readonly isOperator: boolean
  readonly key?: FoundKey
  readonly session?: FoundSession
}

/**
 * Throws Problem `key_invalid`, `session_invalid`, `rate_limited`, `scope_missing`, `role_missing`, `operator_only`,
 * `account_changed`, `account_disputed`, `account_suspended` or `cross_site`; for a session also `store_unavailable`.
 * `isAgain`: again after the body arrived.
 */
export type Authorize = (
  request: Request,
  route: Pick<Route, 'method' | 'access' | 'whileDisputed' | 'whileSuspended'>,
  isAgain?: boolean,
) => Promise<Asker>

export function createAuthorize(deps: AuthorizeDeps): Authorize {
  async function findAsker(request: Request, rule: AccessRule): Promise<Asker> {
    const { scope, operator, signIn = scope === null } = rule
    const key = scope === null && !operator ? undefined : findRequestKey(request, deps)
    if (key !== undefined) {
      if (scope === null) throw new Problem('operator_only', 'No key has the powers of the operator: sign in.')
      if (!key[scope]) throw new Problem('scope_missing', `This key may not ${scope}.`)
      if (key.isSuspended) throw accountSuspended()
      return { account: key.account, role: key.role, isOperator: false, key }
    }
    const token = deps.cookies.tokenOf(request)
    if (token !== undefined || signIn) refuseStrangers(request, deps.isOwnHost, deps.publicOrigin)
    const session = token === undefined ? undefined : await deps.findSession(token)
    if (session === undefined) throw notProved(request, token !== undefined || signIn)
    const { account, role } = session
    return { account, role, isOperator: role === 'owner' && deps.isOperator(account), session }
  }

  const notProved = (request: Request, isSession: boolean): Problem =>
    deps.limitBadKeys?.(request) ??
    (isSession ? new Problem('session_invalid', 'There is no session, or it has ended.') : deps.keyInvalid)

  return async (request, route, isAgain = false) => {
    const rule: AccessRule = ACCESS[route.access]
    const asker = await findAsker(request, rule)
    refuseOtherAccount(request, asker)
    if (!route.whileDisputed) refuseDisputed(asker, deps)
    if (isChange(route.method, route) && deps.isSuspended(asker.account)) throw accountSuspended()
    if (rule.role !== null && !includesRole(asker.role, rule.role)) throw roleMissing(rule.role)
    if (rule.operator && !asker.isOperator)
      throw new Problem('operator_only', 'Only an owner of the operator’s account may do this.')
    if (!isAgain) keepWithinLimit(asker.account, deps)
    return asker
  }
}

export const roleMissing = (needed: Role): Problem =>
  new Problem('role_missing', needed === 'owner' ? 'Only an owner may do this.' : 'A viewer changes nothing.')

/** Also for the person who chooses: they see what others made before anything of it acts for them. */
function refuseDisputed({ account, session }: Asker, { disputedBy }: AuthorizeDeps): void {
  const person = disputedBy(account)
  if (person === undefined) return
  const todo = session?.person === person ? 'Open the console and choose' : 'Its person has to choose'
  throw new Problem(
    'account_disputed',
    `Somebody proved that this account's address is theirs. ${todo} what becomes of it. Keys that write go on.`,
  )
}

/** Callers keep the refused events and send them again later. */
export const accountSuspended = (): Problem =>
  new Problem(
    'account_suspended',
    'The operator of this Stint has suspended the account. Reading in the console works.',
  )

/** Shows who decided something: a person's address, or a key by its name. */
export type NameOf = (asker: Asker) => Promise<string>

export const createNameOf =
  (keys: { find(account: string, id: string): Promise<{ readonly name: string } | undefined> }): NameOf =>
  async ({ account, session, key }) =>
    session?.email ?? `key ${(key && (await keys.find(account, key.keyId))?.name) ?? key?.keyId}`

/** Another tab may have switched the session's account: this page must not change that account by mistake. */
function refuseOtherAccount({ headers }: Request, { account }: Asker): void {
  const shown = headers.get(ACCOUNT_HEADER)
  if (shown === null || shown === account) return
  throw new Problem('account_changed', 'This session now shows another account. Nothing was done; reload the page.')
}

function keepWithinLimit(account: string, { readLimit }: AuthorizeDeps): void {
  const waitS = readLimit?.take(account) ?? 0
  if (waitS === 0) return
  throw new Problem('rate_limited', `An account may make ${readLimit!.limit} requests per second under /api.`, {
    retryAfterS: waitS,
  })
}

/** `Authorization: Bearer`, which Prometheus and most HTTP tools can send. A Basic one is a proxy's own. */
const BEARER = /^bearer +(\S+) *$/i

/** The key in Stint's header, or else in `Authorization: Bearer`. */
export const secretOf = (headers: Headers, keyHeader: string): string | undefined =>
  headers.get(keyHeader) ?? BEARER.exec(headers.get('authorization') ?? '')?.[1]

/**
 * Counts a request without a valid key by its address; returns the Problem to refuse it with when there were too many.
 * A valid key always passes, also from such an address.
 */
export type LimitBadKeys = (request: Request) => Problem | undefined

export function createLimitBadKeys(buckets: TokenBuckets, addressOf: (request: Request) => string): LimitBadKeys {
  return (request) => {
    const waitS = buckets.take(networkOf(addressOf(request)))
    return waitS > 0 ? tooManyAttempts(waitS) : undefined
  }
}

type KeyDeps = Pick<AuthorizeDeps, 'keyHeader' | 'keyInvalid' | 'limitBadKeys' | 'findKey'>

/** The key of the request; undefined when it names none. Throws Problem `key_invalid` or `rate_limited`. */
function findRequestKey(request: Request, deps: KeyDeps): FoundKey | undefined {
  const secret = secretOf(request.headers, deps.keyHeader)
  if (secret === undefined) return undefined
  const key = deps.findKey(secret, request)
  if (key === undefined) throw deps.limitBadKeys?.(request) ?? deps.keyInvalid
  return key
}

/** A key cannot issue one that may more than itself; who may write may ping. Throws Problem `scope_missing`. */
export function refuseWiderScopes({ key }: Asker, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => key?.[scope === 'ping' && key.write ? 'write' : scope] === false)
  if (missing === undefined) return
  throw new Problem('scope_missing', `This key lacks the scope ${missing}, so it cannot issue a key that has it.`)
}
