// What the console concludes from runs: how a process is doing, what is usual, what is overdue, and whose an exception is.
import { describe, expect, test } from 'bun:test'
import { judgeProcess, type Verdict } from '../../src/console/home/home-rows.ts'
import { toCsv } from '../../src/console/kit/data-table.ts'
import { parseTime } from '../../src/console/kit/format-time.ts'
import { liveFrom, presetFor } from '../../src/console/kit/time-range.ts'
import { describePast } from '../../src/console/runs/run-chart.ts'
import { belongsTo, LATE_MS, placeBands, stepRun } from '../../src/console/timeline/geometry.ts'
import { layRuns } from '../../src/console/timeline/lay-runs.ts'
import { byNewest, formatRunId, parseRunId, type Run, toRun } from '../../src/console/timeline/run.ts'
import { describeRatio, isOverdue, usualMs } from '../../src/console/timeline/usual.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const MINUTE = 60_000

/** Newest first; `tookMs` null: it has no end. */
function run(agoMs: number, tookMs: number | null, more: Partial<Run['timing']> = {}): Run {
  const startMs = NOW - agoMs
  const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000000Z')
  return toRun({
    ...{ process: 'p', meta: null, uid: null, exceptions: 0 },
    state: tookMs === null ? 'running' : 'completed',
    started_at: iso(startMs),
    ended_at: tookMs === null ? null : iso(startMs + tookMs),
    duration_ms: tookMs,
    ...more,
  })
}
const completed = (count: number, tookMs = MINUTE) =>
  Array.from({ length: count }, (_, i) => run((i + 10) * 10 * MINUTE, tookMs))

describe('a process', () => {
  test.each<[Verdict, string, Run[]]>([
    ['quiet', 'without runs', []],
    ['fine', 'whose last run completed', [run(5 * MINUTE, MINUTE), run(9 * MINUTE, MINUTE, { state: 'failed' })]],
    ['failed', 'whose last run failed', [run(5 * MINUTE, MINUTE, { state: 'failed' }), ...completed(3)]],
    ['failed', 'that runs again after a failure', [run(MINUTE, null), run(5 * MINUTE, MINUTE, { state: 'failed' })]],
    [
      'failed',
      'one meta of which failed',
      [run(MINUTE, 1, { meta: 'us' }), run(5 * MINUTE, 1, { meta: 'eu', state: 'failed' })],
    ],
    ['unfinished', 'whose last run never ended', [run(5 * MINUTE, null, { state: 'abandoned', exceptions: null })]],
    ['exceptions', 'whose last run raised one', [run(5 * MINUTE, MINUTE, { exceptions: 1 })]],
    ['running', 'that runs for the first time', [run(90 * MINUTE, null)]],
    ['running', 'that runs as long as usual', [run(MINUTE, null), ...completed(5)]],
    ['overdue', 'that runs three times as long as usual', [run(3 * MINUTE, null), ...completed(5)]],
    ['quiet', 'with only an end without start', [run(MINUTE, 0, { state: 'orphan', started_at: null })]],
  ])('is %s %s', (verdict, _, runs) => {
    expect(judgeProcess(runs, NOW).verdict).toBe(verdict)
  })

  test('is compared with the other runs of the same meta', () => {
    const runs = [
      run(MINUTE, 9_000, { meta: 'eu' }),
      ...[1, 2, 3, 4, 5].map((i) => run(i * 10 * MINUTE, 3_000, { meta: 'eu' })),
      ...[1, 2, 3, 4, 5].map((i) => run(i * 11 * MINUTE, 100_000, { meta: 'us' })),
    ]
    expect(judgeProcess(runs, NOW).usualMs).toBe(3_000)
  })

  test('shows the run that decides, and names the newest one beside it', () => {
    const stuck = run(30 * MINUTE, null, { meta: 'eu' })
    const newer = run(MINUTE, 1, { meta: 'us' })
    const runs = [newer, stuck, ...completed(5)]
    expect(judgeProcess(runs, NOW)).toMatchObject({ verdict: 'overdue', last: stuck, newer })
    expect(judgeProcess(completed(5), NOW).newer).toBeUndefined()
    const running = run(3 * MINUTE, null, { meta: 'eu' })
    expect(judgeProcess([newer, running], NOW)).toMatchObject({ verdict: 'running', last: running, newer })
  })

  const raised = (agoMs: number, meta: string | null = null) => ({ meta, ms: NOW - agoMs, example: 'Error: no' })
  test.each<[Verdict, string, Run[], number | undefined, boolean]>([
    ['exceptions', 'with an exception and no run', [], MINUTE, false],
    ['exceptions', 'with an exception after its last run', completed(1), MINUTE, false],
    [
      'exceptions',
      'with an exception a second after its last run',
      [run(MINUTE, MINUTE / 2)],
      MINUTE / 2 - 1000,
      false,
    ],
    ['exceptions', 'whose run of another meta completed', [run(MINUTE, 1, { meta: 'eu' })], 2 * MINUTE, false],
    ['fine', 'whose run completed after the exception', [run(5 * MINUTE, MINUTE)], 6 * MINUTE, false],
    ['firing', 'that completed while its alert fires', completed(1), undefined, true],
    ['failed', 'that failed and whose alert fires', [run(5 * MINUTE, 1, { state: 'failed' })], undefined, true],
  ])('is %s %s', (verdict, _, runs, raisedAgoMs, hasAlert) => {
    const signals = { raised: raisedAgoMs === undefined ? [] : [raised(raisedAgoMs)], hasAlert }
    const judged = judgeProcess(runs, NOW, signals)
    expect(judged.verdict).toBe(verdict)
    expect(judged.why).toEqual(verdict === 'exceptions' ? signals.raised[0] : undefined)
  })

  test('shows the exception of the run that failed', () => {
    const failed = run(5 * MINUTE, MINUTE, { state: 'failed' })
    const signals = { raised: [raised(1, 'eu'), raised(4.5 * MINUTE)], hasAlert: false }
    expect(judgeProcess([failed], NOW, signals).why).toEqual(raised(4.5 * MINUTE))
  })
})

