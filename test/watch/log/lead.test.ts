// Stamps that lead the wall clock, because it was ahead once: cron follows the wall clock, everything else the stamps.
import { expect, test } from 'bun:test'
import { CONDITIONS } from '../../../src/watch/conditions/conditions.ts'
import { DAY, HOUR, MIN, markOf, openDesk, S, T0, watchOf } from './judge-kit.ts'

const LATE = { cron: '0 3 * * *', grace: '10m' }
const NIGHTLY = watchOf('nightly', { late: LATE })
/** An hour at the beginning, a hundredth less of the time that passes. */
const leadUs = (us: number): number => Math.max(0, HOUR - 0.01 * (us - T0))
/** The stamp of a moment of the wall clock. */
const stampOf = (wallUs: number): number => {
  let us = wallUs + HOUR
  for (let i = 0; i < 20; i++) us = wallUs + leadUs(us)
  return us
}
const nightOf = (day: number): number => T0 + day * DAY + 3 * HOUR

/** Step by step, as the engine does. */
function judge(nights: readonly number[], isKilled = false) {
  const desk = openDesk({ watches: [NIGHTLY], leadUs })
  const starts = nights.map((day) => stampOf(nightOf(day) + 20 * S))
  for (let us = T0, i = 0; us < T0 + 6 * DAY; us += MIN) {
    for (; i < starts.length && starts[i]! < us; i++)
      desk.apply(markOf('start', starts[i]!, { uid: `${i}` }), markOf('end', starts[i]! + S, { uid: `${i}` }))
    desk.advance(us)
    if (!isKilled) continue
    desk.commit()
    desk.kill()
  }
  desk.commit()
  return desk
}

test('a nightly job that starts on time is never late', () => {
  for (const isKilled of [false, true]) expect(judge([0, 1, 2, 3, 4, 5], isKilled).story()).toBe('')
})

test('a missing start is late at its due time by the wall clock, and the text says that time', () => {
  for (const isKilled of [false, true]) {
    const desk = judge([0, 1, 3, 4, 5], isKilled)
    const overUs = stampOf(nightOf(2) + 10 * MIN)
    expect(desk.alerts).toHaveLength(1)
    const { episode } = desk.alerts[0]!.alert
    expect(Math.abs(episode.sinceUs - overUs)).toBeLessThan(MIN)
    expect(CONDITIONS.late.summarize({ process: 'job', meta: null }, LATE, episode)).toContain(
      'did not by 2026-11-28 03:10 UTC',
    )
    expect(desk.alerts[0]!.untilUs).toBe(stampOf(nightOf(3) + 20 * S))
  }
})

test('an interval is not moved', () => {
  const desk = openDesk({ watches: [watchOf('w', { late: { every: '1h', grace: '5m' } })], leadUs })
  desk.apply(markOf('start', T0))
  desk.advance(T0 + 65 * MIN - 1)
  expect(desk.story()).toBe('')
  desk.advance(T0 + 65 * MIN + 1)
  expect(desk.story()).toBe('late@3900')
})
