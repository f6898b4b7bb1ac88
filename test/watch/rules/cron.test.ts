// Cron through croner, held against a slow reading of the calendar by Intl.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSchedule } from '../../../src/watch/rules/cron.ts'
import { judgeLate } from '../../../src/watch/rules/late.ts'

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

test('a nightly job that keeps local time never alerts over two changes of the clock', () => {
  const read = wallClock('Europe/Berlin')
  const starts: number[] = []
  for (let at = us('2026-01-01T00:00:00Z'); at < us('2027-01-01T00:00:00Z'); at += 15 * MINUTE_US) {
    const { hour, minute } = read(at)
    if (Number(hour) === 3 && minute === '15') starts.push(at + 2_000_000)
  }
  const rule = { schedule: createSchedule('15 3 * * *', 'Europe/Berlin'), graceUs: 5 * MINUTE_US }
  const judgement = { knownUs: us('2027-01-01T00:00:00Z'), sinceUs: us('2026-01-01T00:00:00Z'), maxRunUs: 0, blind: [] }
  expect(judgeLate(rule, starts, judgement)).toEqual([])
  const missed = starts.toSpliced(100, 1)
  expect(judgeLate(rule, missed, judgement)).toHaveLength(1)
})

test.each([
  ['60 * * * *', 'UTC'],
  ['* * *', 'UTC'],
  ['0 3 * * *', 'Mars/Base'],
  ['', 'UTC'],
])('refuses %j in %s', (expression, zone) => {
  expect(() => createSchedule(expression, zone)).toThrow()
})
