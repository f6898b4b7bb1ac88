import { expect, test } from 'bun:test'
import { completeConditions } from '../../../src/watch/conditions/conditions.ts'
import { createPreview, PREVIEW_ALERTS } from '../../../src/watch/log/preview.ts'
import { DAY, markOf, S, T0, watchOf } from './judge-kit.ts'

const CONDITIONS = { failed: {} }

test('much history takes many steps, and the alerts are bounded', () => {
  const marks = Array.from({ length: 20 * PREVIEW_ALERTS }, (_, i) => {
    const us = T0 + (i + 1) * 10 * S
    return [markOf('start', us), markOf(i % 2 === 0 ? 'failed' : 'end', us + S)]
  }).flat()
  const preview = createPreview({
    spec: {
      ...{ name: 'w', process: 'job', channels: [], meta: null, remind: null, paused_until: null },
      ...completeConditions(CONDITIONS),
    },
    watch: watchOf('w', CONDITIONS, { sinceUs: T0 }),
    ...{ fromUs: T0, toUs: T0 + DAY, maxRunUs: DAY, marks, points: [], exceptions: [] },
  })
  let steps = 1
  while (preview.step()) steps++
  const alerts = preview.alerts()
  expect([alerts.length, preview.total()]).toEqual([PREVIEW_ALERTS, 10 * PREVIEW_ALERTS])
  expect(alerts[0]!.since > alerts[1]!.since).toBe(true)
  expect(steps).toBeGreaterThan(10)
})
