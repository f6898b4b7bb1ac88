// Whose address counts for limits. Behind trusted proxies the caller is the n-th entry of X-Forwarded-For from the right;
// anything further left was written by the caller and proves nothing.

/** `trustedProxies`: how many proxies stand before Stint, each appending to X-Forwarded-For; 0 = none is believed. */
export function clientAddress(request: Request, peer: string | undefined, trustedProxies: number): string {
  const forwarded = trustedProxies > 0 ? request.headers.get('x-forwarded-for') : null
  if (forwarded === null) return peer ?? 'unknown'
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops[Math.max(0, hops.length - trustedProxies)] || (peer ?? 'unknown')
}
