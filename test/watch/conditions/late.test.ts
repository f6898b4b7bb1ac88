// A sentence about a start that did not come has one time zone: that of the schedule.
import { expect, test } from 'bun:test'
import type { FiredAlert } from '../../../src/watch/conditions/condition.ts'
import { late } from '../../../src/watch/conditions/late.ts'

const SUBJECT = { process: 'nightly', meta: null }
const us = (iso: string): number => Date.parse(iso) * 1000

test.each([
  [
    { cron: '0 3 * * *', tz: 'Europe/Berlin' },
    '0 3 * * * (Europe/Berlin), and did not by 2026-11-20 03:10 Europe/Berlin',
  ],
  [
    { cron: '0 21 * * *', tz: 'America/New_York' },
    'should start on the schedule 0 21 * * * (America/New_York), and did not by 2026-11-19 21:10 America/New_York',
  ],
  [{ cron: '0 2 * * *' }, 'should start on the schedule 0 2 * * * (UTC), and did not by 2026-11-20 02:10 UTC'],
])('the alert of %j ends with %s', (given, text) => {
  const sinceUs = us('2026-11-20T02:10:00Z')
  expect(late.summarize(SUBJECT, given, { sinceUs })).toEndWith(text)
})

test('a downtime, the last run and the end have the zone of the schedule, too', () => {
  const given = { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' }
  const lost = { fromUs: us('2026-11-20T01:59:00Z'), toUs: us('2026-11-20T02:05:00.9Z') }
  const sinceUs = us('2026-11-20T02:10:00Z')
  const alert: FiredAlert = { ...SUBJECT, sinceUs, uid: null, startedUs: null, episode: null }
  const dueUs = us('2026-11-20T02:00:00Z')
  expect(late.summarize(SUBJECT, given, { sinceUs, dueUs, lost })).toEndWith(
    'by 2026-11-20 03:10 Europe/Berlin, or its start was lost around a downtime of Stint, 2026-11-20 02:59 Europe/Berlin to 2026-11-20 03:05 Europe/Berlin',
  )
  expect(late.summarize(SUBJECT, given, { sinceUs, lastUs: us('2026-11-19T02:00:04Z') })).toEndWith(
    'by 2026-11-20 03:10 Europe/Berlin; its last known run was at 2026-11-19 03:00:04 Europe/Berlin',
  )
  expect(late.summarizeEnd(alert, us('2026-11-20T02:30:05Z'), undefined, given)).toBe(
    'nightly started at 2026-11-20 03:30:05 Europe/Berlin, 20 min 5 s after it was late',
  )
  expect(late.summarizeEnd(alert, us('2026-11-20T02:30:00Z'), undefined, null)).toStartWith(
    'nightly started at 2026-11-20 02:30 UTC',
  )
})
