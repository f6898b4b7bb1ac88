// What the page of an alert says of it, from the sentences that the conditions write.
import { describe, expect, test } from 'bun:test'
import { openGapOf, sentenceOf, titleOf } from '../../src/console/alert/alert-words.ts'
import { shortMoment } from '../../src/console/kit/words.ts'
import { describePreview } from '../../src/console/watch/backtest.tsx'
import { alertOf } from '../../src/console/watch/watch-link.ts'
import { failed } from '../../src/watch/conditions/failed.ts'
import { long } from '../../src/watch/conditions/long.ts'
import { slow } from '../../src/watch/conditions/slow.ts'
import type { Alert } from '../../src/wire/alerts.ts'
import type { ProcessState } from '../../src/wire/process-state.ts'

const SINCE = '2026-11-28T03:06:00.000Z'
const STARTED = '2026-11-28T03:05:00.000Z'
const sinceMs = Date.parse(SINCE)
const [sinceUs, startedUs] = [sinceMs * 1000, Date.parse(STARTED) * 1000]
const nowMs = sinceMs + 6 * 60_000
const ALERT: Alert = {
  ...{ id: 'ale_1', watch: { id: 'wat_1', name: 'w' }, process: 'import', meta: null, uid: null },
  ...{ started_at: STARTED, since: SINCE, resolved_at: null, ended_by: null, notified_at: null, acknowledged: null },
  ...{ condition: 'failed', state: 'firing', summary: '', path: '' },
}
const subject = { process: 'import', meta: null }

describe('the heading of an alert', () => {
  test('of a run that is running says since when it runs, and not how long the alert has been firing', () => {
    const summary = long.summarize(subject, '1m', { sinceUs, startedUs, limit: 60e6 })
    const { head } = sentenceOf({ ...ALERT, condition: 'long', summary }, nowMs)
    expect(head).toStartWith('import is running for more than 1 min, since ')
    expect(head).toEndWith(', 7 min ago')
  })

  test('of what still is slow says for how long', () => {
    const summary = slow.summarize(subject, 2, { sinceUs, limit: 20e6 })
    expect(sentenceOf({ ...ALERT, condition: 'slow', summary }, nowMs)).toEqual({
      head: 'import is slow, for 6 min',
      more: 'A run is taking longer than 20 s (2 times the usual).',
    })
  })

  test('of an exception does not say that the run failed once the alert has ended', () => {
    const fired = { ...subject, uid: null, sinceUs, startedUs, episode: { sinceUs, cause: 'exception' as const } }
    const summary = failed.summarizeEnd(fired, sinceUs + 15e6, undefined, null)
    const alert: Alert = { ...ALERT, state: 'resolved', resolved_at: SINCE, ended_by: 'event', summary }
    expect(sentenceOf(alert, nowMs).head).toBe(
      `import raised an exception at ${shortMoment(sinceMs, nowMs)}, 6 min ago`,
    )
    expect(titleOf(alert)).toBe('import raised an exception')
    const ended = failed.summarizeEnd({ ...fired, episode: { sinceUs } }, sinceUs + 15e6, undefined, null)
    expect(titleOf({ ...alert, summary: ended })).toBe('import failed')
  })
})

test('the gap of a missing start is open while the alert fires, and ends with the start that ended it', () => {
  const minutes = (some: Partial<Alert>) => {
    const ms = openGapOf({ ...ALERT, condition: 'late', ...some }, STARTED, nowMs)
    return ms === null ? null : ms / 60_000
  }
  const ended = { state: 'resolved', resolved_at: '2026-11-28T03:08:00.000Z' } as const
  expect(minutes({})).toBe(7)
  expect(minutes({ ...ended, ended_by: 'event' })).toBe(3)
  // whether it has started since is not known
  expect(minutes({ ...ended, ended_by: 'person' })).toBe(null)
  expect(openGapOf(ALERT, null, nowMs)).toBe(null)
})

test('a test of a watch says how far back it looked', () => {
  const preview = {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
    marks: 3,
    points: 0,
    exceptions: 0,
  }
  const whole = { ...preview, events: 3, truncated: false, total: 1, alerts: [] }
  expect(describePreview(whole)).toBe('Would have fired 1 time in the last 30 days')
  expect(describePreview({ ...whole, from: '2026-11-27T00:00:00.000Z', truncated: true, total: 2 })).toBe(
    'Would have fired 2 times in the last 4 days (50,000 events is the most that is tested)',
  )
  expect(describePreview({ ...whole, events: 0, total: 0 })).toBe(
    'Nothing that these conditions look at was sent in the last 30 days',
  )
})

test('the sentence of a process leads to the alert about what it says', () => {
  const alerts = (['slow', 'long', 'failed'] as const).map((condition) => {
    const { watch, process: _, ...alert } = { ...ALERT, condition }
    return { ...alert, watch, acknowledged_by: null, summary: condition }
  })
  const to = (state: ProcessState, of = alerts) => alertOf({ state, alerts: of })?.condition
  expect(to('exceptions')).toBe('failed')
  expect(to('overdue')).toBe('long')
  expect(to('silent')).toBe('slow')
  expect(to('failed', [])).toBeUndefined()
})
