import { expect, test } from 'bun:test'
import { coarserNetwork, networkOf } from '../../src/account/networks.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['unknown', 'unknown'],
  ['x'.repeat(1000), 'x'.repeat(64)],
])('%s counts as %s', (address, block) => expect(networkOf(address)).toBe(block))

test.each([
  ['2001:db8:1:2::/64', ['2001:db8:1::/48', '2001:db8::/32']],
  ['0:0:0:0::/64', ['0:0:0::/48', '0:0::/32']],
  ['192.0.2.1', ['192.0.2.0/24', '192.0.0.0/16']],
  ['unknown', []],
])('%s lies in %j', (network, around) => {
  const found: string[] = []
  for (let next = coarserNetwork(network); next !== undefined; next = coarserNetwork(next)) found.push(next)
  expect(found).toEqual(around)
})
