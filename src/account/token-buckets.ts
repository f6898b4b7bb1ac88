// Limits by key: each has a bucket of `limit` tokens, which fills evenly within `windowS`. What is taken from an empty
// bucket by `owe` is debt: the key then waits for longer. A bucket is one number, the time at which it is full again
// (generic cell rate algorithm). Memory is bounded: beyond `maxEntries` the key that took longest ago is forgotten.
import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'

interface TokenBucketsOptions {
  readonly clock: Clock
  /** 0 = no limit. */
  readonly limit: number
  readonly windowS: number
  readonly maxEntries: number
}

export type TokenBuckets = ReturnType<typeof createTokenBuckets>

export function createTokenBuckets({ clock, limit, windowS, maxEntries }: TokenBucketsOptions) {
  const windowUs = windowS * 1e6
  const stepUs = windowUs / limit
  /** Monotonic time at which a bucket is full again; the Map's order is that of the last token taken. */
  const fullUs = new Map<string, number>()

  const fullAfter = (key: string, tokens: number) =>
    Math.max(fullUs.get(key) ?? 0, clock.monotonicUs()) + tokens * stepUs

  function set(key: string, us: number): void {
    fullUs.delete(key)
    if (fullUs.size >= maxEntries) fullUs.delete(fullUs.keys().next().value!)
    fullUs.set(key, us)
  }

  /** Takes a token; 0, or the seconds to wait for one: then none was taken. */
  function take(key: string): number {
    if (limit === 0) return 0
    const next = fullAfter(key, 1)
    const waitUs = next - clock.monotonicUs() - windowUs
    if (waitUs > 1) return waitUs / 1e6 // the µs is for what the sums were rounded by
    set(key, next)
    return 0
  }

  return {
    limit,
    take,
    /** Takes so many tokens, whether or not they are there. */
    owe(key: string, tokens: number): void {
      if (limit > 0 && tokens > 0) set(key, fullAfter(key, tokens))
    },
    /** Takes a token. Throws Problem `rate_limited` with the seconds to wait for one. */
    attempt(key: string): void {
      const waitS = take(key)
      if (waitS > 0) throw tooManyAttempts(waitS)
    },
    /** Takes one attempt back because it succeeded. */
    forgive(key: string): void {
      const at = fullUs.get(key)
      if (at !== undefined) fullUs.set(key, at - stepUs)
    },
  }
}

export const tooManyAttempts = (waitS: number): Problem =>
  new Problem('rate_limited', 'Too many attempts. Wait before the next one.', { retryAfterS: Math.ceil(waitS) })

// One stranger is an IPv4 address, or the 64-bit network of an IPv6 one, since its holder has 2⁶⁴ addresses.
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const OTHER_MAX = 64

/** The part of an address by which attempts are counted. Other text is used as it is, cut to 64 characters. */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address.slice(0, OTHER_MAX)
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [front = '', back] = address.replace(/%.*/, '').split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const [head, tail] = [groups(front), groups(back)]
  // An IPv4 tail (64:ff9b::192.0.2.1) is two groups; it lies behind the network in any case.
  const width = head.length + tail.length + (address.includes('.') ? 1 : 0)
  const all = back === undefined ? head : [...head, ...Array<string>(8 - width).fill('0'), ...tail]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
