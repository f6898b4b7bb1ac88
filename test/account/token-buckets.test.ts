import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { addressBlock, createTokenBuckets } from '../../src/account/token-buckets.ts'
import type { Problem } from '../../src/problem.ts'
import { createManualClock } from './accounts-cast.ts'

const create = (options: { limit?: number; windowS?: number; maxEntries?: number } = {}) => {
  const clock = createManualClock()
  const limiter = createTokenBuckets({ clock, limit: 3, windowS: 30, maxEntries: 100, ...options })
  /** 0 = allowed, else the seconds to wait. */
  const wait = (key: string): number => {
    try {
      limiter.attempt(key)
      return 0
    } catch (error) {
      return (error as Problem).retryAfterS!
    }
  }
  return { clock, limiter, wait }
}

test('allows an attempt after the reported wait', () => {
  const { clock, wait } = create({ limit: 7, windowS: 10 })
  for (let i = 0; i < 7; i++) expect(wait('a')).toBe(0)
  for (let i = 0; i < 20; i++) {
    const seconds = wait('a')
    if (seconds === 0) continue
    clock.passS(seconds)
    expect(wait('a')).toBe(0)
  }
})

test('a long pause fills no more than the bucket', () => {
  const { clock, wait } = create()
  wait('a')
  clock.passS(3600)
  expect(['a', 'a', 'a', 'a'].map(wait)).toEqual([0, 0, 0, 10])
  expect(wait('b')).toBe(0)
})

test('tokens that are owed beyond an empty bucket make the key wait for them, too', () => {
  const { clock, limiter, wait } = create()
  expect(wait('a')).toBe(0)
  limiter.owe('a', 7)
  expect(wait('a')).toBe(60)
  clock.passS(60)
  expect(wait('a')).toBe(0)
})

test('zero limits nothing', () => {
  const { limiter, wait } = create({ limit: 0 })
  limiter.owe('a', 1000)
  expect(wait('a')).toBe(0)
})

test('memory is bounded: the least recent key is forgotten first', () => {
  const { wait } = create({ limit: 1, maxEntries: 3 })
  for (const key of ['a', 'b', 'c', 'd']) wait(key)
  expect(wait('b')).toBe(30)
  expect(wait('d')).toBe(30)
  expect(wait('a')).toBe(0)

  const other = create({ limit: 2, maxEntries: 3 })
  for (const key of ['a', 'b', 'c', 'a', 'd']) other.wait(key)
  expect(other.wait('a')).toBe(15)
  expect([other.wait('b'), other.wait('b'), other.wait('b')]).toEqual([0, 0, 15])
})

test('any number of keys takes no more memory than the bound', () => {
  const { limiter } = create({ maxEntries: 1000 })
  const liveObjects = () => {
    Bun.gc(true)
    return heapStats().objectCount
  }
  const before = liveObjects()
  for (let i = 0; i < 100_000; i++) limiter.attempt(`stranger ${i}`)
  expect(liveObjects() - before).toBeLessThan(20_000)
})

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
])('%s counts as %s', (address, block) => expect(addressBlock(address)).toBe(block))
