// The lists of the page of a process: its newest runs, its exceptions, its metrics, and the same by meta.

import type { ComponentChildren } from 'preact'
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { MetricRow } from '../../wire/metrics.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { Timing } from '../../wire/timings.ts'
import { lineOf } from '../exceptions/line-of.ts'
import { ApiError } from '../kit/api.ts'
import { formatDuration, formatFigure, formatValue, plural } from '../kit/format-number.ts'
import { formatAgo, formatMoment, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { Line, Plot, type Point, Sparkline } from '../kit/plot.tsx'
import { linkToRun } from '../kit/run-links.ts'
import { Table } from '../kit/table.tsx'
import { Link, useView } from '../kit/view.tsx'
import { describeState, lengthMs, type Run, toRun } from '../timeline/run.ts'
import { RunState } from '../timeline/run-state.tsx'
import { describeRatio, usualMsOf } from '../timeline/usual.ts'
import type { Props, Rest } from './ask-rest.ts'
import { lanesOf } from './lanes.ts'
import { Ranges } from './ranges.tsx'

const METRICS_MAX = 6
const BINS = 28

interface RunListProps {
  readonly row: OverviewProcess
  /** The chosen one. */
  readonly meta: string | undefined
  readonly timings: readonly Timing[]
}

export function RunList({ row, meta, timings }: RunListProps) {
  const { process, metas } = row
  const { nowMs } = useView()
  const names = [...new Set(timings.flatMap(({ metrics }) => Object.keys(metrics ?? {})))]
  const end = (
    <Link to="runs" of={{ process, meta, from: '-7d' }}>
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
            cell: (run) => (
              <>
                <a class="quiet-link" href={linkToRun(run, nowMs)}>
                  {formatMoment(run.startMs, nowMs)}
                </a>
                {metas.length > 1 && <span class="sub clip">{run.meta ?? 'without meta'}</span>}
              </>
            ),
          },
          {
            label: 'State',
            cell: (run) => <RunState run={run} text={describeState(run)} />,
          },
          { label: 'Took', class: 'number', cell: (run) => <Took run={run} usualMs={usualMsOf(run, row)} /> },
          ...names.map((label) => ({
            label,
            class: 'number minor',
            cell: ({ timing }: Run) => (timing.metrics?.[label] == null ? '–' : formatValue(timing.metrics[label])),
          })),
        ]}
      />
    </Card>
  )
}

function Took({ run, usualMs }: { run: Run; usualMs: number | undefined }) {
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

/** Without runs the first card has the ranges. */
const RangesOf = ({ row, rest, isFirst, children }: Props & { isFirst: boolean; children: ComponentChildren }) => (
  <>
    {row.runs.length === 0 && isFirst && <Ranges chosen={rest.range} />} {children}
  </>
)

export function ExceptionList({ row, rest, groups }: Props & { groups: readonly ExceptionGroup[] }) {
  const { nowMs } = useView()
  const { process } = row
  const { range, meta } = rest
  const { from } = range
  const end = (
    <Link to="exceptions" of={{ process, meta, from }}>
      All exceptions
    </Link>
  )
  const ago = (at: string) => formatAgo(parseTime(at), nowMs)
  return (
    <Card
      title="Exceptions"
      end={
        <RangesOf row={row} rest={rest} isFirst={rest.metrics instanceof ApiError || rest.metrics.length === 0}>
          {end}
        </RangesOf>
      }
    >
      <ul class="divided">
        {groups.map(({ fingerprint: group, example, headline, count, first_at, last_at, counts = [] }) => (
          <li key={group}>
            <div>
              <Link
                class="strong clip"
                to="exceptions"
                of={{ process, meta, from, group }}
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

export function MetricCharts({ row, rest, metrics }: Props & { metrics: readonly MetricRow[] }) {
  const { process } = row
  const { from, label } = rest.range
  const end = (
    <Link to="metrics" of={{ process, meta: rest.meta, from }}>
      All metrics
    </Link>
  )
  return (
    <Card
      title="Metrics"
      about={<span class="muted">{label}</span>}
      end={
        <RangesOf row={row} rest={rest} isFirst>
          {end}
        </RangesOf>
      }
    >
      <div class="metric-grid">
        {[...Map.groupBy(metrics, ({ name }) => name)].slice(0, METRICS_MAX).map(([name, rows]) => (
          <MetricChart key={name} {...{ row, name, rows, rest }} />
        ))}
      </div>
    </Card>
  )
}

type MetricProps = Props & { name: string; rows: readonly MetricRow[] }

/** Several metas have a line each, in their colours. */
function MetricChart({ row, name, rows, rest: { isSplit, meta, range, fromMs, toMs } }: MetricProps) {
  const { process } = row
  const lanes = lanesOf(row, meta)
  const lines = (isSplit ? lanes : lanes.slice(0, 1)).map(({ meta, colour }) => ({
    meta,
    colour,
    points: rows
      .filter((it) => !isSplit || it.meta === meta)
      .map(({ at, mean, last }): Point => [parseTime(at), mean ?? last])
      .filter(([, y]) => y !== null),
  }))
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value!))
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const margin = 0.12 * (greatest - least || Math.abs(greatest) || 1)
  const newest = rows.at(-1)?.last
  if (values.length === 0) return null
  return (
    <Link class="metric-chart" to="metrics" of={{ process, from: range.from, name, meta }}>
      <span class="metric-head">
        <b class="clip">{name}</b>
        <span>{newest == null ? '–' : formatFigure(newest)}</span>
      </span>
      <Plot width={260} height={64} x={[fromMs, toMs]} y={[least - margin, greatest + margin]}>
        <path class="chart-grid" d="M0 63H260" />
        {lines.map(({ meta, colour, points }) => (
          <g key={meta} style={isSplit ? { '--accent': colour } : undefined}>
            <Line points={points} />
          </g>
        ))}
      </Plot>
      <span class="sub">
        means from {formatFigure(least)} to {formatFigure(greatest)}
      </span>
    </Link>
  )
}
