// Limits attempts: `limit` at once, regained evenly over `windowS` (generic cell rate algorithm: one number per key).
// Memory is bounded: beyond `maxEntries` the key that tried longest ago is forgotten.
import { isIPv6 } from 'node:net'
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'

export interface AttemptLimiterOptions {
  readonly clock: Clock
  readonly limit: number
  readonly windowS: number
  readonly maxEntries: number
}

export type AttemptLimiter = ReturnType<typeof createAttemptLimiter>

export function createAttemptLimiter({ clock, limit, windowS, maxEntries }: AttemptLimiterOptions) {
  const windowUs = windowS * 1e6
  const stepUs = windowUs / limit
  /** Monotonic time at which a key has all its attempts again; the Map's order is that of the last attempt. */
  const regainedUs = new Map<string, number>()

  return {
    /** Throws Problem `rate_limited` with the seconds to wait for an attempt too many, which is not counted. */
    attempt(key: string): void {
      const nowUs = clock.monotonicUs()
      const next = Math.max(regainedUs.get(key) ?? 0, nowUs) + stepUs
      // The µs is for what the sums were rounded by.
      const waitUs = next - nowUs - windowUs
      if (waitUs > 1) {
        throw new Problem('rate_limited', 'Too many attempts. Wait before the next one.', {
          retryAfterS: Math.ceil(waitUs / 1e6),
        })
      }
      regainedUs.delete(key)
      if (regainedUs.size >= maxEntries) regainedUs.delete(regainedUs.keys().next().value!)
      regainedUs.set(key, next)
    },
    /** Takes one attempt back because it succeeded. */
    forgive(key: string): void {
      const at = regainedUs.get(key)
      if (at !== undefined) regainedUs.set(key, at - stepUs)
    },
  }
}

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
