// The Metrics page: chosen metrics of one process, a chart each, aggregated by interval; metas can be compared.
import type { MetricRow } from '../../wire/metrics.ts'
import { LineChart, toLine } from '../kit/line-chart.tsx'
import { page } from '../kit/page.tsx'
import { RangeHeader } from '../kit/page-header.tsx'
import { changeParams } from '../kit/route.ts'
import { fixRange, isBucketOpen, isByDay, readRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { askMetrics, type MetricsAnswer } from './ask-metrics.ts'
import { describeFigures, exactOf, formatterOf, STAT_TEXT, STATS, type Stat } from './metric-figures.ts'
import { MetricFilters, MetricNames } from './metric-filters.tsx'

const EVERY_MS = 5_000
const CHARTS_MAX = 6
const ASKED = ['from', 'to', 'process', 'meta', 'every'] as const
/** Statistics that add up are drawn as bars from zero, all metas together. */
const SUMMED: readonly Stat[] = ['sum', 'count']

const statIn = (params: URLSearchParams): Stat => STATS.find((known) => known === params.get('stat')) ?? 'mean'

function Heading({ answer }: { answer: MetricsAnswer | undefined }) {
  return (
    <RangeHeader title="Metrics" fallback={answer?.fallback}>
      <MetricFilters answer={answer} />
    </RangeHeader>
  )
}

function Content({ answer }: { answer: MetricsAnswer }) {
  const { app, params } = useView()
  const { process, rows } = answer
  const found = new Set(rows.map(({ name }) => name))
  const names = [...found].toSorted((a, b) => a.localeCompare(b))
  if (process === undefined)
    return <Nothing title="No metrics yet" text="Send some with POST /v1/metrics: each name becomes a chart." />
  if (names.length === 0)
    return <Nothing title="No metrics in this range" text="Choose a longer range or another process." />
  const chosen = params.getAll('name').filter((name) => found.has(name))
  const shown = chosen.length > 0 ? chosen : names.slice(0, CHARTS_MAX)
  function show(next: readonly string[]): void {
    const changed = changeParams(params, { name: undefined })
    for (const name of next) changed.append('name', name)
    app.go('metrics', changed)
  }
  return (
    <div class="stack">
      <MetricNames names={names} shown={shown} show={show} />
      <div class="charts">
        {shown.map((name) => (
          <div class="card" key={`${process} ${name}`}>
            <MetricChart {...{ answer, name }} />
          </div>
        ))}
      </div>
    </div>
  )
}

function MetricChart({ answer, name }: { answer: MetricsAnswer; name: string }) {
  const { params, change, nowMs } = useView()
  const { rows, groups, metas, range, every, atMs } = answer
  const stat = statIn(params)
  const isSummed = SUMMED.includes(stat)
  const own = (of: readonly MetricRow[]) => of.filter((row) => row.name === name)
  const drawn = isSummed || groups.length === 0 ? [{ label: STAT_TEXT[stat], rows }] : groups
  const lines = drawn
    .map(({ label, rows }) => ({ label, rows: own(rows) }))
    .filter((line) => drawn.length === 1 || line.rows.length > 0)
    .map(({ label, rows }) => toLine(label, rows, atMs, (row) => row[stat]))
  const said = describeFigures(own(rows), stat, every, formatterOf(name, stat === 'count' ? 'mean' : stat))
  const isCut = !isSummed && metas > groups.length && groups.length > 0
  return (
    <LineChart
      title={name}
      look={isSummed ? 'bars' : 'lines'}
      barLook="chart-values"
      formatValue={formatterOf(name, stat)}
      formatExact={exactOf(name, stat)}
      zoom={(fromMs, toMs) => change(fixRange(fromMs, toMs))}
      data={{
        atMs,
        lines,
        fromMs: range.fromMs,
        toMs: range.toMs,
        isByDay: isByDay(every),
        isOpen: isBucketOpen(atMs, every, nowMs),
      }}
      summary={isCut ? `${said} The first ${groups.length} metas by name: choose one for the others.` : said}
    />
  )
}

const Nothing = ({ title, text }: { title: string; text: string }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    <p class="muted">{text}</p>
  </div>
)

export const MetricsPage = page<MetricsAnswer>({
  name: 'metrics',
  everyMs: (params) => (readRange(params, 0).isLive ? EVERY_MS : 0),
  keyOf: (params) => JSON.stringify(ASKED.map((name) => params.get(name))),
  subjectOf: () => '',
  ask: askMetrics,
  Heading,
  Content,
})
