import { expect, test } from 'bun:test'
import { ownTimeFault, ownTimeUs } from '../../src/event/own-time.ts'

const NOW_US = 1_790_000_000_000_000
const DAY_US = 86_400_000_000
const fault = (us: number) => ownTimeFault(us, NOW_US, 7 * DAY_US)

test('digits beyond the µs are cut, not rounded', () => {
  expect(ownTimeUs('2026-11-20T21:52:42.171920999Z')).toBe(1_795_211_562_171_920)
  expect(ownTimeUs('2026-11-20T21:52:42Z')).toBe(1_795_211_562_000_000)
})

test('a time may be exactly as old as allowed, and no µs older', () => {
  expect(fault(NOW_US - 7 * DAY_US)).toBeUndefined()
  expect(fault(NOW_US - 7 * DAY_US - 1)).toBe('is too long ago')
  expect(fault(0)).toBe('is too long ago')
})

test('a time may be five minutes ahead, and no µs further', () => {
  expect(fault(NOW_US + 300_000_000)).toBeUndefined()
  expect(fault(NOW_US + 300_000_001)).toBe('is more than 5 minutes ahead')
})
