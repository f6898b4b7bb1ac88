import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatNs, formatStamp, formatStampNs, parseStampNs } from '../../src/event/stamp.ts'

/** Up to the year 2255: so long a number holds the µs. */
const STAMP = fc.record({ us: fc.maxSafeNat(), sub: fc.nat(999) })

test('a stamp prints as RFC 3339 in UTC with nine digits, the last three its node and lane', () => {
  expect(formatStamp({ us: 1_795_211_562_171_920, sub: 42 })).toBe('2026-11-20T21:52:42.171920042Z')
  expect(formatStamp({ us: 0, sub: 0 })).toBe('1970-01-01T00:00:00.000000000Z')
  expect(formatStamp({ us: 1_709_164_799_999_999, sub: 999 })).toBe('2024-02-28T23:59:59.999999999Z')
  expect(formatStamp({ us: 1_709_164_800_000_000, sub: 7 })).toBe('2024-02-29T00:00:00.000000007Z')
})

test('nanoseconds keep digits that a JavaScript number would lose', () => {
  const stamp = { us: 1_795_211_562_171_921, sub: 3 }
  expect(formatStampNs(stamp)).toBe('1795211562171921003')
})

test('printed nanoseconds parse back, from text and bigint', () => {
  fc.assert(
    fc.property(STAMP, (stamp) => {
      expect(parseStampNs(formatStampNs(stamp))).toEqual(stamp)
      expect(parseStampNs(BigInt(formatStampNs(stamp)))).toEqual(stamp)
      expect(BigInt(formatStampNs(stamp))).toBe(BigInt(stamp.us) * 1000n + BigInt(stamp.sub))
    }),
  )
})

test('prints the same time as the platform to the ms, regardless of the previous call', () => {
  fc.assert(
    fc.property(STAMP, (stamp) => {
      const printed = formatStamp(stamp)
      const ms = Math.floor(stamp.us / 1000)
      const rest = String((stamp.us % 1000) * 1000 + stamp.sub).padStart(6, '0')
      expect(printed).toBe(new Date(ms).toISOString().replace('Z', `${rest}Z`))
      expect(formatNs(BigInt(formatStampNs(stamp)))).toBe(printed)
    }),
  )
})
