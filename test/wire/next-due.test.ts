import { expect, test } from 'bun:test'
import { describeNextDue } from '../../src/wire/words.ts'

const CRON = { cron: '0 3 * * *' }

test('an expression without a zone is due in UTC, and here', () => {
  const before = process.env.TZ
  try {
    process.env.TZ = 'Europe/Berlin'
    expect(describeNextDue(CRON, '2026-11-26T03:00:00.000Z')).toBe('next due 2026-11-26 03:00 UTC, 04:00 here')
    expect(describeNextDue(CRON, '2026-11-26T23:30:00.000Z')).toBe(
      'next due 2026-11-26 23:30 UTC, 2026-11-27 00:30 here',
    )
    process.env.TZ = 'UTC'
    expect(describeNextDue(CRON, '2026-11-26T03:00:00.000Z')).toBe('next due 2026-11-26 03:00 UTC')
  } finally {
    process.env.TZ = before ?? 'UTC'
  }
})

test.each([
  ['an interval', {}, null],
  ['a zone', { ...CRON, tz: 'UTC' }, '2026-11-26T03:00:00.000Z'],
  ['no time left', CRON, null],
])('nothing is said with %s', (_, schedule, nextDue) => {
  expect(describeNextDue(schedule, nextDue)).toBeUndefined()
})
