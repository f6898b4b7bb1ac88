// The caller's address, and whether it used TLS. Behind trusted proxies the caller is the n-th entry of X-Forwarded-For
// from the right; the caller wrote those further left. X-Forwarded-Proto is read the same way.
import { isIP } from 'node:net'

/** `trustedProxies`: how many proxies stand before Stint, each appending to X-Forwarded-For; 0 = none is believed. */
export function clientAddress(request: Request, peer: string | undefined, trustedProxies: number): string {
  const forwarded = forwardedBy(request, 'x-forwarded-for', trustedProxies) ?? ''
  const withoutPort = forwarded.replace(/^\[|\](?::\d+)?$|(?<=^[^:]+):\d+$/g, '')
  return isIP(withoutPort) === 0 ? (peer ?? 'unknown') : withoutPort
}

/** Whether the outermost trusted proxy used TLS. A proxy that replaces the header leaves one entry. */
export const isForwardedSecure = (request: Request, trustedProxies: number): boolean =>
  forwardedBy(request, 'x-forwarded-proto', trustedProxies)?.toLowerCase() === 'https'

function forwardedBy({ headers }: Request, name: string, trustedProxies: number): string | undefined {
  const hops = trustedProxies > 0 ? headers.get(name)?.split(',') : undefined
  return hops?.[Math.max(0, hops.length - trustedProxies)]?.trim()
}

// DNS rebinding: another site's page points its host name to Stint's address, so the browser takes both for one site.
// Only the Host header shows it: require one of ALLOWED_HOSTS, or a loopback name when listening on loopback alone.
const LOOPBACK_NAME = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** `allowed`: lower case, no port; empty: any, or only loopback names if `loopbackOnly`. Loopback names always pass. */
export function createIsOwnHost(allowed: readonly string[], loopbackOnly: boolean): (request: Request) => boolean {
  if (allowed.length === 0 && !loopbackOnly) return () => true
  const names = new Set(allowed)
  return ({ headers }) => {
    const host = headers.get('host')
    if (host === null || LOOPBACK_NAME.test(host)) return true // without a Host header no browser sent it
    return names.has(host.toLowerCase().replace(/\.?(?::\d{1,5})?$/, ''))
  }
}

interface OwnAddressOptions {
  /** PUBLIC_URL. */
  readonly publicUrl: string | undefined
  /** ALLOWED_HOSTS. */
  readonly allowed: readonly string[]
  /** The address that Stint listens on; undefined for a wildcard, to which nothing can connect. */
  readonly listening: string | undefined
  isSecure(request: Request): boolean
}

/**
 * The address by which a request reached Stint, for lines that are shown and pasted: PUBLIC_URL, or the Host header if
 * it is one of ALLOWED_HOSTS or a loopback name, or where Stint listens. Otherwise undefined: a Host header
 * that nothing confirms may name the server of a stranger.
 */
export function createOwnAddress({ publicUrl, allowed, listening, isSecure }: OwnAddressOptions) {
  const isAllowed = createIsOwnHost(allowed, true)
  return (request: Request): string | undefined => {
    if (publicUrl !== undefined) return publicUrl
    const host = request.headers.get('host')
    if (host === null || !/^[\w.:[\]-]+$/.test(host) || !isAllowed(request)) return listening
    return `${isSecure(request) ? 'https' : 'http'}://${host}`
  }
}
