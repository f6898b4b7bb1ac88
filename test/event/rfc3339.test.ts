import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRfc3339 } from '../../src/event/own-time.ts'

describe('parses a time to the nanosecond', () => {
  test.each([
    ['2026-11-20T21:52:42Z', 1_795_211_562_000_000_000n],
    ['2026-11-20T21:52:42.171920042Z', 1_795_211_562_171_920_042n],
    ['2026-11-20T21:52:42.5Z', 1_795_211_562_500_000_000n],
    ['2026-11-20T23:52:42.000000001+02:00', 1_795_211_562_000_000_001n],
    ['2026-11-20T16:22:42-05:30', 1_795_211_562_000_000_000n],
    ['2026-11-20t21:52:42z', 1_795_211_562_000_000_000n],
    ['2026-11-20T21:52:42-00:00', 1_795_211_562_000_000_000n],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000_000n],
    ['2000-02-29T00:00:00Z', 951_782_400_000_000_000n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['1970-01-01T00:00:00+23:59', -86_340_000_000_000n],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000_000_000n],
  ])('%s', (text, ns) => {
    expect(parseRfc3339(text)).toBe(ns)
  })
})

describe('rejects invalid times', () => {
  const INVALID =
    '|now|1795211562|2026-11-20|2026-11-20T21:52:42|2026-11-20 21:52:42Z|2026-11-20T21:52Z|' +
    '2026-11-20T21:52:42.Z|2026-11-20T21:52:42.1719200421Z|2026-11-20T21:52:42,5Z|2026-11-20T21:52:60Z|' +
    '2016-12-31T23:59:60Z|2026-11-20T24:00:00Z|2026-11-20T21:60:00Z|2026-11-31T00:00:00Z|' +
    '2026-02-29T00:00:00Z|2100-02-29T00:00:00Z|2026-00-10T00:00:00Z|2026-13-10T00:00:00Z|' +
    '2026-11-00T00:00:00Z|2026-11-20T21:52:42+24:00|2026-11-20T21:52:42+02:60|2026-11-20T21:52:42+0200|' +
    '2026-11-20T21:52:42+2|2026-11-20T21:52:42 +02:00| 2026-11-20T21:52:42Z|2026-11-20T21:52:42Z\n|' +
    '+002026-11-20T21:52:42Z|２026-11-20T21:52:42Z'
  test.each(INVALID.split('|'))('%j', (text) => {
    expect(parseRfc3339(text)).toBeUndefined()
  })
})

test('parses any time, offset and digits like the platform', () => {
  const ms = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9998, 11, 31) })
  const offsetMinutes = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 })
  fc.assert(
    fc.property(ms, offsetMinutes, fc.nat(999_999), (time, offset, rest) => {
      const digits = String(rest).padStart(6, '0')
      const local = new Date(time + offset * 60_000).toISOString()
      if (local.length !== 24) return // beyond the four digits of a year
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
      const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
      expect(parseRfc3339(local.replace('Z', `${digits}${zone}`))).toBe(BigInt(time) * 1_000_000n + BigInt(rest))
    }),
  )
})
