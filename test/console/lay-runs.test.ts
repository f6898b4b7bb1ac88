// Lanes and what is under a point of them: no overlap, no lane too many, and the search sees what is drawn.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countOlder } from '../../src/console/runs/count-older.ts'
import {
  AXIS_PX,
  findRunAt,
  firstVisible,
  placeBands,
  placeTicks,
  toMs,
  toPx,
} from '../../src/console/timeline/geometry.ts'
import { layRuns } from '../../src/console/timeline/lay-runs.ts'
import type { StateFilter } from '../../src/console/timeline/run.ts'
import { type Run, toRun } from '../../src/console/timeline/run.ts'

const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000000Z')

function run(startMs: number, lengthMs: number | null, process = 'p'): Run {
  return toRun({
    process,
    meta: null,
    uid: null,
    state: lengthMs === null ? 'running' : 'completed',
    started_at: iso(startMs),
    ended_at: lengthMs === null ? null : iso(startMs + lengthMs),
    duration_ms: lengthMs,
    exceptions: 0,
  })
}

const runs = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.option(fc.integer({ min: 1, max: 20 })), fc.constantFrom('p', 'q'))
    .map(([start, length, process]) => run(start, length, process)),
  { maxLength: 60 },
)

describe('lanes', () => {
  test('contain every run once, in order, without overlaps', () => {
    fc.assert(
      fc.property(runs, (given) => {
        const bands = layRuns(given, () => 0)
        expect(bands.flatMap(({ lanes }) => lanes.flat()).length).toBe(given.length)
        for (const { lanes, process } of bands)
          for (const lane of lanes)
            lane.forEach((run, i) => {
              expect(run.process).toBe(process)
              if (i > 0) expect(lane[i - 1]!.endMs).toBeLessThanOrEqual(run.startMs)
            })
      }),
    )
  })

  test('are as many as there are concurrent runs', () => {
    fc.assert(
      fc.property(runs, (given) => {
        for (const { process, lanes } of layRuns(given, () => 0)) {
          const same = given.filter((run) => run.process === process)
          const atOnce = same.map(
            ({ startMs }) => same.filter((run) => run.startMs <= startMs && run.endMs > startMs).length,
          )
          expect(lanes.length).toBe(Math.max(...atOnce))
        }
      }),
    )
  })

  test('leave room for runs without duration', () => {
    const [band] = layRuns([run(0, 0), run(5, 0), run(20, 0)], () => 10)
    expect(band?.lanes.map((lane) => lane.map(({ startMs }) => startMs))).toEqual([[0, 20], [5]])
  })
})

describe('a point of the picture', () => {
  const given = [run(100, 100), run(400, 200), run(450, null), run(300, 50, 'q')]
  const layout = placeBands(layRuns(given, () => 0))
  const scale = { fromMs: 0, toMs: 1000, leftPx: 0, widthPx: 1000 }
  const [p, q] = layout.bands

  test('maps to the run drawn there', () => {
    expect(findRunAt(layout, scale, 150, p!.lanesPx + 1)).toBe(given[0]!)
    expect(findRunAt(layout, scale, 500, p!.lanesPx + 1)).toBe(given[1]!)
    expect(findRunAt(layout, scale, 990, p!.lanesPx + layout.lanePx + 1)).toBe(given[2]!)
    expect(findRunAt(layout, scale, 320, q!.lanesPx + 1)).toBe(given[3]!)
  })

  test('maps to a run within a finger’s breadth and to none beyond', () => {
    expect(findRunAt(layout, scale, 97, p!.lanesPx + 1)).toBe(given[0]!)
    expect(findRunAt(layout, scale, 203, p!.lanesPx + 1)).toBe(given[0]!)
    for (const [x, y] of [
      [90, p!.lanesPx + 1],
      [210, p!.lanesPx + 1],
      [150, AXIS_PX],
      [150, p!.topPx + 2],
      [150, 10_000],
    ] as const)
      expect(findRunAt(layout, scale, x, y)).toBeUndefined()
  })

  test('converts to a time and back', () => {
    const zoomed = { fromMs: 1_000, toMs: 3_000, leftPx: 100, widthPx: 500 }
    expect(toMs(zoomed, 300)).toBe(2_000)
    expect(toPx(zoomed, toMs(zoomed, 123))).toBeCloseTo(123)
  })
})

test('skips runs that end before the left edge', () => {
  const lane = [run(0, 10), run(10, 10), run(30, 10), run(50, null)]
  expect([0, 10, 11, 41, 10_000].map((ms) => firstVisible(lane, ms))).toEqual([0, 0, 1, 3, 3])
})

test('ticks are round moments, far enough apart', () => {
  const hour = placeTicks(
    { fromMs: Date.UTC(2026, 10, 20, 21, 3), toMs: Date.UTC(2026, 10, 20, 22, 3), leftPx: 0, widthPx: 900 },
    90,
  )
  expect(hour.stepMs).toBe(600_000)
  expect(hour.atMs.length).toBe(6)
  expect(hour.atMs.every((ms) => ms % 600_000 === 0)).toBe(true)
})

test('runs that are not loaded are counted per process until the oldest loaded one, by the state that is shown', () => {
  const row = (process: string, at: string, figures: object) => ({
    ...{ process, at, mean_ms: null, p50_ms: null, p95_ms: null, p99_ms: null, max_ms: null },
    ...{ count: 0, failed: 0, failure_rate: null, running: 0, abandoned: 0, orphan: 0 },
    ...figures,
  })
  const rows = [
    row('a', '2026-11-20T00:00:00Z', { count: 5, failed: 2, abandoned: 1 }),
    row('a', '2026-11-21T00:00:00Z', { count: 9 }),
    row('b', '2026-11-20T00:00:00Z', { orphan: 1 }),
  ]
  const untilMs = Date.parse('2026-11-20T18:00:00Z')
  const of = (state: StateFilter | undefined) => [...countOlder(rows, untilMs, '1d', state).counts]
  const atMs = Date.parse('2026-11-20T00:00:00Z')
  expect(of(undefined)).toEqual([
    ['a', [{ atMs, runs: 8, troubles: 3 }]],
    ['b', [{ atMs, runs: 1, troubles: 0 }]],
  ])
  expect(of('completed')[0]).toEqual(['a', [{ atMs, runs: 5, troubles: 0 }]])
  expect(of('trouble')[0]).toEqual(['a', [{ atMs, runs: 3, troubles: 3 }]])
  expect(layRuns([], () => 0, ['a']).map(({ process, lanes }) => [process, lanes.length])).toEqual([['a', 0]])
})
