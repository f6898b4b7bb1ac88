// Durations over time. For one process: a dot per run over a band of usual durations, or median, p95 and longest per
// bucket if there are more than 200 runs; it can be compared with last week. For several processes: one of these
// figures, with a line for each of the busiest.
import type { Figures, Summary, SummaryRow, TimingPage } from '../../wire/timings.ts'
import type { Api } from '../kit/api.ts'
import { button, h } from '../kit/dom.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import {
  type ChartData,
  type Crosshair,
  createLineChart,
  DURATION_STEPS,
  type Line,
  toLine,
} from '../kit/line-chart.ts'
import { createPoll } from '../kit/poll.ts'
import type { Params } from '../kit/route.ts'
import { bucketsOf, describeEvery, type TimeRange } from '../kit/time-range.ts'
import { gutterPxFor } from '../timeline/geometry.ts'
import type { Run } from '../timeline/run.ts'
import { describeRatio, quantile } from '../timeline/usual.ts'

const STATS = ['p50', 'p95', 'max'] as const
type Stat = (typeof STATS)[number]
const STAT_TEXT: Readonly<Record<Stat, string>> = { p50: 'Median', p95: 'p95', max: 'Longest' }
const LINES_MAX = 6
const AXIS_PX = 76

export interface RunChartView {
  readonly range: TimeRange
  readonly every: string
  readonly filter: Readonly<Record<'process' | 'meta' | 'uid', string | undefined>>
  readonly stat: string | null
  readonly compares: boolean
  /** All runs in the range, newest first; undefined if they are incomplete or filtered by state. */
  readonly runs: readonly Run[] | undefined
  /** Totals of the range: a row per process. */
  readonly totals: readonly SummaryRow[]
  /** A row per process and bucket. */
  readonly rows: readonly SummaryRow[]
  readonly nowMs: number
}

export interface RunChartOptions {
  readonly api: Api
  readonly crosshair: Crosshair
  change(changes: Params): void
  choose(run: Run): void
  zoom(fromMs: number, toMs: number): void
}

const figureOf = (row: SummaryRow, stat: Stat): number | null => row[`${stat}_ms`]

export function createRunChart({ api, crosshair, change, choose, zoom }: RunChartOptions) {
  let view: RunChartView | undefined
  let dots: readonly (Run | undefined)[] = []
  let past: Past | undefined
  let compared = ''
  const chart = createLineChart({
    title: 'Duration',
    formatValue: formatDuration,
    steps: DURATION_STEPS,
    axisPx: (widthPx) => gutterPxFor(widthPx) || AXIS_PX,
    crosshair,
    zoom,
    pick(_, index) {
      const run = dots[index]
      if (run !== undefined) choose(run)
    },
  })
  const buttons = STATS.map((stat) => ({
    stat,
    button: h(
      'button',
      { type: 'button', onclick: () => change({ stat: stat === 'p95' ? undefined : stat }) },
      STAT_TEXT[stat],
    ),
  }))
  const choice = h('div.segments', { role: 'group', 'aria-label': 'Statistic' }, ...buttons.map(({ button }) => button))
  const compare = button('Compare with last week', () =>
    change({ compare: compare.getAttribute('aria-pressed') === 'true' ? undefined : 'week' }),
  )
  const verdict = h('p.verdict', { role: 'status', hidden: true })

  const poll = createPoll<Past>({
    everyMs: () => 0,
    ask: (signal) => askPast(api, view!.range, view!.every, view!.filter, signal),
    show(answer) {
      past = answer
      draw()
    },
    fail() {
      verdict.hidden = false
      verdict.textContent = 'The earlier runs could not be loaded. Try again later.'
    },
  })

  function showCompare({ compares, filter, range }: RunChartView): void {
    compare.hidden = filter.process === undefined
    compare.setAttribute('aria-pressed', String(compares))
    const asks = compares && filter.process !== undefined ? JSON.stringify([range.query, filter]) : ''
    if (asks === compared) return
    compared = asks
    past = undefined
    if (asks === '') poll.pause()
    else poll.now()
  }

  function draw(): void {
    if (view === undefined) return
    const { range, totals, filter, nowMs, every, runs } = view
    const most = totals.toSorted((a, b) => b.count - a.count).filter(({ count }) => count > 0)
    verdict.hidden = past === undefined || compared === ''
    if (past !== undefined) verdict.textContent = describePast(past.total, past.total?.before, shiftFor(range))
    const isOne = filter.process !== undefined
    const hasDots = isOne && runs !== undefined && runs.length <= DOTS_MAX
    if (!hasDots) dots = []
    if (hasDots) {
      const made = dotsOf(runs, past)
      dots = made.runs
      chart.show({ ...made.data, fromMs: range.fromMs, toMs: range.toMs }, describeDots(runs, most[0]), nowMs)
    } else
      chart.show(
        linesOf(view, most),
        isOne ? describeOne(most[0], every) : describeMany(most, statOf(view), every),
        nowMs,
      )
  }

  function linesOf({ range, every, filter, rows, ...rest }: RunChartView, most: readonly SummaryRow[]): ChartData {
    const atMs = bucketsOf(range, every)
    const { fromMs, toMs } = range
    const stat = statOf(rest)
    if (filter.process === undefined) {
      const lines = most.slice(0, LINES_MAX).map((total) => {
        const own = rows.filter((row) => row.process === total.process)
        return toLine(total.process, own, atMs, (row) => figureOf(row, stat))
      })
      return { atMs, lines, fromMs, toMs }
    }
    const earlier =
      past === undefined
        ? []
        : [
            {
              ...toLine('Median earlier', past.rows, atMs, (row) => row.p50_ms),
              look: 'dashes' as const,
              colour: '--muted',
            },
          ]
    const lines = [...STATS.map((of) => toLine(STAT_TEXT[of], rows, atMs, (row) => figureOf(row, of))), ...earlier]
    return { atMs, lines, fromMs, toMs }
  }

  return {
    element: h('div.card', h('div.card-header', choice, compare), verdict, chart.element),
    show(next: RunChartView) {
      view = next
      const stat = statOf(next)
      choice.hidden = next.filter.process !== undefined
      for (const { stat: of, button } of buttons) button.setAttribute('aria-pressed', String(of === stat))
      showCompare(next)
      draw()
    },
    close() {
      poll.stop()
      chart.close()
    },
  }
}

