import { expect, test } from 'bun:test'
import { completeConditions } from '../../../src/watch/conditions/conditions.ts'
import { createPreview, PREVIEW_ALERTS } from '../../../src/watch/log/preview.ts'
import type { CreateWatch } from '../../../src/wire/watches.ts'
import { DAY, HOUR, markOf, S, T0, watchOf } from './judge-kit.ts'

const CONDITIONS = { late: { every: '1h', grace: '5m' }, long: '10m', failed: { exceptions: true } } as const

function preview(
  conditions: Partial<CreateWatch>,
  events: Partial<Parameters<typeof createPreview>[0]>,
  toUs = T0 + DAY,
) {
  const spec = {
    ...{ name: 'w', process: 'job', channels: [], meta: null, remind: null, paused_until: null },
    ...completeConditions(conditions),
  }
  const made = createPreview({
    ...{ spec, watch: watchOf('w', conditions, { sinceUs: T0 }), fromUs: T0, toUs, maxRunUs: DAY },
    ...{ marks: [], points: [], exceptions: [], ...events },
  })
  let steps = 1
  while (made.step()) steps++
  return { alerts: made.alerts(), total: made.total(), steps }
}

test('what would have fired on marks and exceptions in any order, and how it ended', () => {
  const marks = [
    markOf('end', T0 + HOUR + 60 * S),
    markOf('start', T0 + HOUR),
    markOf('start', T0 + 2 * HOUR, { uid: 'a' }),
    markOf('failed', T0 + 2 * HOUR + 900 * S, { uid: 'a' }),
    markOf('start', T0 + 5 * HOUR),
    markOf('end', T0 + 5 * HOUR + 60 * S),
  ]
  const raised = { process: 'job', meta: '', uid: 'a', headline: 'Error', atUs: T0 + 2 * HOUR + 1000 * S, arrivedUs: 0 }
  const { alerts } = preview(CONDITIONS, { marks, exceptions: [raised] }, T0 + 5.5 * HOUR)
  expect(alerts).toMatchObject([
    { condition: 'late', uid: null, since: '2026-11-26T03:05:00.000Z', resolved_at: '2026-11-26T05:00:00.000Z' },
    { condition: 'failed', uid: 'a', since: '2026-11-26T02:15:00.000Z', resolved_at: '2026-11-26T05:01:00.000Z' },
    { condition: 'long', uid: 'a', since: '2026-11-26T02:10:00.000Z', resolved_at: '2026-11-26T02:15:00.000Z' },
  ])
  expect(alerts[1]!.summary).toBe(
    'job failed at 2026-11-26 02:15 UTC; job completed at 2026-11-26 05:01 UTC, after 2 h 46 min of failure',
  )
})

test('what still fires has no end', () => {
  expect(preview({ late: { every: '1h', grace: '5m' } }, {}).alerts).toMatchObject([
    { condition: 'late', resolved_at: null },
  ])
})

test('a metric over its points', () => {
  const points = [5, 50, 5].map((value, i) => ({
    ...{ process: 'job', meta: '', items: [['rows', value]] as const, atUs: T0 + (i + 1) * HOUR, arrivedUs: 0 },
  }))
  const { alerts } = preview({ metric: { name: 'rows', window: '10m', of: 'last', above: 10 } }, { points })
  expect(alerts).toMatchObject([
    { condition: 'metric', since: '2026-11-26T02:00:00.000Z', resolved_at: '2026-11-26T03:00:00.000Z' },
  ])
})

test('much history takes many steps, and the alerts are bounded', () => {
  const marks = Array.from({ length: 20 * PREVIEW_ALERTS }, (_, i) => {
    const us = T0 + (i + 1) * 10 * S
    return [markOf('start', us), markOf(i % 2 === 0 ? 'failed' : 'end', us + S)]
  }).flat()
  const { alerts, total, steps } = preview({ failed: {} }, { marks })
  expect([alerts.length, total]).toEqual([PREVIEW_ALERTS, 10 * PREVIEW_ALERTS])
  expect(alerts[0]!.since > alerts[1]!.since).toBe(true)
  expect(steps).toBeGreaterThan(10)
})
