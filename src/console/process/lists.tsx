// The lists of the page of a process: its newest runs, its exceptions, its metrics, and the same by meta.

import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { MetricRow } from '../../wire/metrics.ts'
import type { OverviewMeta, OverviewProcess } from '../../wire/overview.ts'
import { formatDuration } from '../../wire/span-text.ts'
import type { Timing } from '../../wire/timings.ts'
import { lineOf } from '../exceptions/line-of.ts'
import { formatCount, formatValue, plural } from '../kit/format-number.ts'
import { formatAgo, formatMoment, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { Line, Plot, type Point, Sparkline } from '../kit/plot.tsx'
import { linkToRun, markOf } from '../kit/run-links.ts'
import { Table } from '../kit/table.tsx'
import { Link, useView } from '../kit/view.tsx'
import { describeState, isTrouble, lengthMs, type Run, toRun } from '../timeline/run.ts'
import { describeRatio } from '../timeline/usual.ts'
import type { Props, Rest } from './ask-rest.ts'

const [METRICS_MAX, BINS] = [6, 28]

interface RunListProps {
  readonly row: OverviewProcess
  readonly timings: readonly Timing[]
}

export function RunList({ row: { process, metas, usual_ms: usualMs }, timings }: RunListProps) {
  const { nowMs } = useView()
  const names = [...new Set(timings.flatMap(({ metrics }) => Object.keys(metrics ?? {})))]
  const end = (
    <Link to="runs" of={{ process, from: '-7d' }}>
      All runs
    </Link>
  )
  return (
    <Card title="Runs" end={end}>
      <Table<Run>
        caption="Runs"
        class="run-list"
        rows={timings.map(toRun)}
        keyOf={({ id }) => id}
        columns={[
          {
            label: 'Started',
            cell: ({ id, startMs, meta }) => (
              <>
                <a class="quiet-link" href={linkToRun(process, startMs, id, nowMs)}>
                  {formatMoment(startMs, nowMs)}
                </a>
                {metas.length > 1 && <span class="sub clip">{meta ?? 'without meta'}</span>}
              </>
            ),
          },
          {
            label: 'State',
            cell: (run) => (
              <span class={`state state-${isTrouble(run) ? 'failed' : run.state}`}>
                <i class={`mark mark-${run.state}`} />
                {describeState(run)}
              </span>
            ),
          },
          { label: 'Took', class: 'number', cell: (run) => <Took run={run} usualMs={usualMs} /> },
          ...names.map((label) => ({
            ...{ label, class: 'number minor' },
            cell: ({ timing }: Run) => (timing.metrics?.[label] == null ? '–' : formatValue(timing.metrics[label])),
          })),
        ]}
      />
    </Card>
  )
}

function Took({ run, usualMs }: { run: Run; usualMs: number | null }) {
  const ms = lengthMs(run, useView().nowMs)
  const ratio = run.state === 'completed' && ms !== null && usualMs ? describeRatio(ms, usualMs, '') : ''
  return (
    <>
      {formatDuration(ms)}
      {run.state === 'running' && ' so far'}
      {ratio && <span class="sub">{ratio}</span>}
    </>
  )
}

export function ExceptionList({ row: { process }, rest, groups }: Props & { groups: readonly ExceptionGroup[] }) {
  const { nowMs } = useView()
  const { range } = rest
  const { from } = range
  const end = (
    <Link to="exceptions" of={{ process, from }}>
      All exceptions
    </Link>
  )
  const ago = (at: string) => formatAgo(parseTime(at), nowMs)
  return (
    <Card title="Exceptions" end={end}>
      <ul class="divided">
        {groups.map(({ fingerprint: group, example, headline, count, first_at, last_at, counts = [] }) => (
          <li key={group}>
            <div>
              <Link
                class="strong clip"
                to="exceptions"
                of={{ process, from, group }}
                text={lineOf({ headline })}
                title={example}
              />
              <span class="sub">
                {plural(count, 'time')} in {range.label} · last {ago(last_at)} · first {ago(first_at)}
              </span>
            </div>
            <Sparkline counts={binsOf(counts, rest)} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function binsOf(counts: readonly { at: string; count: number }[], { fromMs, toMs }: Rest): number[] {
  const bins = new Array<number>(BINS).fill(0)
  for (const { at, count } of counts) {
    const bin = Math.max(0, Math.min(BINS - 1, Math.floor(((parseTime(at) - fromMs) / (toMs - fromMs)) * BINS)))
    bins[bin]! += count
  }
  return bins
}

export function MetricCharts({ row: { process }, rest, metrics }: Props & { metrics: readonly MetricRow[] }) {
  const { from, label } = rest.range
  const end = (
    <Link to="metrics" of={{ process, from }}>
      All metrics
    </Link>
  )
  return (
    <Card title="Metrics" about={<span class="muted">{label}</span>} end={end}>
      <div class="metric-grid">
        {[...Map.groupBy(metrics, ({ name }) => name)].slice(0, METRICS_MAX).map(([name, rows]) => (
          <MetricChart key={name} {...{ process, name, rows, rest }} />
        ))}
      </div>
    </Card>
  )
}

type MetricProps = { process: string; name: string; rows: readonly MetricRow[]; rest: Rest }

function MetricChart({ process, name, rows, rest: { range, fromMs, toMs } }: MetricProps) {
  const points = rows.map(({ at, mean, last }): Point => [parseTime(at), mean ?? last]).filter(([, y]) => y !== null)
  const values = points.map(([, value]) => value!)
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const margin = 0.12 * (greatest - least || Math.abs(greatest) || 1)
  const newest = rows.at(-1)?.last
  if (points.length === 0) return null
  return (
    <Link class="metric-chart" to="metrics" of={{ process, from: range.from, name }}>
      <span class="metric-head">
        <b class="clip">{name}</b>
        <span>{newest == null ? '–' : formatValue(newest)}</span>
      </span>
      <Plot width={260} height={64} x={[fromMs, toMs]} y={[least - margin, greatest + margin]}>
        <path class="chart-grid" d="M0 63H260" />
        <Line points={points} />
      </Plot>
      <span class="sub">
        means from {formatValue(least)} to {formatValue(greatest)}
      </span>
    </Link>
  )
}

export function MetaList({ process, metas }: { process: string; metas: readonly OverviewMeta[] }) {
  const { nowMs } = useView()
  return (
    <Card title="By meta" about={<span class="muted">failed in 24 h</span>}>
      <ul class="divided">
        {metas.map(({ meta, state, run, last_seen_at: seen, last_24h: day, ...known }) => (
          <li key={meta}>
            <i
              class={`mark mark-${state === 'silent' ? 'failed' : state === 'overdue' ? state : run ? markOf(run[1]) : 'orphan'}`}
            />
            <div>
              <Link
                class="clip"
                to="runs"
                of={{ process, meta: meta ?? '', from: '-7d' }}
                text={meta ?? 'without meta'}
              />
              <span class="sub">
                {state === 'silent' && 'silent · '}
                {seen === null ? '–' : formatAgo(parseTime(seen), nowMs)} · median{' '}
                {formatDuration(known.median_24h_ms ?? known.median_7d_ms ?? known.usual_ms)} ·{' '}
                <span class={day.failed > 0 ? 'bad' : undefined}>
                  {day.failed > 0 ? `${day.failed} of ${formatCount(day.runs)} failed` : 'none failed'}
                </span>
              </span>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}
