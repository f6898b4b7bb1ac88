// Cron through croner, held against a slow reading of the calendar by Intl.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSchedule } from '../../src/process/cron.ts'
import { cronFaults } from '../../src/watch/conditions/cron-faults.ts'

const MINUTE_US = 60e6
const us = (text: string) => Date.parse(text) * 1000
const text = (at: number | undefined) => (at === undefined ? undefined : new Date(at / 1000).toISOString())

function wallClock(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    month: 'numeric',
    day: 'numeric',
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (at: number) => Object.fromEntries(format.formatToParts(at / 1000).map(({ type, value }) => [type, value]))
}

test('finds the minutes that the calendar of the time zone shows', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
  const from = fc.integer({ min: us('2023-06-01T00:00:00Z') / MINUTE_US, max: us('2026-12-01T00:00:00Z') / MINUTE_US })
  fc.assert(
    fc.property(zones, fc.nat(59), fc.integer({ min: 4, max: 23 }), from, (zone, minute, hour, start) => {
      const read = wallClock(zone)
      let at = start + 1
      while (Number(read(at * MINUTE_US).minute) !== minute || Number(read(at * MINUTE_US).hour) !== hour) at++
      const schedule = createSchedule(`${minute} ${hour} * * *`, zone)
      expect(text(schedule.nextUs(start * MINUTE_US))).toBe(text(at * MINUTE_US))
      expect(schedule.previousUs(at * MINUTE_US + 1)).toBe(at * MINUTE_US)
    }),
    { numRuns: 60 },
  )
})

test('leap days, the last day of a month, and seconds', () => {
  expect(text(createSchedule('0 0 29 2 *', 'UTC').nextUs(us('2025-01-01T00:00:00Z')))).toBe('2028-02-29T00:00:00.000Z')
  expect(text(createSchedule('0 0 L * *', 'UTC').nextUs(us('2026-02-01T00:00:00Z')))).toBe('2026-02-28T00:00:00.000Z')
  expect(text(createSchedule('*/10 * * * * *', 'UTC').nextUs(us('2026-02-01T00:00:01Z')))).toBe(
    '2026-02-01T00:00:10.000Z',
  )
})

test('a daily moment that summer time skips or repeats is due once on that day', () => {
  const { nextUs } = createSchedule('30 2 * * *', 'Europe/Berlin')
  const dues = (from: string, to: string) => {
    const found: string[] = []
    for (let at = nextUs(us(from)); at !== undefined && at < us(to); at = nextUs(at)) found.push(text(at)!)
    return found
  }
  expect(dues('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z')).toHaveLength(2)
  expect(dues('2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
})

/** The due times from `after` on, as many as are expected; and backwards the same. */
function dues(expression: string, zone: string, after: string, count: number): string[] {
  const { nextUs, previousUs } = createSchedule(expression, zone)
  const found: number[] = []
  for (let at: number | undefined = us(after); found.length < count; found.push(at)) {
    at = nextUs(at)
    if (at === undefined) break
  }
  const back: number[] = []
  for (let at: number | undefined = found.at(-1)! + 1; back.length < found.length; back.unshift(at)) {
    at = previousUs(at)
    if (at === undefined) break
  }
  expect(back).toEqual(found)
  return found.map((at) => text(at)!.slice(0, 16))
}

const BERLIN = ['Europe/Berlin', '2027-10-30T20:00:00Z'] as const
const SANTIAGO = ['America/Santiago', '2027-04-04T00:30:00Z'] as const
const HALF_AN_HOUR = ['Australia/Lord_Howe', '2027-04-03T12:00:00Z'] as const
const PLAIN = ['UTC', '2027-11-01T12:00:00Z'] as const

test.each<[expression: string, from: readonly [string, string], due: string]>([
  // an hour that comes twice: fixed hours once …
  ['0 2,14 * * *', BERLIN, '10-31T00:00 10-31T13:00 11-01T01:00'],
  ['5 1-3 * * *', BERLIN, '10-30T23:05 10-31T00:05 10-31T02:05 11-01T00:05'],
  ['0 2-22/4 * * *', BERLIN, '10-31T00:00 10-31T05:00 10-31T09:00'],
  ['15,45 2 * * *', BERLIN, '10-31T00:15 10-31T00:45 11-01T01:15'],
  ['30 30 2,3 * * *', BERLIN, '10-31T00:30 10-31T02:30 11-01T01:30'],
  ['0 22,23 * * *', SANTIAGO, '04-04T01:00 04-04T02:00 04-05T02:00'],
  ['45 1 * * *', HALF_AN_HOUR, '04-03T14:45 04-04T15:15'],
  // … and with * each time
  ['0 */2 * * *', BERLIN, '10-30T22:00 10-31T00:00 10-31T01:00 10-31T03:00'],
  ['*/30 2 * * *', BERLIN, '10-31T00:00 10-31T00:30 10-31T01:00 10-31T01:30 11-01T01:00'],
  // the day fields
  ['0 0 */2 * 1', PLAIN, '11-15T00:00 11-29T00:00 12-13T00:00'],
  ['0 0 1-7 * */2', PLAIN, '11-02T00:00 11-04T00:00 11-06T00:00 11-07T00:00'],
  ['0 9 13 * 5', PLAIN, '11-05T09:00 11-12T09:00 11-13T09:00 11-19T09:00'],
  ['0 0 ? * MON-FRI', PLAIN, '11-02T00:00 11-03T00:00'],
  // N/step
  ['0/30 * * * *', PLAIN, '11-01T12:30 11-01T13:00'],
  ['@weekly', PLAIN, '11-07T00:00 11-14T00:00'],
])('%j from %j is due at %s', (expression, [zone, after], due) => {
  const want = due.split(' ').map((it) => `2027-${it}`)
  expect(dues(expression, zone, after, want.length)).toEqual(want)
})

test('1/10 in the days includes the 31st', () => {
  expect(dues('0 0 1/10 * *', 'UTC', '2027-12-01T12:00:00Z', 3)).toEqual([
    '2027-12-11T00:00',
    '2027-12-21T00:00',
    '2027-12-31T00:00',
  ])
})

test.each([
  ['60 * * * *', 'minutes go from 0 to 59'],
  ['0 0 * * 8', 'weekdays go from 0 to 7'],
  ['0 10-25 * * *', 'hours go from 0 to 23'],
  ['0 22-2 * * *', 'write 22-23,0-2 instead of 22-2'],
  ['0 0 * 11-2 *', 'write 11-12,1-2 instead of 11-2'],
  ['0 3 * * ? *', 'AWS EventBridge'],
  ['0 3 ? * MON *', 'AWS EventBridge'],
  ['0 0 12 * * ? 2027', 'the year of Quartz'],
  ['? 3 * * *', 'has ? in its minutes'],
  ['TZ=UTC 0 3 * * *', 'belongs in tz'],
  ['0 3 * * * www-data', 'the user www-data'],
  ['@reboot', 'has no time'],
  ['@every 5m', 'use every'],
  ['@fortnightly', 'known are @yearly'],
  ['H(0-7) 3 * * *', 'Jenkins'],
  ['* * *', 'five fields'],
  ['0 3 * * x', 'five fields'],
  ['0 0 30 2 *', 'is never due'],
  ['', 'five fields'],
])('%j is refused: %s', (expression, reason) => {
  expect(cronFaults('/late', expression, 'UTC')).toEqual([
    { pointer: '/late/cron', detail: expect.stringContaining(reason) },
  ])
})

test('an unknown time zone is refused', () => {
  expect(cronFaults('', '0 3 * * *', 'Mars/Base')).toMatchObject([{ pointer: '/tz' }])
})
