import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { coarserNetwork } from '../../src/account/networks.ts'
import { createTokenBuckets } from '../../src/account/token-buckets.ts'
import type { Problem } from '../../src/problem.ts'
import { createManualClock } from './accounts-cast.ts'

const create = (
  options: Partial<Pick<Parameters<typeof createTokenBuckets>[0], 'limit' | 'windowS' | 'maxEntries' | 'coarser'>> = {},
) => {
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

test('a full table counts other keys by their next coarser networks, and forgets none that it has', () => {
  const { wait, clock } = create({ limit: 1, maxEntries: 2, coarser: coarserNetwork })
  for (const first of ['192.0.2.1', '192.0.2.2']) expect(wait(first)).toBe(0)
  expect(wait('198.51.100.1')).toBe(0)
  expect(wait('198.51.100.2')).toBe(30) // its /24 is counted
  expect(wait('203.0.113.1')).toBe(0)
  expect([wait('203.1.1.1'), wait('203.1.2.1')]).toEqual([0, 30]) // its /16 is counted
  expect(['192.0.2.1', '192.0.2.2', '198.51.100.1', '203.0.113.9'].map(wait)).toEqual([30, 30, 30, 30])
  clock.passS(30)
  expect([wait('198.51.100.1'), wait('198.51.100.2')]).toEqual([0, 0])
})

test('a stranger with 65,536 networks uses up no attempt of another stranger', () => {
  const { wait } = create({ limit: 3, maxEntries: 1000, coarser: coarserNetwork })
  const honest = '2001:db8:aaaa:1::/64'
  expect(wait(honest)).toBe(0)
  let allowed = 0
  for (let i = 0; i < 65_536; i++) if (wait(`2001:db8:bbbb:${i.toString(16)}::/64`) === 0) allowed++
  expect(allowed).toBe(999 + 3) // its own networks while there was room, then three of its /48
  expect([wait(honest), wait(honest), wait(honest)]).toEqual([0, 0, 10])
  expect([1, 2, 3, 4].map(() => wait('2001:db8:cccc:1::/64'))).toEqual([0, 0, 0, 10])
})

test('an attempt that is taken back is that of the network that was counted', () => {
  const { wait, limiter } = create({ limit: 1, maxEntries: 1, coarser: coarserNetwork })
  wait('192.0.2.1')
  for (let i = 0; i < 3; i++) {
    expect(wait('198.51.100.1')).toBe(0)
    limiter.forgive('198.51.100.1')
  }
  expect(wait('192.0.2.1')).toBe(30)
})