const statOf = ({ stat }: Pick<RunChartView, 'stat'>): Stat => STATS.find((known) => known === stat) ?? 'p95'

const NONE = 'No run was completed in this range.'

function describeDots(runs: readonly Run[], total: SummaryRow | undefined): string {
  const failed = runs.filter(({ state }) => state === 'failed').length
  const failures = failed > 0 ? ` ${plural(failed, 'failed run')}.` : ''
  const lengths = runs.flatMap(({ state, timing }) => (state === 'completed' ? [timing.duration_ms ?? 0] : []))
  if (total === undefined || lengths.length === 0) return `${NONE}${failures}`
  if (lengths.length < FEWEST) return `${describeFigures(total)}.${failures}`
  const [low, high] = [quantile(lengths, 0.1), quantile(lengths, 0.9)]
  return `${describeFigures(total)}. Eight in ten took ${formatDuration(low)} to ${formatDuration(high)}.${failures}`
}

/** Percentiles of fewer runs say nothing. */
const FEWEST = 5

const describeFigures = ({ count, p50_ms, p95_ms, max_ms }: SummaryRow): string =>
  count < FEWEST
    ? `${plural(count, 'completed run')}, longest ${formatDuration(max_ms)}`
    : `${plural(count, 'completed run')}: median ${formatDuration(p50_ms)}, ` +
      `p95 ${formatDuration(p95_ms)}, longest ${formatDuration(max_ms)}`

const describeOne = (total: SummaryRow | undefined, every: string): string =>
  total === undefined ? NONE : `${describeFigures(total)}. In ${describeEvery(every)}.`

function describeMany(totals: readonly SummaryRow[], stat: Stat, every: string): string {
  const slowest = totals.toSorted((a, b) => (figureOf(b, stat) ?? 0) - (figureOf(a, stat) ?? 0))[0]
  if (slowest === undefined) return NONE
  const shown =
    totals.length > LINES_MAX
      ? `, the ${LINES_MAX} with the most runs of ${plural(totals.length, 'process', 'processes')}`
      : ''
  const highest = `${slowest.process}, ${formatDuration(figureOf(slowest, stat))}`
  return `${STAT_TEXT[stat]} by process${shown}. Highest: ${highest}. In ${describeEvery(every)}.`
}

