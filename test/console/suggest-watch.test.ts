// The values that the form of a watch begins with: none of them fires on the past of its process.
import { describe, expect, test } from 'bun:test'
import { allowPast, suggestLate, suggestLong } from '../../src/console/watch/suggest-watch.ts'
import type { OverviewProcess } from '../../src/wire/overview.ts'
import { formatSpanS } from '../../src/wire/span-text.ts'
import type { PreviewedAlert } from '../../src/wire/watch-preview.ts'

const LAST = '2026-11-20T03:00:00.000000000Z'
const rowOf = (everyS: number | null, lateAfterS: number) =>
  ({
    every_s: everyS,
    last_start_at: LAST,
    late_at: new Date(Date.parse(LAST) + lateAfterS * 1000).toISOString(),
    usual_ms: 90_000,
  }) as OverviewProcess

const secondsOf = (span: string) =>
  Number(span.slice(0, -1)) * ({ s: 1, m: 60, h: 3600, d: 86_400 } as const)[span.slice(-1) as 's' | 'm' | 'h' | 'd']

describe('a start is late', () => {
  test.each([
    ['an hourly job', 3_610, 7_300, '1h', '65m'],
    ['one of every two hours with a spread', 6_840, 9_000, '2h', '30m'],
    ['a nightly job', 86_390, 95_000, '1d', '145m'],
    ['one of every seven minutes', 425, 900, '8m', '7m'],
    ['one of every ten seconds', 10, 70, '10s', '1m'],
    ['one of every two minutes with weekends off', 120, 126 * 3_600, '3d', '3d'],
    ['an hourly one with nights off', 3_600, 20 * 3_600, '10h', '10h'],
  ])('%s', (_, everyS, lateS, every, grace) => {
    expect(suggestLate(rowOf(everyS, lateS))).toEqual({ every, grace })
  })

  test('never before it counts as silent', () => {
    for (let everyS = 30; everyS < 200_000; everyS = Math.ceil(everyS * 1.07)) {
      const { every, grace } = suggestLate(rowOf(everyS, everyS * 1.5))!
      expect(secondsOf(every) + secondsOf(grace)).toBeGreaterThanOrEqual(everyS * 1.5)
    }
  })

  test('is not suggested without a rhythm, nor where a watch reports it already', () => {
    expect(suggestLate(rowOf(null, 60))).toBeUndefined()
    const watches = [{ due_at: LAST }] as unknown as NonNullable<OverviewProcess['watches']>
    expect(suggestLate({ ...rowOf(3_600, 7_300), watches })).toBeUndefined()
  })
})

describe('the late starts of the past', () => {
  const late = (lateS: number | null) =>
    ({
      condition: 'late',
      since: LAST,
      resolved_at: lateS === null ? null : new Date(Date.parse(LAST) + lateS * 1000).toISOString(),
    }) as PreviewedAlert

  test('are allowed, with a little room', () => {
    expect(allowPast({ every: '1h', grace: '10m' }, [late(300), late(900), late(null)])).toEqual({
      every: '1h',
      grace: '30m',
    })
  })

  test('stay as they are after an outage, while one lasts, and without any', () => {
    expect(allowPast({ every: '1h', grace: '10m' }, [late(86_400)])).toBeUndefined()
    expect(allowPast({ every: '1h', grace: '10m' }, [late(null)])).toBeUndefined()
    expect(allowPast({ every: '1h', grace: '10m' }, [])).toBeUndefined()
  })
})

test('a run takes too long after twice its usual time', () => {
  expect(suggestLong(rowOf(60, 120))).toBe('3m')
  expect([90, 3_600, 7_200, 86_400].map(formatSpanS)).toEqual(['90s', '1h', '2h', '1d'])
})
