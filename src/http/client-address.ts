// Who called, and by TLS or not. Behind trusted proxies the caller is the n-th entry of X-Forwarded-For from the right; anything further
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
