// What the timeline draws of runs: lanes without overlaps where there is room, otherwise bars of their numbers.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Get } from '../../src/console/kit/ask.ts'
import { placeTicks, toMs, toPx } from '../../src/console/kit/scale.ts'
import {
  askTimeline,
  chooseStep,
  findDense,
  foldQuiet,
  mergeRuns,
  type Timeline,
} from '../../src/console/timeline/ask-timeline.ts'
import { binsOfRows, binsOfRuns } from '../../src/console/timeline/count-bins.ts'
import { layLanes } from '../../src/console/timeline/lay-runs.ts'
import { barHeights, makeBands, moveStop, type Stop } from '../../src/console/timeline/make-bands.ts'
import { type Run, type StateFilter, toRun } from '../../src/console/timeline/run.ts'
import type { SummaryRow } from '../../src/wire/timings.ts'

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

const row = (process: string, figures: Partial<SummaryRow>): SummaryRow => ({
  ...{ process, mean_ms: null, p50_ms: null, p95_ms: null, p99_ms: null, max_ms: null },
  ...{ count: 0, failed: 0, failure_rate: null, running: 0, abandoned: 0, orphan: 0 },
  ...figures,
})

const runs = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.option(fc.integer({ min: 1, max: 20 })))
    .map(([start, length]) => run(start, length)),
  { maxLength: 60 },
)

describe('lanes', () => {
  test('contain every run once, in order, without overlaps', () => {
    fc.assert(
      fc.property(runs, (given) => {
        const lanes = layLanes(given, () => 0)
        expect(lanes.flat().length).toBe(given.length)
        for (const lane of lanes)
          lane.forEach((run, i) => {
            if (i > 0) expect(lane[i - 1]!.endMs).toBeLessThanOrEqual(run.startMs)
          })
      }),
    )
  })

  test('are as many as there are concurrent runs', () => {
    fc.assert(
      fc.property(runs, (given) => {
        const atOnce = given.map(
          ({ startMs }) => given.filter((run) => run.startMs <= startMs && run.endMs > startMs).length,
        )
        expect(layLanes(given, () => 0).length).toBe(Math.max(0, ...atOnce))
      }),
    )
  })

  test('leave room for runs without duration', () => {
    const lanes = layLanes([run(0, 0), run(5, 0), run(20, 0)], () => 10)
    expect(lanes.map((lane) => lane.map(({ startMs }) => startMs))).toEqual([[0, 20], [5]])
  })
})

