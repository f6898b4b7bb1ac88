// /auth/oidc: single sign-on. The browser leaves with a cookie that holds what must come back, and returns by a plain
// GET with it; anything else (begun at the provider, in another browser, by form_post, twice) is refused.
import { networkOf } from '../../account/networks.ts'
import type { TokenBuckets } from '../../account/token-buckets.ts'
import type { Logger } from '../../log.ts'
import { FLOW_MAX_S, type FlowCookie } from '../../oidc/flow-cookie.ts'
import type { Provider } from '../../oidc/provider.ts'
import { Problem } from '../../problem.ts'
import type { OidcConfig } from '../../settings.ts'
import type { Role } from '../../wire/roles.ts'
import { BEGIN_OIDC, FINISH_OIDC } from '../../wire/sessions.ts'
import { problemResponse } from '../answers.ts'
import { htmlPage } from '../html-page.ts'
import type { Mounts } from '../mount.ts'
import { noteClaims, type PeopleDeps, startSession } from './session-answers.ts'

/** Absent without OIDC_ISSUER. */
export interface OidcDeps {
  readonly settings: Pick<OidcConfig, 'issuer' | 'name' | 'join'>
  readonly provider: Provider
  readonly cookie: FlowCookie
  /** Keyed by the client's address: each step asks the provider. */
  readonly limiter: TokenBuckets
  /** The role that the claims give in the operator's account. */
  roleOf(claims: Readonly<Record<string, unknown>>): Role | undefined
  readonly log: Logger
}

const COOKIE = 'stint_sign_in'
const COOKIE_PATTERN = new RegExp(`(?:^|;)\\s*${COOKIE}=([\\w.-]{1,4000})`)
/** Rights may have ended at the provider meanwhile. */
const SESSION_MS = 12 * 3_600_000
const PATH = FINISH_OIDC.path

export function mountOidc({ onAnyone }: Mounts, deps: PeopleDeps, oidc?: OidcDeps): void {
  const { accounts, addressOf, audit, isSecure, nowMs, publicUrl } = deps

  const cookieOf = (request: Request, value: string, maxAgeS: number) =>
    `${COOKIE}=${value}; Path=/auth/oidc; HttpOnly; SameSite=Lax; ` +
    `Max-Age=${maxAgeS}${isSecure(request) ? '; Secure' : ''}`

  const redirect = (location: string, ...cookies: readonly string[]) => {
    const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    for (const cookie of cookies) headers.append('set-cookie', cookie)
    return new Response(null, { status: 302, headers })
  }

  async function begin(request: Request, { provider, cookie, limiter }: OidcDeps): Promise<Response> {
    const { host, search, searchParams } = new URL(request.url)
    // The provider sends the browser back to the public address: the cookie has to be set there.
    const isPublic = (request.headers.get('host') ?? host) === new URL(publicUrl()).host
    if (!isPublic && !searchParams.has('moved'))
      return redirect(`${publicUrl()}${BEGIN_OIDC.path}${search || '?'}&moved`)
    limiter.attempt(networkOf(addressOf(request)))
    const { url, attempt } = await provider.begin(`${publicUrl()}${PATH}`)
    const flow = { ...attempt, returnTo: localPath(searchParams.get('return_to')), begunMs: nowMs() }
    return redirect(url, cookieOf(request, cookie.write(flow), FLOW_MAX_S))
  }

  async function finish(
    request: Request,
    { provider, cookie, settings, limiter, roleOf }: OidcDeps,
  ): Promise<Response> {
    const { search, searchParams } = new URL(request.url)
    const value = COOKIE_PATTERN.exec(request.headers.get('cookie') ?? '')?.[1]
    const flow = value === undefined ? undefined : cookie.read(value, nowMs())
    if (flow === undefined || searchParams.get('state') !== flow.state)
      throw new Problem('sign_in_expired', 'Begin again, in this browser, with the button on the sign-in page.')
    limiter.attempt(networkOf(addressOf(request)))
    const proof = await provider.finish(`${publicUrl()}${PATH}`, search, flow)
    const role = roleOf(proof.claims)
    const seat = await accounts.identities.admit({ ...proof, ...(role && { role }) }, settings.join)
    const session = await startSession(deps, request, seat, { proof: 'oidc', endsMs: nowMs() + SESSION_MS })
    const { account, email: actor, disputed } = seat
    const address = addressOf(request)
    await noteClaims(deps, { disputed, email: actor, address })
    if (seat.isNew) await audit('member_joined', { account, actor, detail: 'by the provider', address })
    await audit('signed_in', { account, actor, detail: settings.issuer, address })
    return redirect(flow.returnTo, session, cookieOf(request, '', 0))
  }

  const answered = (step: typeof begin) => async (request: Request) => {
    if (oidc === undefined) throw new Problem('not_found', 'This Stint has no identity provider (OIDC_ISSUER).')
    try {
      return await step(request, oidc)
    } catch (error) {
      const problem = toProblem(error, oidc, deps.passwordSignIn)
      if (problem === undefined) throw error
      const response = request.headers.get('accept')?.includes('text/html') ? page(problem) : problemResponse(problem)
      if (step === finish) response.headers.append('set-cookie', cookieOf(request, '', 0)) // what was begun is over
      return response
    }
  }

  onAnyone(BEGIN_OIDC, (_, { request }) => answered(begin)(request))
  onAnyone(FINISH_OIDC, (_, { request }) => answered(finish)(request))
}

/** A path of this Stint; whatever else was asked for, the console. */
const localPath = (text: string | null): string =>
  text !== null && /^\/(?![/\\])[\w\-./#?=&%]*$/.test(text) ? text : '/'

/** Undefined for a fault that is not about the sign-in. */
function toProblem(error: unknown, { settings, log }: OidcDeps, passwordSignIn: boolean): Problem | undefined {
  if (error instanceof Problem) return error
  if (!(error instanceof Error) || error.name !== 'ProviderError') return undefined
  const { kind } = error as Error & { kind?: string }
  const { cause } = error
  log.warn({ reason: reasonOf(cause), issuer: settings.issuer }, error.message)
  const otherwise = passwordSignIn ? ' Passwords still work.' : ''
  if (kind === 'misconfigured')
    return new Problem(
      'provider_unavailable',
      `${settings.name} does not accept this Stint: the operator must check OIDC_CLIENT_SECRET.${otherwise}`,
    )
  return kind === 'unavailable'
    ? new Problem('provider_unavailable', `${settings.name} cannot be reached.${otherwise} Try again later.`, {
        retryAfterS: 10,
      })
    : new Problem('sign_in_refused', `${settings.name} did not confirm who you are. Begin again on the sign-in page.`)
}

/** Codes and messages alone: the cause of a fault may hold tokens. */
function reasonOf(cause: unknown): string {
  const { code, error, message } = cause as { code?: string; error?: string; message?: string }
  return [error, code, message].filter((part) => typeof part === 'string').join(': ')
}

const page = ({ status, title, message }: Problem): Response =>
  htmlPage(title, message, '<p><a href="/">Back to the sign-in page</a></p>', status)
