// Its metrics as small charts, each between its least and its greatest value; each leads to the page of metrics.
import type { MetricRow } from '../../wire/metrics.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatValue } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import type { Rest } from './process-answer.ts'

const MOST = 6
const [WIDTH, HEIGHT, EDGE] = [260, 64, 4]

export function MetricCharts({ row: { process }, rest }: { row: OverviewProcess; rest: Rest }) {
  const { metrics, range, fromMs, toMs } = rest
  const byName = [...Map.groupBy(metrics, ({ name }) => name)].slice(0, MOST)
  return (
    <Card
      title="Metrics"
      about={<span class="muted">{range.label}</span>}
      end={<a href={formatRoute('metrics', { process, from: range.from })}>All metrics</a>}
    >
      <div class="metric-grid">
        {byName.map(([name, rows]) => (
          <MetricChart key={name} {...{ process, name, rows, fromMs, toMs, from: range.from }} />
        ))}
      </div>
    </Card>
  )
}

interface Props {
  readonly process: string
  readonly name: string
  readonly rows: readonly MetricRow[]
  readonly from: string
  readonly fromMs: number
  readonly toMs: number
}

function MetricChart({ process, name, rows, from, fromMs, toMs }: Props) {
  const points = rows.flatMap(({ at, mean, last }) => {
    const value = mean ?? last
    return value === null ? [] : [{ atMs: parseTime(at), value }]
  })
  const newest = rows.at(-1)?.last
  if (points.length === 0) return null
  const values = points.map(({ value }) => value)
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const margin = 0.12 * (greatest - least || Math.abs(greatest) || 1)
  const [low, high] = [least - margin, greatest + margin]
  const x = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * WIDTH
  const y = (value: number) => EDGE + (1 - (value - low) / (high - low)) * (HEIGHT - 2 * EDGE)
  const line = points.map(({ atMs, value }) => `${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`).join('L')
  return (
    <a class="metric-chart" href={formatRoute('metrics', { process, from, name })}>
      <span class="metric-head">
        <b class="clip">{name}</b>
        <span>{newest == null ? '–' : formatValue(newest)}</span>
      </span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="chart-grid" d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
        {points.length === 1 ? (
          <circle class="chart-dot" cx={x(points[0]!.atMs)} cy={y(points[0]!.value)} r={2.5} />
        ) : (
          <path class="chart-line" d={`M${line}`} />
        )}
      </svg>
      <span class="sub">
        means from {formatValue(least)} to {formatValue(greatest)}
      </span>
    </a>
  )
}
