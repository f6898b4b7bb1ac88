import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatLocalTime, parseLocalTime } from '../../src/cli/local-time.ts'

test('what is shown may be given back, and means the same to the ms, in whatever time zone', () => {
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

test('the zone is that of this machine', () => {
  const script = `import { formatLocalTime, parseLocalTime } from ${JSON.stringify(`${import.meta.dir}/../../src/cli/local-time.ts`)}
    console.log(formatLocalTime('2026-07-01T12:00:00.123456789Z'), parseLocalTime('2026-07-01 14:00'), parseLocalTime('2026-12-01'))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { env: { TZ: 'Europe/Berlin' } })
  expect(stdout.toString()).toBe('2026-07-01 14:00:00.123 2026-07-01T12:00:00Z 2026-11-30T23:00:00Z\n')
})

test('all digits of a second are kept', () => {
  expect(parseLocalTime('2026-07-01 14:00:01.123456789')).toMatch(/:01\.123456789Z$/)
})

test.each([
  '-90m',
  '2026-11-20T21:52:42Z',
  '2026-11-20t21:52:42.5z',
  '2026-11-20T21:52:42+01:00',
  '2028-02-29T00:00:00Z',
])('%j has no need of our zone', (text) => {
  expect(parseLocalTime(text)).toBe(text)
})

test.each([
  '2026-02-30 06:00',
  '2026-02-29',
  '2026-11-31',
  '2026-13-01',
  '2026-11-00',
  '2026-11-20 25:00',
  '2026-11-20 21:60',
  '2026-02-30T06:00:00Z',
  '2026-11-31T06:00:00+01:00',
  '2026-11-20T25:00:00Z',
  '2026-11-20T21:00:00+25:00',
  'now',
  '',
  '2026-1-1',
  '1',
  '90m',
  '-90',
])('%j is no time', (text) => {
  expect(parseLocalTime(text)).toBeUndefined()
})
