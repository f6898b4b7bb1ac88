// Finds the account of a request: by an API key with the scope that is needed, or by the session of the console. A key goes before a session.
import type { FoundKey } from '../../account/key-ring.ts'
import { Problem } from '../../problem.ts'
import type { Scope } from '../../wire/keys.ts'
import type { LimitBadKeys, RateLimit, RateLimitHeaders } from '../intake/rate-limit.ts'

export interface AuthorizeDeps {
  readonly keyHeader: string
  readonly keyInvalid: Problem
  /** Absent: requests without a valid key are not limited. */
  readonly limitBadKeys?: LimitBadKeys
  /** Requests per account and second. Absent: not limited. */
  readonly readLimit?: { readonly limit: RateLimit; readonly headers: Pick<RateLimitHeaders, 'note'> }
  findKey(secret: string): FoundKey | undefined
  /** The account of the request's session. Throws Problem `cross_site`. */
  findSession(request: Request): Promise<{ readonly account: string } | undefined>
}

/**
 * The account whose events the request may see, or change. Throws Problem `key_invalid`, `rate_limited`, `scope_missing` or `cross_site`;
 * a session also `store_unavailable`.
 */
export async function authorize(request: Request, deps: AuthorizeDeps, scope: Scope): Promise<string> {
  const key = findRequestKey(request, deps)
  if (key === undefined) {
    const session = await deps.findSession(request)
    if (session === undefined) throw deps.limitBadKeys?.(request) ?? deps.keyInvalid
    return withinLimit(request, session.account, deps)
  }
  if (!key[scope]) throw new Problem('scope_missing', `This key may not ${scope}.`)
  return withinLimit(request, key.account, deps)
}

function withinLimit(request: Request, account: string, { readLimit }: AuthorizeDeps): string {
  if (readLimit === undefined) return account
  const { limit, headers } = readLimit
  const waitS = limit.take(account)
  headers.note(request, account, limit)
  if (waitS === 0) return account
  throw new Problem('rate_limited', `An account may make ${limit.limit} requests per second under /api.`, {
    retryAfterS: waitS,
  })
}

/** `Authorization: Bearer`, which Prometheus and most HTTP tools can send. A Basic one is a proxy's own. */
const BEARER = /^bearer +(\S+) *$/i

/** The key that the request was sent with; undefined when it names none. Throws Problem `key_invalid` or `rate_limited`. */
export function findRequestKey(request: Request, deps: Omit<AuthorizeDeps, 'findSession'>): FoundKey | undefined {
  const { headers } = request
  const secret = headers.get(deps.keyHeader) ?? BEARER.exec(headers.get('authorization') ?? '')?.[1]
  if (secret === undefined) return undefined
  const key = deps.findKey(secret)
  if (key === undefined) throw deps.limitBadKeys?.(request) ?? deps.keyInvalid
  return key
}

// Keys are managed by a session, or by a key with the scope `manage`, which cannot grant scopes that it lacks.
export interface KeyManager {
  readonly account: string
  has(scope: Scope): boolean
}

/** The function throws Problem `scope_missing`, and what the two given ones throw. */
export const createRequireManager =
  (
    findKey: (request: Request) => FoundKey | undefined,
    requireSession: (request: Request) => Promise<{ readonly account: string }>,
  ) =>
  async (request: Request): Promise<KeyManager> => {
    const key = findKey(request)
    if (key === undefined) return { account: (await requireSession(request)).account, has: () => true }
    if (!key.manage) throw new Problem('scope_missing', 'This key may not manage.')
    return { account: key.account, has: (scope) => key[scope] }
  }

/** Throws Problem `scope_missing`. */
export function refuseWiderScopes(has: KeyManager['has'], scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !has(scope))
  if (missing === undefined) return
  throw new Problem('scope_missing', `This key lacks the scope ${missing}, so it cannot issue a key that has it.`)
}
