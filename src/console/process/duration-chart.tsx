// Durations over time: the median as a line, shaded up to p95, a row of failures below, and the change as a dashed line.
// The axis is linear, from 0 to the 98th percentile of p95, with round durations.
import type { OverviewProcess } from '../../wire/overview.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { formatDuration } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { useWidth } from '../kit/use-width.ts'
import { durationTicks, timeTicks } from './axis-ticks.ts'
import { ChangeMark } from './change-mark.tsx'

const HEIGHT = 224
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 8, 18, 56]
/** Below the axis of values. */
const [FAILED_AT, FAILED_HEIGHT] = [32, 20]
/** Before the first layout, and of a browser without ResizeObserver. */
const [USUAL_WIDTH, LEAST_WIDTH] = [720, 280]

interface Props {
  readonly row: Pick<OverviewProcess, 'change'>
  readonly rows: readonly SummaryRow[]
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
}

interface Point {
  readonly atMs: number
  readonly p50: number
  readonly p95: number
}

export function DurationChart({ row, rows, fromMs, toMs, stepMs }: Props) {
  const [box, width] = useWidth(USUAL_WIDTH, LEAST_WIDTH)
  const points = rows.flatMap(({ at, p50_ms: p50, p95_ms: p95 }): Point[] =>
    p50 === null || at === undefined ? [] : [{ atMs: parseTime(at) + stepMs / 2, p50, p95: p95 ?? p50 }],
  )
  const highest = points.map(({ p95 }) => p95).sort((a, b) => a - b)
  const top = 1.1 * Math.max(1, highest[Math.floor(0.98 * (highest.length - 1))] ?? 1)
  const bottom = HEIGHT - BOTTOM
  const x = (ms: number) =>
    LEFT + ((Math.max(fromMs, Math.min(toMs, ms)) - fromMs) / (toMs - fromMs)) * (width - LEFT - RIGHT)
  const y = (ms: number) => TOP + (1 - Math.min(1, ms / top)) * (bottom - TOP)
  return (
    <div class="chart" ref={box}>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        width={width}
        height={HEIGHT}
        role="img"
        aria-label="Median and 95th percentile of the durations over time"
      >
        {durationTicks(top).map((ms) => (
          <g key={ms}>
            <path class="chart-grid" d={`M${LEFT} ${y(ms)}H${width - RIGHT}`} />
            <text class="chart-text" x={LEFT - 8} y={y(ms) + 4} text-anchor="end">
              {ms === 0 ? '0' : shortDuration(ms)}
            </text>
          </g>
        ))}
        {timeTicks(fromMs, toMs, (width - LEFT) / 64).map(({ atMs, label }) => (
          <g key={atMs}>
            <path class="chart-grid" d={`M${x(atMs)} ${TOP}V${bottom}`} />
            <text class="chart-text" x={x(atMs)} y={HEIGHT - 6} text-anchor="middle">
              {label}
            </text>
          </g>
        ))}
        {splitAtGaps(points, 3 * stepMs).map((part) => (
          <Part key={part[0]!.atMs} part={part} x={x} y={y} />
        ))}
        <path class="chart-grid" d={`M${LEFT} ${bottom + FAILED_AT}.5H${width - RIGHT}`} />
        <text class="chart-text" x={LEFT - 8} y={bottom + FAILED_AT} text-anchor="end">
          failed
        </text>
        {rows.map((of) => (
          <FailedBar key={of.at} row={of} {...{ x, stepMs, toMs, base: bottom + FAILED_AT }} />
        ))}
        {row.change !== null && parseTime(row.change.at) > fromMs && (
          <ChangeMark change={row.change} x={x(parseTime(row.change.at))} {...{ width, toMs, top: TOP, bottom }} />
        )}
      </svg>
    </div>
  )
}

interface Scales {
  readonly x: (ms: number) => number
  readonly y: (ms: number) => number
}

/** A single bucket between gaps is a dot. */
function Part({ part, x, y }: Scales & { part: readonly Point[] }) {
  const [first] = part
  if (part.length === 1) return <circle class="chart-dot" cx={x(first!.atMs)} cy={y(first!.p50)} r={2.5} />
  const line = (of: 'p50' | 'p95', points: readonly Point[]) =>
    points.map((point) => `${x(point.atMs).toFixed(1)} ${y(point[of]).toFixed(1)}`).join('L')
  return (
    <g>
      <path class="chart-area" d={`M${line('p95', part)}L${line('p50', part.toReversed())}z`} />
      <path class="chart-line" d={`M${line('p50', part)}`} />
    </g>
  )
}

interface FailedBarProps extends Pick<Scales, 'x'> {
  readonly row: SummaryRow
  readonly stepMs: number
  readonly toMs: number
  readonly base: number
}

/** Its height is the share of the runs that failed or never finished. */
function FailedBar({ row, x, stepMs, toMs, base }: FailedBarProps) {
  const bad = row.failed + row.abandoned
  if (bad === 0 || row.at === undefined) return null
  const atMs = parseTime(row.at)
  const all = bad + row.count
  const height = Math.max(2, (bad / all) * FAILED_HEIGHT)
  const [left, right] = [x(atMs), x(atMs + stepMs)]
  return (
    <rect class="chart-failed" x={left + 0.5} y={base - height} width={Math.max(2, right - left - 1)} height={height}>
      <title>{`${bad} of ${all} failed or never finished, ${formatMoment(atMs, toMs)}`}</title>
    </rect>
  )
}

function splitAtGaps(points: readonly Point[], gapMs: number): Point[][] {
  const parts: Point[][] = []
  for (const point of points) {
    const last = parts.at(-1)
    if (last !== undefined && point.atMs - last.at(-1)!.atMs <= gapMs) last.push(point)
    else parts.push([point])
  }
  return parts
}

/** Without the zeros of a round duration: `5 m`, `1.5 s`. */
const shortDuration = (ms: number): string =>
  formatDuration(ms)
    .replace(/ 00 [sm]$/, '')
    .replace(/\.0+ /, ' ')
    .replace(/(\.\d)0 /, '$1 ')