describe('bands', () => {
  const scale = { fromMs: 0, toMs: 600_000, widthPx: 600 }
  const loaded = (given: readonly Run[], more: object = {}) => ({
    ...{ totals: [], series: [], stepMs: 60_000, dense: new Set<string>(), runs: given },
    ...{ drawn: new Set<string>(), folded: { quiet: 0, troubled: 0 } },
    ...more,
  })

  test('those with trouble come first, then by name', () => {
    const failed = { ...run(0, 10, 'z'), state: 'failed' } as Run
    const bands = makeBands(loaded([run(0, 10, 'b'), run(0, 10, 'a'), failed]), undefined, scale)
    expect(bands.map(({ process }) => process)).toEqual(['z', 'a', 'b'])
  })

  test('are bars beyond a run per 6 px, or beyond six lanes unless a process is alone', () => {
    const many = Array.from({ length: 101 }, (_, i) => run(i * 5_900, 10))
    expect(makeBands(loaded(many.slice(0, 100)), undefined, scale)[0]!.lanes.length).toBeGreaterThan(0)
    expect(makeBands(loaded(many), undefined, scale)[0]!.lanes).toEqual([])
    const atOnce = Array.from({ length: 7 }, (_, i) => run(i, 500_000))
    expect(makeBands(loaded(atOnce), undefined, scale)[0]!.lanes).toHaveLength(7)
    const beside = makeBands(loaded([...atOnce, run(0, 10, 'q')]), undefined, scale)
    expect(beside.map(({ lanes }) => lanes.length)).toEqual([0, 1])
  })

  test('of processes that are not loaded are bars of the summary', () => {
    const series = [row('p', { at: iso(0), count: 5, failed: 2 }), row('p', { at: iso(60_000), count: 1 })]
    const totals = [row('p', { count: 6, failed: 2 })]
    const [band] = makeBands(
      loaded([], { totals, series, dense: new Set(['p']), drawn: new Set(['p']) }),
      undefined,
      scale,
    )
    expect([band!.count, band!.troubles, band!.bins.map(({ runs }) => runs)]).toEqual([8, 2, [7, 1]])
  })

  test('arrow keys move along a process and to the name or the nearest run of the next', () => {
    const [first, second, below, last] = [run(0, 10), run(100_000, 10), run(90_000, 10, 'q'), run(400_000, 10, 'q')]
    const bands = makeBands(loaded([first, second, below, last]), undefined, scale)
    const name: Stop = { process: 'p', run: undefined }
    expect(moveStop(bands, name, 'ArrowUp')).toEqual(name)
    expect(moveStop(bands, name, 'ArrowLeft')).toEqual(name)
    expect(moveStop(bands, name, 'ArrowDown')).toEqual({ process: 'q', run: undefined })
    expect(moveStop(bands, name, 'ArrowRight').run).toBe(first)
    expect(moveStop(bands, { process: 'p', run: first }, 'ArrowLeft')).toEqual(name)
    expect(moveStop(bands, { process: 'p', run: first }, 'ArrowRight').run).toBe(second)
    expect(moveStop(bands, { process: 'p', run: second }, 'ArrowDown')).toEqual({ process: 'q', run: below })
    expect(moveStop(bands, { process: 'q', run: below }, 'End').run).toBe(last)
    expect(moveStop(bands, { process: 'q', run: last }, 'ArrowDown').run).toBe(last)
    expect(moveStop(bands, { process: 'q', run: last }, 'Home')).toEqual({ process: 'q', run: undefined })
  })
})

test('a burst flattens no other bar, and no bar is higher than its band', () => {
  const bins = binsOfRuns(
    [
      ...Array.from({ length: 40 }, (_, i) => run(i * 1_000, 10)),
      ...Array.from({ length: 500 }, () => run(41_000, 10)),
    ],
    { fromMs: 0, toMs: 60_000 },
    1_000,
  )
  const heights = barHeights(bins)
  expect(Math.max(...heights)).toBe(1)
  expect(heights[0]).toBeCloseTo(1 / 3)
})

test('a bar is as high as the runs that ran at once, as the summary says it', () => {
  const span = { fromMs: 0, toMs: 5_000 }
  const across = run(-2_000, 4_500) // from before the range to 2.5 s
  const given = [across, run(500, 400), run(900, 1_100), run(2_000, 0), run(3_000, null)]
  const bins = binsOfRuns(given, span, 1_000)
  expect(bins.map(({ fromMs, atOnce, runs, running }) => [fromMs, atOnce, runs, running])).toEqual([
    [0, 2, 1, 0],
    [1_000, 2, 0, 0],
    [2_000, 2, 3, 0],
    [3_000, 1, 1, 1],
    [4_000, 1, 0, 0],
  ])
})

test('of many processes those with trouble are drawn, also where only exceptions say so', () => {
  const quiet = Array.from({ length: 30 }, (_, i) => row(`q-${i + 10}`, { count: 1 }))
  const bad = Array.from({ length: 9 }, (_, i) => row(`bad-${i}`, { count: 1, failed: 1 }))
  const all = [...quiet, ...bad]
  expect(foldQuiet(bad, undefined, new Set()).drawn.size).toBe(9)
  const { drawn, ...folded } = foldQuiet(all, undefined, new Set(['q-20']))
  expect([...drawn]).toEqual([...bad.map(({ process }) => process), 'q-20'])
  expect(folded).toEqual({ quiet: 29, troubled: 0 })
  expect([...foldQuiet(all, 'failed', new Set()).drawn]).toEqual(bad.map(({ process }) => process))
  expect([...foldQuiet(all, 'trouble', new Set(['q-20'])).drawn].at(-1)).toBe('q-20')
})

