import { expect, test } from 'bun:test'
import { Faults } from '../../src/event/faults.ts'
import { parseOwnTime } from '../../src/event/own-time.ts'

const NOW_US = 1_790_000_000_000_000
const DAY_US = 86_400_000_000
const HUGE_US = 1e15

function parse(at: unknown, maxAgeUs = HUGE_US) {
  const faults = new Faults()
  const us = parseOwnTime(at, { wallUs: () => NOW_US, maxAgeUs }, faults)
  return { us, faults: faults.list }
}
const textOf = (us: number) =>
  `${new Date(Math.floor(us / 1000)).toISOString().slice(0, -1)}${String(us % 1000).padStart(3, '0')}Z`
const fault = (us: number) => parse(textOf(us), 7 * DAY_US).faults

test('truncates digits beyond the µs', () => {
  const us = (at: string) => parse(at).us
  expect(us('2026-09-21T21:52:42.171920999Z')).toBe(1_790_027_562_171_920)
  expect(us('2026-09-21T21:52:42Z')).toBe(1_790_027_562_000_000)
})

test('accepts a time exactly as old as allowed, but no µs older', () => {
  expect(fault(NOW_US - 7 * DAY_US)).toEqual([])
  expect(fault(NOW_US - 7 * DAY_US - 1)).toEqual([{ pointer: '/at', detail: 'is too long ago' }])
  expect(fault(0)).toEqual([{ pointer: '/at', detail: 'is too long ago' }])
})

test('accepts a time five minutes ahead, but no µs more', () => {
  expect(fault(NOW_US + 300_000_000)).toEqual([])
  expect(fault(NOW_US + 300_000_001)).toEqual([{ pointer: '/at', detail: 'is more than 5 minutes ahead' }])
})

test.each([null, 5, '', 'today', '2026-09-21T21:52:60Z'])('rejects %j as a time', (at) => {
  expect(parse(at)).toEqual({
    us: undefined,
    faults: [{ pointer: '/at', detail: 'must be an RFC 3339 time with at most nine digits of a second' }],
  })
})
