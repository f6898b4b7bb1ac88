// The session of a person in the console or the command line: the cookie, whom it belongs to, and the refusal of other sites' requests.
// Beside SameSite=Strict, what changes something is refused when the browser says that another site caused it.
import { Problem } from '../../problem.ts'

export const SESSION_COOKIE = 'stint_session'
/** Longer than a session lives (30 days at most); the server decides when it ends. */
const MAX_AGE_S = 30 * 86_400

export interface SessionRef {
  readonly id: string
  readonly account: string
}

/** `find` looks a token up. Gives the session that a request's cookie names, while it lasts. */
export type FindSession = (request: Request) => SessionRef | undefined

export const createFindSession =
  (find: (token: string) => SessionRef | undefined): FindSession =>
  (request) => {
    const token = sessionToken(request)
    return token === undefined ? undefined : find(token)
  }

const COOKIE = new RegExp(`(?:^|;)\\s*${SESSION_COOKIE}=([0-9A-Za-z]{1,128})\\s*(?:;|$)`)

export const sessionToken = (request: Request): string | undefined =>
  COOKIE.exec(request.headers.get('cookie') ?? '')?.[1]

/** The value of `set-cookie`. `secure` when the browser reached Stint by TLS. */
export const sessionCookie = (token: string, secure: boolean): string =>
  `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${MAX_AGE_S}${secure ? '; Secure' : ''}`

export const clearedSessionCookie = (secure: boolean): string =>
  `${SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${secure ? '; Secure' : ''}`

/** Throws Problem `cross_site` when a browser sent a changing request from a page that is not Stint's own. Other clients pass: they have no cookie but their own. */
export function refuseCrossSite(request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = request.headers.get('sec-fetch-site')
  const same =
    site === null ? isOwnOrigin(request.headers.get('origin'), request) : site === 'same-origin' || site === 'none'
  if (!same) throw new Problem('cross_site', 'Only pages of Stint itself may do this in a browser.')
}

/** Throws Problem `cross_site` when the request asked for Stint by a name that is not its own; see own-host.ts. */
export function refuseForeignHost(request: Request, isOwnHost: (request: Request) => boolean): void {
  if (isOwnHost(request)) return
  throw new Problem(
    'cross_site',
    'Stint listens on this machine alone and was asked for by another name. Call it localhost, or set TRUST_PROXY behind a proxy.',
  )
}

/** The scheme is not compared: a proxy may have ended TLS. */
function isOwnOrigin(origin: string | null, request: Request): boolean {
  if (origin === null) return true
  return URL.canParse(origin) && new URL(origin).host === (request.headers.get('host') ?? new URL(request.url).host)
}
