// The caller's address, and whether it used TLS. Behind trusted proxies the caller is the n-th entry of X-Forwarded-For from the right; anything further
// left was written by the caller and proves nothing. X-Forwarded-Proto is read the same way.

/** `trustedProxies`: how many proxies stand before Stint, each appending to X-Forwarded-For; 0 = none is believed. */
export const clientAddress = (request: Request, peer: string | undefined, trustedProxies: number): string =>
  forwardedBy(request, 'x-forwarded-for', trustedProxies) || (peer ?? 'unknown')

/** Did the outermost trusted proxy receive the request by TLS? A proxy that replaces the header instead of appending leaves one entry. */
export const isForwardedSecure = (request: Request, trustedProxies: number): boolean =>
  forwardedBy(request, 'x-forwarded-proto', trustedProxies)?.toLowerCase() === 'https'

function forwardedBy({ headers }: Request, name: string, trustedProxies: number): string | undefined {
  const hops = trustedProxies > 0 ? headers.get(name)?.split(',') : undefined
  return hops?.[Math.max(0, hops.length - trustedProxies)]?.trim()
}

// DNS rebinding: a page of another site points its own host name to Stint's address, and the browser takes Stint for a part of that site. Only
// the Host header gives it away. It must be one of ALLOWED_HOSTS, or a loopback name where Stint listens on a loopback address alone.
const LOOPBACK_NAME = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** `allowed`: host names in lower case, without port; empty = any, or loopback names alone where `loopbackOnly`. Loopback names always pass. */
export function createIsOwnHost(allowed: readonly string[], loopbackOnly: boolean): (request: Request) => boolean {
  if (allowed.length === 0 && !loopbackOnly) return () => true
  const names = new Set(allowed)
  return ({ headers }) => {
    const host = headers.get('host')
    if (host === null || LOOPBACK_NAME.test(host)) return true // without a Host header no browser sent it
    return names.has(host.toLowerCase().replace(/\.?(?::\d{1,5})?$/, ''))
  }
}
