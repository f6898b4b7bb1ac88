// One stranger is an IPv4 address, or the 64-bit network of an IPv6 one, since its holder has 2⁶⁴ addresses. The owner
// of a site or a provider has many of these: where there are too many to count each, the next coarser network counts.
import { isIPv4, isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const OTHER_MAX = 64

/** The part of an address by which attempts are counted. Other text is used as it is, cut to 64 characters. */
export function networkOf(address: string): string {
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

const IPV6_NETWORK = /^([\da-f]+:[\da-f]+)(:[\da-f]+)?(:[\da-f]+)?::\/(32|48|64)$/
const IPV4_NETWORK = /^(\d+\.\d+)\.(\d+)\.0\/24$/

/** /64 → /48 → /32; an IPv4 address → /24 → /16; undefined above these, and for other text. */
export function coarserNetwork(network: string): string | undefined {
  if (isIPv4(network)) return network.replace(/\d+$/, '0/24')
  const wide = IPV4_NETWORK.exec(network)?.[1]
  if (wide !== undefined) return `${wide}.0.0/16`
  const [, first = '', third = '', fourth = ''] = IPV6_NETWORK.exec(network) ?? []
  if (fourth !== '') return `${first}${third}::/48`
  return third === '' ? undefined : `${first}::/32`
}

/** The site of an address, /48 or /24: what one customer of a provider holds. */
export const siteOf = (network: string): string => coarserNetwork(network) ?? network
