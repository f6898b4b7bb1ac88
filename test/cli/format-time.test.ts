import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatLocalTime, formatZonedTime, parseLocalTime } from '../../src/cli/format-time.ts'
import { formatDuration } from '../../src/wire/span-text.ts'

test.each([
  [0, '0 s'],
  [0.000001, '1 ns'],
  [0.99949, '999 µs'],
  [0.99951, '1.00 ms'],
  [999.5, '1.00 s'],
  [9996, '10.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 m 00 s'],
  [3_599_499, '59 m 59 s'],
  [3_599_500, '1 h 00 m'],
  [86_369_999, '23 h 59 m'],
  [86_370_000, '1 d 0 h'],
  [-1500, '-1.50 s'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

const UNIT_MS: Record<string, number> = { ns: 1e-6, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 }
const parse = (text: string) => {
  let ms = 0
  for (const [, n, unit] of text.matchAll(/([\d.]+) (ns|µs|ms|s|m|h|d)/g)) ms += Number(n) * UNIT_MS[unit!]!
  return ms
}

test('a formatted duration is close to the value and never changes the order', () => {
  const length = fc.double({ min: 0, max: 1e10, noNaN: true })
  fc.assert(
    fc.property(length, length, (a, b) => {
      const text = formatDuration(a)
      expect(text).toMatch(/^(\d+(\.\d+)? (ns|µs|ms|s)|\d+ m [0-5]\d s|\d+ h [0-5]\d m|\d+ d (1?\d|2[0-3]) h)$/)
      expect(Math.abs(parse(text) - a)).toBeLessThanOrEqual(Math.max(a * 0.05, 1e-6))
      if (a <= b) expect(parse(formatDuration(a))).toBeLessThanOrEqual(parse(formatDuration(b)))
    }),
    { numRuns: 2000 },
  )
})

test('a printed time can be used as input and means the same to the ms in any time zone', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (date) => {
      const shown = formatLocalTime(date.toISOString())
      expect(shown).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
      const again = new Date(parseLocalTime(shown)!)
      // In the hour that a change of clocks repeats, one of two moments is meant.
      expect([0, 1800, 3600]).toContain(Math.abs(again.getTime() - date.getTime()) / 1000)
      expect(formatLocalTime(again.toISOString())).toBe(shown)
    }),
  )
})

test('uses the time zone of this machine', () => {
  const script = `import { formatLocalTime, parseLocalTime } from ${JSON.stringify(`${import.meta.dir}/../../src/cli/format-time.ts`)}
    console.log(formatLocalTime('2026-07-01T12:00:00.123456789Z'), parseLocalTime('2026-07-01 14:00'), parseLocalTime('2026-12-01'))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { env: { TZ: 'Europe/Berlin' } })
  expect(stdout.toString()).toBe('2026-07-01 14:00:00.123 2026-07-01T12:00:00Z 2026-11-30T23:00:00Z\n')
})

test('keeps all digits of a second', () => {
  expect(parseLocalTime('2026-07-01 14:00:01.123456789')).toMatch(/:01\.123456789Z$/)
})

test.each([
  '-90m',
  '2026-11-20T21:52:42Z',
  '2026-11-20t21:52:42.5z',
  '2026-11-20T21:52:42+01:00',
  '2028-02-29T00:00:00Z',
])('%j does not depend on the time zone', (text) => {
  expect(parseLocalTime(text)).toBe(text)
})

const REJECTED =
  '2026-02-30 06:00|2026-02-29|2026-11-31|2026-13-01|2026-11-00|2026-11-20 25:00|2026-11-20 21:60|' +
  '2026-02-30T06:00:00Z|2026-11-31T06:00:00+01:00|2026-11-20T25:00:00Z|2026-11-20T21:00:00+25:00|now||' +
  '2026-1-1|1|90m|-90'
test.each(REJECTED.split('|'))('rejects %j as a time', (text) => {
  expect(parseLocalTime(text)).toBeUndefined()
})

test.each([
  ['2026-10-24T22:00:00.000Z', 'Europe/Berlin', '2026-10-25 00:00:00.000'],
  ['2026-03-08T05:00:00.250Z', 'America/New_York', '2026-03-08 00:00:00.250'],
  ['2026-03-08T23:30:00Z', 'Asia/Kolkata', '2026-03-09 05:00:00.000'],
])('%s in %s is %s, wherever this machine is', (at, zone, shown) => {
  expect(formatZonedTime(at, zone)).toBe(shown)
})