describe('the usual duration', () => {
  test('is the median of the last twenty completed runs if there are five', () => {
    expect(usualMs(completed(4))).toBeUndefined()
    expect(usualMs([run(1, 1, { state: 'failed' }), ...completed(5, 7)])).toBe(7)
    expect(usualMs([...completed(20, 10), ...completed(50, 1)])).toBe(10)
  })

  test('a run of twice the usual duration is overdue, unless the difference is below a second', () => {
    expect(isOverdue(run(2 * MINUTE + 1, null), MINUTE, NOW)).toBe(true)
    expect(isOverdue(run(2 * MINUTE, null), MINUTE, NOW)).toBe(false)
    expect(isOverdue(run(900, null), 1, NOW)).toBe(false)
    expect(isOverdue(run(2 * MINUTE + 1, MINUTE), MINUTE, NOW)).toBe(false)
    expect(isOverdue(run(2 * MINUTE + 1, null), undefined, NOW)).toBe(false)
  })

  test.each([
    [190, 100, '1.9× slower'],
    [100, 200, '2× faster'],
    [1234, 1, '1,234× slower'],
    [110, 100, 'as usual'],
    [100, 110, 'as usual'],
    [5, 0, 'as usual'],
  ])('%p against %p is %p', (ms, usual, text) => {
    expect(describeRatio(ms, usual)).toBe(text)
  })

  test('compares with a week earlier by medians, or reports it missing', () => {
    const row = (p50_ms: number | null) => ({
      ...{ process: 'p', count: 1, mean_ms: null, p50_ms, p95_ms: null, p99_ms: null, max_ms: null },
      ...{ failed: 0, failure_rate: 0, running: 0, abandoned: 0, orphan: 0 },
    })
    expect(describePast(row(3000), row(1000), 7 * 86_400_000)).toBe('Median 3.00 s, a week earlier 1.00 s: 3× slower.')
    expect(describePast(row(3000), undefined, 35 * 86_400_000)).toBe(
      'No completed run 5 weeks earlier to compare with.',
    )
  })
})