// Runs → dots: completed, failed and, for a comparison, those of a week earlier. The band contains 80 % of the runs.
function dotsOf(runs: readonly Run[], past: Past | undefined) {
  const points = [
    ...runs.flatMap((run) => {
      const ms = run.timing.duration_ms
      return ms === null || run.state === 'orphan' ? [] : [{ atMs: run.startMs, ms, run, kind: run.state }]
    }),
    ...(past?.runs ?? []).map(({ atMs, ms }) => ({ atMs, ms, run: undefined, kind: 'past' as const })),
  ].toSorted((a, b) => a.atMs - b.atMs)
  const line = (label: string, kind: string, colour: string): Line => ({
    label,
    values: points.map((point) => (point.kind === kind ? point.ms : null)),
    look: 'dots',
    colour,
  })
  const lengths = points.flatMap(({ kind, ms }) => (kind === 'completed' ? [ms] : []))
  return {
    /** The run of each dot; undefined for a run of a week earlier. */
    runs: points.map(({ run }) => run),
    data: {
      atMs: points.map(({ atMs }) => atMs),
      lines: [
        line('Completed', 'completed', '--run-completed'),
        line('Failed', 'failed', '--run-failed'),
        ...(past === undefined ? [] : [line('Earlier', 'past', '--muted')]),
      ],
      ...(lengths.length >= 5 && { band: { low: quantile(lengths, 0.1), high: quantile(lengths, 0.9) } }),
    },
  }
}

// The same range some weeks earlier: its figures, and its runs shifted to the current range.
/** More runs than this are shown as percentiles instead of dots. */
const DOTS_MAX = 200
const WEEK_MS = 7 * 86_400_000

interface Past {
  /** Figures of the range; `before`: of the earlier one. */
  readonly total: SummaryRow | undefined
  /** Shifted to the current buckets. */
  readonly rows: readonly SummaryRow[]
  /** Shifted to the current range. */
  readonly runs: readonly { readonly atMs: number; readonly ms: number }[]
}

/** Whole weeks, so that weekdays match; at least the length of the range. */
const shiftFor = ({ fromMs, toMs }: TimeRange): number => Math.max(1, Math.ceil((toMs - fromMs) / WEEK_MS)) * WEEK_MS

/** Throws ApiError. */
async function askPast(
  api: Api,
  range: TimeRange,
  every: string,
  filter: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Past> {
  const shiftMs = shiftFor(range)
  const at = (ms: number) => new Date(ms - shiftMs).toISOString()
  const query = { ...filter, from: at(range.fromMs), to: at(range.toMs) }
  const summary = (more: Record<string, string>) =>
    api.get<Summary>('api/timings/summary', { ...query, ...more }, signal)
  const iso = (ms: number) => new Date(ms).toISOString()
  const [total, series, { timings }] = await Promise.all([
    summary({ from: iso(range.fromMs), to: iso(range.toMs), compare_from: query.from, compare_to: query.to }),
    summary({ every }),
    api.get<TimingPage>('api/timings', { ...query, state: 'completed', limit: DOTS_MAX }, signal),
  ])
  return {
    total: total.rows[0],
    rows: series.rows.map((row) => ({ ...row, at: new Date(parseTime(row.at ?? '') + shiftMs).toISOString() })),
    runs: timings.map(({ started_at, duration_ms }) => ({
      atMs: parseTime(started_at ?? '') + shiftMs,
      ms: duration_ms ?? 0,
    })),
  }
}

/** `Median 3 m 12 s, a week earlier 1 m 40 s: 1.9× slower.` */
export function describePast(now: Figures | undefined, then: Figures | undefined, shiftMs: number): string {
  const weeks = Math.round(shiftMs / WEEK_MS)
  const when = weeks === 1 ? 'a week earlier' : `${weeks} weeks earlier`
  if (then?.p50_ms == null) return `No completed run ${when} to compare with.`
  if (now?.p50_ms == null)
    return `No completed run in this range; the median ${when} was ${formatDuration(then.p50_ms)}.`
  const ratio = describeRatio(now.p50_ms, then.p50_ms, 'about the same')
  return `Median ${formatDuration(now.p50_ms)}, ${when} ${formatDuration(then.p50_ms)}: ${ratio}.`
}
