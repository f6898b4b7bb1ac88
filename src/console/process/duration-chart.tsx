// Durations over time: the median as a line, shaded up to p95, a row of failures below, and the change as a dashed
// line. The axis is linear, from 0 to the 98th percentile of p95, with round durations.

import type { OverviewProcess } from '../../wire/overview.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { durationTicks } from '../kit/axis-values.ts'
import { formatDuration, formatTimes } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Line, Plot, type Point, TimeAxis, useScales, ValueAxis } from '../kit/plot.tsx'
import { shortMoment } from '../kit/words.ts'
import { countEnded, countTroubles } from '../timeline/count-bins.ts'

/** The row of failures, below the axis of values. */
const FAILED_AT = 32
const FAILED_HEIGHT = 20
/** More empty buckets than these are a gap. */
const BRIDGED = 2

interface Props {
  readonly change: OverviewProcess['change']
  readonly rows: readonly SummaryRow[]
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  /** Without it as high as a chart by itself. */
  readonly height?: number
}

export function DurationChart({ change, rows, fromMs, toMs, stepMs, height = 224 }: Props) {
  const points = toPoints(rows, stepMs)
  const top = topOf(points.flatMap(([, , p95]) => p95 ?? []))
  const bad = rows.filter((row) => countTroubles(row) > 0)
  return (
    <Plot
      class="chart"
      label="Median and 95th percentile of the durations over time"
      height={height}
      x={[fromMs, toMs]}
      y={[0, top]}
      inset={[18, 8, 56, 56]}
    >
      <ValueAxis at={durationTicks(top)} format={shortDuration} />
      <TimeAxis below={50} hasGrid />
      <Line points={points} />
      <FailedRow rows={bad} stepMs={stepMs} toMs={toMs} />
      {change !== null && parseTime(change.at) > fromMs && <ChangeMark change={change} toMs={toMs} />}
    </Plot>
  )
}

/** The end of an axis for these durations: an outlier flattens nothing. */
export function topOf(lengths: readonly number[]): number {
  const sorted = lengths.toSorted((a, b) => a - b)
  return 1.1 * Math.max(1, sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 1)
}

/** In the middle of each bucket; a gap where several are empty. */
function toPoints(rows: readonly SummaryRow[], stepMs: number): Point[] {
  const points: Point[] = []
  let lastMs = Number.NaN
  for (const { at, p50_ms: p50, p95_ms: p95 } of rows) {
    if (p50 === null || at === undefined) continue
    const ms = parseTime(at) + stepMs / 2
    if (ms - lastMs > (BRIDGED + 1) * stepMs) points.push([ms, null])
    points.push([ms, p50, p95 ?? p50])
    lastMs = ms
  }
  return points
}

/** The height of each bar is the share of the runs that failed or never finished. */
function FailedRow({ rows, stepMs, toMs }: Pick<Props, 'rows' | 'stepMs' | 'toMs'>) {
  const { x, box } = useScales()
  const base = box.bottom + FAILED_AT
  return (
    <g>
      <path class="chart-grid" d={`M${box.left} ${base}.5H${box.right}`} />
      <text class="chart-text" x={box.left - 8} y={base} text-anchor="end">
        failed
      </text>
      {rows.map((row) => {
        const { at = '' } = row
        const { bad, all } = countEnded([row])
        const [left, right] = [x(parseTime(at)), x(parseTime(at) + stepMs)]
        const height = Math.max(2, (bad / all) * FAILED_HEIGHT)
        const size = { x: left + 0.5, y: base - height, width: Math.max(2, right - left - 1), height }
        return (
          <rect key={at} class="chart-failed" {...size}>
            <title>{`${bad} of ${all} failed or never finished, ${formatMoment(parseTime(at), toMs)}`}</title>
          </rect>
        )
      })}
    </g>
  )
}

export function ChangeMark({ change, toMs }: { change: NonNullable<Props['change']>; toMs: number }) {
  const { x, box } = useScales()
  const { at, before_ms: before, after_ms: after } = change
  const isSlower = after > before
  const times = formatTimes(isSlower ? after / before : before / after)
  const px = x(parseTime(at))
  const isRight = px > box.right * 0.6
  return (
    <g>
      <path class={isSlower ? 'chart-change' : 'chart-change good'} d={`M${px} ${box.top - 8}V${box.bottom}`} />
      <text
        class={isSlower ? 'chart-text warn' : 'chart-text'}
        x={px + (isRight ? -6 : 6)}
        y={box.top - 4}
        text-anchor={isRight ? 'end' : 'start'}
      >
        {`${times}× ${isSlower ? 'slower' : 'faster'} since ${shortMoment(parseTime(at), toMs)}`}
      </text>
    </g>
  )
}

/** Without the zeros of a round duration: `5 m`, `1.5 s`. */
export const shortDuration = (ms: number): string =>
  ms === 0
    ? '0'
    : formatDuration(ms)
        .replace(/ 00 [sm]$/, '')
        .replace(/\.0+ /, ' ')
        .replace(/(\.\d)0 /, '$1 ')