describe('an exception', () => {
  const first = run(10 * MINUTE, 5 * MINUTE, { uid: 'a' })
  const second = run(9 * MINUTE, 5 * MINUTE, { uid: 'b' })
  const both = [first, second]
  const at = (agoMs: number, uid: string | null) => ({ atMs: NOW - agoMs, process: 'p', meta: null, uid })

  test('with a uid belongs to that run only, also after its end', () => {
    expect([first, second].map((one) => belongsTo(at(8 * MINUTE, 'b'), one, both))).toEqual([false, true])
    expect(belongsTo(at(5 * MINUTE - LATE_MS, 'a'), first, both)).toBe(true)
    expect(belongsTo(at(5 * MINUTE - LATE_MS - 1, 'a'), first, both)).toBe(false)
  })

  test('with a uid that several runs have belongs to the last of them that had started', () => {
    const next = run(4.5 * MINUTE, MINUTE, { uid: 'a' })
    const belongs = (agoMs: number) => [first, next].map((one) => belongsTo(at(agoMs, 'a'), one, [first, next]))
    expect(belongs(4.6 * MINUTE)).toEqual([true, false])
    expect(belongs(4.4 * MINUTE)).toEqual([false, true])
  })

  test('without a uid belongs to each run open at that time', () => {
    expect([first, second].map((one) => belongsTo(at(8 * MINUTE, null), one, both))).toEqual([true, true])
    expect([first, second].map((one) => belongsTo(at(9.5 * MINUTE, null), one, both))).toEqual([true, false])
    expect(belongsTo({ ...at(8 * MINUTE, null), meta: 'eu' }, first, both)).toBe(false)
  })

  test('sent a µs before the end belongs to the run, one sent a µs after it does not', () => {
    const [started_at, ended_at] = ['2026-11-21T12:00:00.000950000Z', '2026-11-21T12:00:00.001031000Z']
    const short = run(0, 0.081, { started_at, ended_at })
    const sent = (text: string) => ({ ...at(0, null), atMs: parseTime(text) })
    const times = ['00.000949', '00.000950', '00.001030', '00.001031', '00.001032'].map(
      (s) => `2026-11-21T12:00:${s}000Z`,
    )
    expect(times.map((text) => belongsTo(sent(text), short, [short]))).toEqual([false, true, true, true, false])
  })
})

test('two runs with one start time have distinct identities in the URL', () => {
  const one = run(MINUTE, 1, { process: 'a/b %', meta: 'x', uid: 'u' })
  const two = run(MINUTE, 1, { process: 'a/b %', meta: 'x', uid: 'v' })
  expect(one.id).not.toBe(two.id)
  const identity = parseRunId(one.id)
  expect(identity).toEqual({ at: one.timing.started_at!, process: 'a/b %', meta: 'x', uid: 'u' })
  expect(formatRunId(identity!)).toBe(one.id)
  expect([parseRunId(''), parseRunId('%zz/p'), parseRunId('2026-11-21T12:00:00Z')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('arrow keys move along the runs of a process and to the nearest run of the next one', () => {
  const runs = [run(30, 1), run(20, 1), run(10, 1), run(19, 1, { process: 'q' }), run(5, 1, { process: 'q' })]
  const layout = placeBands(layRuns(runs.toSorted(byNewest), () => 0))
  const [oldest, middle, newest, q] = runs
  expect(stepRun(layout, undefined, 'ArrowDown')).toBe(newest!)
  expect(stepRun(layout, newest, 'ArrowLeft')).toBe(middle!)
  expect(stepRun(layout, oldest, 'ArrowLeft')).toBe(oldest!)
  expect(stepRun(layout, middle, 'ArrowDown')).toBe(q!)
  expect(stepRun(layout, q, 'ArrowUp')).toBe(middle!)
  expect(stepRun(layout, oldest, 'End')).toBe(newest!)
})

test('draws a process with many concurrent runs as a density strip', () => {
  const many = Array.from({ length: 30 }, (_, i) => run(30 - i, 1_000))
  const layout = placeBands(
    layRuns([...many, run(5, 1, { process: 'q' })], () => 0),
    168,
  )
  expect(layout.bands.map(({ isStrip }) => isStrip)).toEqual([true, false])
  expect(layout.bands[0]!.bottomPx - layout.bands[0]!.topPx).toBeLessThan(60)
})

test('a live range keeps its width, as a preset where there is one', () => {
  expect([liveFrom(3_600_000), liveFrom(5_400_000), liveFrom(2e9)]).toEqual(['-1h', '-5400s', '-33333m'])
  expect([presetFor(0), presetFor(3_600_000), presetFor(20 * 3_600_000), presetFor(1e12)]).toEqual([
    '-15m',
    '-6h',
    '-24h',
    '-30d',
  ])
})

test('CSV quotes cells where necessary and contains no formula', () => {
  expect(
    toCsv([
      { a: 'x,"y"', b: null },
      { a: '=1+1', b: -2 },
      { a: '＝1', c: '\n=1' },
      { a: 'a;=1', b: 'a\t @b;c', c: 'a-b;1' },
    ]),
  ).toBe(`a,b,c\r\n"x,""y""",,\r\n'=1+1,-2,\r\n'＝1,,"'\n'=1"\r\na;'=1,a\t '@b;c,a-b;1\r\n`)
  expect(toCsv([])).toBe('')
})
