// Durations over time: of one process its median, p95 and longest; of several one of these, a line each for those that ran most.
import type { SummaryRow } from '../kit/answers.ts'
import { h } from '../kit/dom.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { createLineChart, DURATION_STEPS } from '../kit/line-chart.ts'
import type { Params } from '../kit/route.ts'
import { bucketsOf, toLine } from '../kit/series.ts'
import type { TimeRange } from '../kit/time-range.ts'

const STATS = ['p50', 'p95', 'max'] as const
type Stat = (typeof STATS)[number]
const STAT_TEXT: Readonly<Record<Stat, string>> = { p50: 'Median', p95: 'p95', max: 'Longest' }
const LINES_MAX = 6

export interface RunChartView {
  readonly range: TimeRange
  readonly every: string
  readonly process: string | undefined
  readonly stat: string | null
  /** Of the whole range, a row a process. */
  readonly totals: readonly SummaryRow[]
  /** A row a process and bucket. */
  readonly rows: readonly SummaryRow[]
  readonly nowMs: number
}

export interface RunChart {
  readonly element: HTMLElement
  show(view: RunChartView): void
  close(): void
}

const figureOf = (row: SummaryRow, stat: Stat): number | null => row[`${stat}_ms`]

export function createRunChart(
  change: (changes: Params) => void,
  zoom: (fromMs: number, toMs: number) => void,
): RunChart {
  const chart = createLineChart({
    title: 'How long they took',
    formatValue: formatDuration,
    steps: DURATION_STEPS,
    zoom,
  })
  const buttons = STATS.map((stat) => ({
    stat,
    button: h(
      'button',
      { type: 'button', onclick: () => change({ stat: stat === 'p95' ? undefined : stat }) },
      STAT_TEXT[stat],
    ),
  }))
  const choice = h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'Figure' },
    ...buttons.map(({ button }) => button),
  )
  return {
    element: h('div', { class: 'card' }, choice, chart.element),
    show({ range, every, process, stat: asked, totals, rows, nowMs }) {
      const stat = STATS.find((known) => known === asked) ?? 'p95'
      choice.hidden = process !== undefined
      for (const { stat: of, button } of buttons) button.setAttribute('aria-pressed', String(of === stat))
      const atMs = bucketsOf(range, every)
      const most = totals.toSorted((a, b) => b.count - a.count).filter(({ count }) => count > 0)
      const lines =
        process === undefined
          ? most.slice(0, LINES_MAX).map((total) => {
              const own = rows.filter((row) => row.process === total.process)
              return toLine(total.process, own, atMs, (row) => figureOf(row, stat))
            })
          : STATS.map((of) => toLine(STAT_TEXT[of], rows, atMs, (row) => figureOf(row, of)))
      const summary = process === undefined ? tellAll(most, stat, every) : tellOne(most[0], every)
      chart.show({ atMs, lines, fromMs: range.fromMs, toMs: range.toMs }, summary, nowMs)
    },
    close: chart.close,
  }
}

function tellOne(total: SummaryRow | undefined, every: string): string {
  if (total === undefined) return 'No run was completed in this range.'
  const { count, p50_ms, p95_ms, max_ms } = total
  return `${plural(count, 'completed run')}: median ${formatDuration(p50_ms)}, p95 ${formatDuration(p95_ms)}, longest ${formatDuration(max_ms)}. A point is ${every}.`
}

function tellAll(totals: readonly SummaryRow[], stat: Stat, every: string): string {
  const slowest = totals.toSorted((a, b) => (figureOf(b, stat) ?? 0) - (figureOf(a, stat) ?? 0))[0]
  if (slowest === undefined) return 'No run was completed in this range.'
  const shown =
    totals.length > LINES_MAX
      ? `; of ${plural(totals.length, 'process', 'processes')} the ${LINES_MAX} that ran most are shown`
      : ''
  return `${STAT_TEXT[stat]} by process${shown}. Highest over the range: ${slowest.process}, ${formatDuration(figureOf(slowest, stat))}. A point is ${every}.`
}
