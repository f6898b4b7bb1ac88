// Stamps that lead the wall clock, because it was ahead once: `late` follows the wall clock, everything else the stamps.
import { expect, test } from 'bun:test'
import { CONDITIONS } from '../../../src/watch/conditions/conditions.ts'
import type { JudgedWatch } from '../../../src/watch/log/judge-interface.ts'
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

/** Starts by the wall clock, judged step by step, as the engine does. `isOwn`: they bring that time. */
function judgeStarts(
  starts: readonly number[],
  { isKilled = false, isOwn = false, watches = [NIGHTLY] }: Judging = {},
) {
  const desk = openDesk({ watches, leadUs })
  for (let us = T0, i = 0; us < T0 + 6 * DAY; us += MIN) {
    for (; i < starts.length && stampOf(starts[i]!) < us; i++)
      for (const [kind, wallUs] of [
        ['start', starts[i]!],
        ['end', starts[i]! + S],
      ] as const) {
        const arrivedUs = stampOf(wallUs)
        desk.apply(markOf(kind, isOwn ? wallUs : arrivedUs, { uid: `${i}`, arrivedUs }))
      }
    desk.advance(us)
    if (!isKilled) continue
    desk.commit()
    desk.kill()
  }
  desk.commit()
  return desk
}

interface Judging {
  readonly isKilled?: boolean
  readonly isOwn?: boolean
  readonly watches?: readonly JudgedWatch[]
}

const judge = (nights: readonly number[], isKilled = false) =>
  judgeStarts(
    nights.map((day) => nightOf(day) + 20 * S),
    { isKilled },
  )

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

test('a nightly job whose starts bring their own time is never late while they are punctual', () => {
  const nights = [0, 1, 2, 3, 4, 5].map((day) => nightOf(day) + 5 * S)
  for (const isKilled of [false, true]) expect(judgeStarts(nights, { isKilled, isOwn: true }).story()).toBe('')
})

test('a start that brings its own time and is late ends its alert', () => {
  const nights = [0, 1, 2, 3, 4, 5].map((day) => nightOf(day) + (day === 1 ? 20 * MIN : 5 * S))
  for (const isKilled of [false, true]) {
    const desk = judgeStarts(nights, { isKilled, isOwn: true })
    expect(desk.alerts).toHaveLength(1)
    expect(Math.abs(desk.alerts[0]!.alert.episode.sinceUs - stampOf(nightOf(1) + 10 * MIN))).toBeLessThan(MIN)
    const startedUs = stampOf(nightOf(1) + 20 * MIN)
    expect(desk.alerts[0]!.untilUs).toBeWithin(startedUs - 1, startedUs + 1)
  }
})

test('an hourly job whose starts bring their own time is not late by its interval', () => {
  const watches = [watchOf('hourly', { late: { every: '1h', grace: '5m' } }, { sinceUs: T0 - HOUR })]
  const hours = Array.from({ length: 6 * 24 - 1 }, (_, i) => T0 - HOUR + 5 * S + i * HOUR)
  for (const isKilled of [false, true]) {
    const desk = judgeStarts(hours, { isKilled, isOwn: true, watches })
    expect(desk.alerts.map(({ alert }) => alert.episode.dueUs)).toEqual([hours.at(-1)! + HOUR])
  }
})

test('an interval counts by the wall clock, too', () => {
  const desk = openDesk({
    watches: [watchOf('w', { late: { every: '1h', grace: '5m' } }, { sinceUs: T0 - HOUR - 1 })],
    leadUs,
  })
  desk.apply(markOf('start', T0))
  const overUs = stampOf(T0 - HOUR + 65 * MIN)
  desk.advance(overUs - 2 * S)
  expect(desk.story()).toBe('')
  desk.advance(overUs + 2 * S)
  expect(desk.story()).toMatch(/^late@38\d\d$/)
})

