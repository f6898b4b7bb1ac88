// The session of a person in the console or the command line: the cookie, and the refusal of other sites' requests.
// Beside SameSite=Strict, what changes something is refused when the browser says that another site caused it.
import { Problem } from '../../problem.ts'

/** Under TLS the prefix makes browsers refuse the cookie from a subdomain, from plain http and with another path. */
export const SESSION_COOKIE = 'stint_session'
const SECURE_COOKIE = `__Host-${SESSION_COOKIE}`
/** Longer than a session lives (30 days at most); the server decides when it ends. */
const MAX_AGE_S = 30 * 86_400

const patternOf = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([0-9A-Za-z]{1,128})\\s*(?:;|$)`)
const SECURE_PATTERN = patternOf(SECURE_COOKIE)
const PLAIN_PATTERN = patternOf(SESSION_COOKIE)

/** The prefixed cookie wins: only Stint itself can have set it. */
export const sessionToken = (request: Request): string | undefined => {
  const cookies = request.headers.get('cookie')
  return cookies === null ? undefined : (SECURE_PATTERN.exec(cookies) ?? PLAIN_PATTERN.exec(cookies))?.[1]
}

/** The value of `set-cookie`. `secure` when the browser reached Stint by TLS. */
export const sessionCookie = (token: string, secure: boolean): string => writeCookie(token, MAX_AGE_S, secure)

export const clearedSessionCookie = (secure: boolean): string => writeCookie('', 0, secure)

const writeCookie = (token: string, maxAgeS: number, secure: boolean): string => {
  const [name, more] = secure ? [SECURE_COOKIE, '; Secure'] : [SESSION_COOKIE, '']
  return `${name}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${more}`
}

/** Throws Problem `cross_site`. */
export function refuseStrangers(request: Request, isOwnHost: (request: Request) => boolean): void {
  refuseForeignHost(request, isOwnHost)
  refuseCrossSite(request)
}

/** Throws Problem `cross_site` when a page of another site sent a changing request. Non-browsers pass. */
function refuseCrossSite(request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = request.headers.get('sec-fetch-site')
  const same =
    site === null ? isOwnOrigin(request.headers.get('origin'), request) : site === 'same-origin' || site === 'none'
  if (!same) throw new Problem('cross_site', 'Only pages of Stint itself may do this in a browser.')
}

/** Throws Problem `cross_site` when the host name of the request is not Stint's own; see request-origin.ts. */
function refuseForeignHost(request: Request, isOwnHost: (request: Request) => boolean): void {
  if (isOwnHost(request)) return
  throw new Problem(
    'cross_site',
    'The host name of the request is not one of this Stint. Use localhost, or add the name to ALLOWED_HOSTS.',
  )
}

/** The scheme is not compared: a proxy may have ended TLS. */
function isOwnOrigin(origin: string | null, request: Request): boolean {
  if (origin === null) return true
  return URL.canParse(origin) && new URL(origin).host === (request.headers.get('host') ?? new URL(request.url).host)
}