test('the rows of a summary are counted by the state that is shown', () => {
  const rows = [row('a', { at: iso(0), at_once: 2, count: 5, failed: 2, abandoned: 1, running: 1 })]
  const of = (state: StateFilter | undefined) => binsOfRows(rows, 1_000, state)[0]
  const span = { fromMs: 0, toMs: 1_000 }
  expect(of(undefined)).toEqual({ ...span, atOnce: 2, height: 2, runs: 9, troubles: 3, running: 1 })
  expect(of('completed')).toEqual({ ...span, height: 5, runs: 5, troubles: 0, running: 0 })
  expect(of('trouble')).toEqual({ ...span, height: 3, runs: 3, troubles: 3, running: 0 })
})

test('runs are loaded of processes with few of them', () => {
  const totals = [row('few', { count: 3 }), row('many', { count: 5_000 }), row('failing', { count: 90, failed: 80 })]
  expect([...findDense(totals, undefined, 150)]).toEqual(['failing', 'many'])
  expect([...findDense(totals, 'failed', 150)]).toEqual([])
})

test('a running run that what is new does not have is asked for again: its end may be stored after ten seconds', async () => {
  const open = run(1_000, null)
  let stored = open
  const asked: string[] = []
  const get = (async (path: string, { from }: { readonly from: string }) => {
    asked.push(`${path} ${from}`)
    const isKept = from === '-15m' || stored.state === 'running'
    return path === 'api/timings' ? { timings: isKept ? [stored.timing] : [], next: null } : { rows: [row('p', {})] }
  }) as unknown as Get
  const range = { fromMs: 0, toMs: 900_000, isLive: true, query: { from: '-15m' } }
  const query = { process: undefined, meta: undefined, uid: undefined, state: undefined }
  const ask = (nowMs: number, held?: Timeline) =>
    askTimeline(get, range, query, { bars: 150, isUnfolded: true }, nowMs, held)
  const first = await ask(20_000)
  expect((await ask(22_000, first)).runs).toEqual([open])
  expect(asked.splice(0)).toEqual(['api/timings/summary -15m', 'api/timings -15m', 'api/timings -20s'])
  stored = run(1_000, 500)
  expect((await ask(24_000, first)).runs).toEqual([stored])
  expect(asked).toEqual(['api/timings -20s', 'api/timings/summary -15m', 'api/timings -15m'])
})

test('what is new replaces what is held', () => {
  const [done, open] = [run(0, 10), run(1_000, null)]
  const ended = run(1_000, 500)
  expect(mergeRuns([done, open], [open], 0)).toEqual([done, open])
  expect(mergeRuns([done, open], [ended], 0).map(({ state }) => state)).toEqual(['completed', 'completed'])
  expect(mergeRuns([done], [], 5_000)).toEqual([])
})

test('a position is a time and back', () => {
  const scale = { fromMs: 1_000, toMs: 3_000, widthPx: 400 }
  expect(toMs(scale, 200)).toBe(2_000)
  expect(toPx(scale, toMs(scale, 123))).toBeCloseTo(123)
})

test('ticks are round moments, far enough apart', () => {
  const range = { fromMs: Date.UTC(2026, 10, 20, 21, 3), toMs: Date.UTC(2026, 10, 20, 22, 3) }
  const hour = placeTicks({ ...range, widthPx: 900 })
  expect(hour.stepMs).toBe(600_000)
  expect(hour.atMs.length).toBe(6)
  expect(hour.atMs.every((ms) => ms % 600_000 === 0)).toBe(true)
  expect(placeTicks({ ...range, widthPx: 325 }).stepMs).toBe(900_000)
})

test.each([
  [3_600_000, '30s'],
  [86_400_000, '10m'],
  [7 * 86_400_000, '2h'],
])('%p ms are cut into intervals of %p', (lengthMs, every) => {
  expect(chooseStep({ fromMs: 0, toMs: lengthMs }, 150)).toBe(every)
})