test('a start that a silent node held is in time by its own clock', () => {
  for (const [minute, story] of [
    [1, /^$/],
    [20, /^late@\d+–\d+\?$/],
  ] as const) {
    const desk = openDesk({ watches: [NIGHTLY], leadUs })
    const silent = { fromUs: stampOf(nightOf(0)), node: 2, waitsUs: stampOf(nightOf(0) + 60 * MIN) }
    desk.advance(silent.fromUs)
    desk.addDowntime({ ...silent, toUs: silent.fromUs + 2 * HOUR })
    const apply = (startMinute: number, arrivedMinute: number, uid: string) => {
      const arrivedUs = stampOf(nightOf(0) + arrivedMinute * MIN)
      desk.apply(markOf('start', nightOf(0) + startMinute * MIN, { uid, arrivedUs }))
    }
    apply(30, 30, 'seen')
    desk.commit()
    desk.kill()
    apply(minute, 35, 'held')
    desk.advance(stampOf(nightOf(0) + 120 * MIN))
    expect(desk.story()).toMatch(story)
  }
})

test('in a row of 2.0 the newest start counts by its own time', () => {
  const desk = openDesk({ watches: [NIGHTLY] })
  desk.apply(markOf('start', nightOf(0) + 5 * S))
  desk.commit()
  for (const [name, row] of desk.rows) {
    const [[...numbers], ...rest] = JSON.parse(row.state!)
    expect(numbers.pop()).toBe(nightOf(0) + 5 * S)
    desk.rows.set(name, { ...row, state: JSON.stringify([numbers, ...rest]) })
  }
  desk.kill()
  desk.advance(nightOf(1) + 9 * MIN)
  expect(desk.story()).toBe('')
  desk.advance(nightOf(1) + 11 * MIN)
  expect(desk.story()).toMatch(/^late@\d+$/)
})

test('a limit counts by the wall clock for a run whose start brings its own time, too', () => {
  for (const [condition, watches] of [
    ['long', [watchOf('w', { long: '30m' })]],
    ['slow', [watchOf('w', { slow: 3 })]], // usual: 10 minutes
  ] as const)
    for (const isKilled of [false, true])
      for (const isOwn of [false, true]) {
        const desk = openDesk({ watches, leadUs })
        const apply = (kind: 'start' | 'end', wallUs: number, uid: string) =>
          desk.apply(markOf(kind, isOwn ? wallUs : stampOf(wallUs), { uid, arrivedUs: stampOf(wallUs) }))
        for (let i = 0; i < 6; i++) {
          apply('start', T0 + i * HOUR, `${i}`)
          apply('end', T0 + i * HOUR + 10 * MIN, `${i}`)
        }
        const startedUs = T0 + 6 * HOUR
        const overUs = stampOf(startedUs + 30 * MIN)
        apply('start', startedUs, 'hangs')
        desk.commit()
        if (isKilled) desk.kill()
        desk.advance(overUs - MIN)
        desk.commit()
        expect([condition, isKilled, isOwn, desk.story()]).toEqual([condition, isKilled, isOwn, ''])
        desk.advance(overUs + 2 * MIN)
        desk.commit()
        expect(desk.alerts.map(({ alert }) => alert.condition)).toEqual([condition])
        expect(Math.abs(desk.alerts[0]!.alert.episode.sinceUs - overUs)).toBeLessThan(MIN)
      }
})

test('a run with its own time that exceeded its limit while a silent node was waited for is judged by the lead, too', () => {
  for (const [minutes, story] of [
    [29, /^$/],
    [31, /^long/],
  ] as const) {
    const desk = openDesk({ watches: [watchOf('w', { long: '30m' })], leadUs })
    const silent = { fromUs: stampOf(T0 + 5 * MIN), node: 2, waitsUs: stampOf(T0 + 60 * MIN) }
    const apply = (kind: 'start' | 'end', wallUs: number) =>
      desk.apply(markOf(kind, wallUs, { uid: 'u', arrivedUs: stampOf(wallUs) }))
    apply('start', T0)
    desk.advance(silent.fromUs)
    desk.addDowntime({ ...silent, toUs: silent.fromUs + 2 * HOUR })
    apply('end', T0 + minutes * MIN)
    desk.commit()
    desk.kill()
    desk.advance(stampOf(T0 + 3 * HOUR))
    desk.commit()
    expect(desk.story()).toMatch(story)
  }
})
