// The session of a person in the console or the command line: the cookie, and the refusal of other sites' requests.
// Beside SameSite=Strict, what changes something is refused when the browser says that another site caused it.
import { Problem } from '../../problem.ts'

/** With `__Host-` before it under TLS, or else the port behind it. */
export const SESSION_COOKIE = 'stint_session'
/** Browsers refuse it from a subdomain, from plain http and with another path. */
const SECURE_NAME = `__Host-${SESSION_COOKIE}`
/** Longer than a session lives (30 days at most); the server decides when it ends. */
const MAX_AGE_S = 30 * 86_400

interface SessionCookiesOptions {
  isSecure(request: Request): boolean
  /** PUBLIC_URL. */
  readonly publicUrl: string | undefined
}

export type SessionCookies = ReturnType<typeof createSessionCookies>

/**
 * Under TLS only the prefixed cookie counts: only Stint itself can have set it. Cookies of plain http are the same on
 * all ports of a host, so that their name holds the port: several Stints there do not sign each other's people out.
 */
export function createSessionCookies({ isSecure, publicUrl }: SessionCookiesOptions) {
  const nameAt = (request: Request) =>
    isSecure(request) ? SECURE_NAME : `${SESSION_COOKIE}_${portOf(request, publicUrl)}`
  const write = (request: Request, token: string, maxAgeS: number) => {
    const secure = isSecure(request) ? '; Secure' : ''
    return `${nameAt(request)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`
  }
  return {
    tokenOf(request: Request): string | undefined {
      const cookies = request.headers.get('cookie')
      if (cookies === null) return undefined
      const found = findCookie(cookies, nameAt(request))
      // Sessions from before 2.1, which have all ended 30 days after the upgrade.
      return found ?? (isSecure(request) ? undefined : findCookie(cookies, SESSION_COOKIE))
    },
    /** The value of `set-cookie`. */
    write: (request: Request, token: string): string => write(request, token, MAX_AGE_S),
    clear: (request: Request): string => write(request, '', 0),
  }
}

const findCookie = (cookies: string, name: string): string | undefined =>
  new RegExp(`(?:^|;)\\s*${name}=([0-9A-Za-z]{1,128})\\s*(?:;|$)`).exec(cookies)?.[1]

/** The port in the address that people use. */
function portOf(request: Request, publicUrl: string | undefined): string {
  const host = request.headers.get('host') ?? new URL(request.url).host
  const { protocol, port } = new URL(publicUrl ?? (URL.canParse(`http://${host}`) ? `http://${host}` : request.url))
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}

/** `publicUrl`: PUBLIC_URL, whose pages are Stint's own, whatever a proxy says. Throws Problem `cross_site`. */
export function refuseStrangers(
  request: Request,
  isOwnHost: (request: Request) => boolean,
  publicUrl: string | undefined,
): void {
  refuseForeignHost(request, isOwnHost)
  refuseCrossSite(request, publicUrl)
}

/** Throws Problem `cross_site` when a page of another site sent a changing request. Non-browsers pass. */
function refuseCrossSite(request: Request, publicUrl: string | undefined): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { headers } = request
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site === null ? isOwnOrigin(origin, request, publicUrl) : site === 'same-origin' || site === 'none') return
  const host = headers.get('host') ?? ''
  const isMisread = site === null && [origin, host].every((text) => /^[\w.:/[\]-]{1,260}$/.test(text ?? ''))
  if (!isMisread) throw new Problem('cross_site', 'Only pages of Stint itself may do this in a browser.')
  const advice = 'Let it pass the Host header on, or set PUBLIC_URL.'
  throw new Problem('cross_site', `The page is ${origin}, and the proxy says that it is ${host}. ${advice}`)
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
function isOwnOrigin(origin: string | null, request: Request, publicUrl: string | undefined): boolean {
  if (origin === null) return true
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host === (request.headers.get('host') ?? new URL(request.url).host) || isPublic(origin, publicUrl)
}

const isPublic = (origin: string, publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && new URL(publicUrl).origin === new URL(origin).origin
