// Who counts as one stranger: an IPv4 address, or the 64-bit network of an IPv6 one, since whoever has one address there has 2⁶⁴.
import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const OTHER_MAX = 64

/** The part of an address by which attempts are counted. What is no address is taken as it is, cut to 64 characters. */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address.slice(0, OTHER_MAX)
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [front = '', back] = address.replace(/%.*/, '').split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const [head, tail] = [groups(front), groups(back)]
  // An IPv4 tail (64:ff9b::192.0.2.1) stands for two groups; it lies behind the network in any case.
  const width = head.length + tail.length + (address.includes('.') ? 1 : 0)
  const all = back === undefined ? head : [...head, ...Array<string>(8 - width).fill('0'), ...tail]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
