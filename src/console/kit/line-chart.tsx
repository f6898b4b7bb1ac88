// Lines or bars over time in SVG. Each chart comes with a sentence that describes it and a table of its data; a legend
// where there are several lines, and the values under the pointer.
import { useState } from 'preact/hooks'
import { labelOf, placeTicks, type Scale, toMs, toPx } from '../timeline/scale.ts'
import { linearTicks, valueRange } from './axis-values.ts'
import { ChartTable, type Line } from './chart-table.tsx'
import { formatMoment, parseTime } from './format-time.ts'
import { useWidth } from './use-width.ts'

interface ChartData {
  /** Ascending. */
  readonly atMs: readonly number[]
  readonly lines: readonly Line[]
  readonly fromMs: number
  readonly toMs: number
}

interface Props {
  readonly title: string
  /** Bars begin at zero: for counts. */
  readonly look?: 'lines' | 'bars'
  formatValue(value: number): string
  /** Where the lines of the grid are; default: round decimals. */
  ticksOf?(low: number, high: number): number[]
  /** Called when a range is selected by dragging. */
  zoom(fromMs: number, toMs: number): void
  readonly data: ChartData
  readonly summary: string
  readonly nowMs: number
}

const HEIGHT = 200
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 8, 10, 26]
const LINES_MAX = 8
const DRAG_PX = 6
const [USUAL_PX, LEAST_PX] = [480, 240]

export function LineChart(props: Props) {
  const { title, data, summary, nowMs, formatValue } = props
  const lines = data.lines.slice(0, LINES_MAX)
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null))
  const [isOpen, setOpen] = useState(false)
  return (
    <figure class="chart">
      <h2>{title}</h2>
      <figcaption class="muted">{summary}</figcaption>
      {!isEmpty && <Plot {...props} data={{ ...data, lines }} />}
      {lines.length > 1 && (
        <ul class="chart-legend">
          {lines.map(({ label }, i) => (
            <li key={label}>
              <i style={{ background: `var(--series-${i + 1})` }} />
              <bdi>{label}</bdi>
            </li>
          ))}
        </ul>
      )}
      {!isEmpty && (
        <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Show as a table</summary>
          {isOpen && <ChartTable {...{ title, formatValue, nowMs, atMs: data.atMs, lines }} />}
        </details>
      )}
    </figure>
  )
}

function Plot({ data, look = 'lines', formatValue, ticksOf = linearTicks, zoom, title }: Props) {
  const [box, width] = useWidth(USUAL_PX, LEAST_PX)
  const [atPx, setAtPx] = useState<number>()
  const [drag, setDrag] = useState<number>()
  const { atMs, lines, fromMs, toMs: endMs } = data
  const scale: Scale = { fromMs, toMs: endMs, widthPx: width - LEFT - RIGHT }
  const [low, high] = valueRange(
    lines.flatMap(({ values }) => values.filter((value) => value !== null)),
    look === 'bars',
  )
  const bottom = HEIGHT - BOTTOM
  const x = (ms: number) => LEFT + toPx(scale, ms)
  const y = (value: number) => TOP + (1 - shareOf(Math.min(high, value), low, high)) * (bottom - TOP)
  const ticks = placeTicks(scale)
  const stepMs = (atMs[1] ?? endMs) - (atMs[0] ?? fromMs)
  const index = atPx === undefined ? -1 : nearestIndex(atMs, toMs(scale, atPx - LEFT))
  const pxOf = ({ clientX }: PointerEvent) => {
    const { left } = box.current!.getBoundingClientRect()
    return Math.max(LEFT, Math.min(width - RIGHT, clientX - left))
  }
  return (
    <div
      class="plot"
      ref={box}
      onPointerDown={(event) => event.button === 0 && event.pointerType !== 'touch' && setDrag(pxOf(event))}
      onPointerMove={(event) => setAtPx(pxOf(event))}
      onPointerLeave={() => {
        setAtPx(undefined)
        setDrag(undefined)
      }}
      onPointerUp={(event) => {
        const to = pxOf(event)
        const [a, b] = [Math.min(drag ?? to, to), Math.max(drag ?? to, to)]
        setDrag(undefined)
        if (b - a >= DRAG_PX) zoom(toMs(scale, a - LEFT), toMs(scale, b - LEFT))
      }}
    >
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`${title} over time`}
      >
        {ticksOf(low, high).map((value) => (
          <g key={value}>
            <path class="chart-grid" d={`M${LEFT} ${Math.round(y(value))}.5H${width - RIGHT}`} />
            <text class="chart-text" x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {formatValue(value)}
            </text>
          </g>
        ))}
        {ticks.atMs
          .filter((at) => x(at) > LEFT + 20 && x(at) < width - RIGHT - 20)
          .map((at) => (
            <text key={at} class="chart-text" x={x(at)} y={HEIGHT - 6} text-anchor="middle">
              {labelOf(at, ticks.stepMs)}
            </text>
          ))}
        {lines.map(({ label, values }, i) =>
          look === 'bars' ? (
            <path key={label} class="chart-failed" d={barPath(atMs, values, x, y, stepMs, bottom, width - RIGHT)} />
          ) : (
            <LineOf key={label} {...{ atMs, values, x, y, place: i + 1 }} />
          ),
        )}
        {index >= 0 && <path class="chart-cursor" d={`M${x(atMs[index]!)} ${TOP}V${bottom}`} />}
        {drag !== undefined && atPx !== undefined && (
          <rect
            class="chart-select"
            x={Math.min(drag, atPx)}
            y={TOP}
            width={Math.abs(atPx - drag)}
            height={bottom - TOP}
          />
        )}
      </svg>
      {index >= 0 && (
        <div
          class="tip"
          aria-hidden="true"
          style={{ left: `${Math.min(x(atMs[index]!) + 10, width - 150)}px`, top: '0' }}
        >
          <span class="muted">{formatMoment(atMs[index]!, endMs)}</span>
          {lines.map(({ label, values }) => (
            <span key={label}>
              {lines.length > 1 && `${label}: `}
              <strong>{values[index] == null ? '–' : formatValue(values[index]!)}</strong>
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

interface LineProps {
  readonly atMs: readonly number[]
  readonly values: readonly (number | null)[]
  readonly place: number
  x(ms: number): number
  y(value: number): number
}

/** Gaps are bridged; each value is a point where there is room for it. */
function LineOf({ atMs, values, place, x, y }: LineProps) {
  const points = values.flatMap((value, i) => (value === null ? [] : [[x(atMs[i]!), y(value)] as const]))
  const style = { '--tone': `var(--series-${place})` }
  return (
    <g class="chart-series" style={style}>
      <path d={`M${points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L')}`} />
      {points.length <= 60 && points.map(([px, py]) => <circle key={px} cx={px} cy={py} r={2.5} />)}
    </g>
  )
}

function barPath(
  atMs: readonly number[],
  values: readonly (number | null)[],
  x: (ms: number) => number,
  y: (value: number) => number,
  stepMs: number,
  base: number,
  right: number,
): string {
  return values
    .map((value, i) => {
      const [from, to] = [Math.max(LEFT, x(atMs[i]!)), Math.min(right, x(atMs[i]! + stepMs))]
      if (!value || to <= from) return ''
      const width = Math.max(1, to - from - 1).toFixed(1)
      return `M${from.toFixed(1)} ${base}V${y(value).toFixed(1)}h${width}V${base}z`
    })
    .join('')
}

/** Halved: the difference of the greatest numbers is infinite. */
const shareOf = (value: number, low: number, high: number): number =>
  high - low < 1 ? (value - low) / (high - low) : (value / 2 - low / 2) / (high / 2 - low / 2)

function nearestIndex(atMs: readonly number[], ms: number): number {
  let best = -1
  for (const [i, at] of atMs.entries()) if (best < 0 || Math.abs(at - ms) < Math.abs(atMs[best]! - ms)) best = i
  return best
}

/** A line over the times `atMs`, with a gap for each time without a row. */
export function toLine<R extends { readonly at?: string }>(
  label: string,
  rows: readonly R[],
  atMs: readonly number[],
  figureOf: (row: R) => number | null,
): Line {
  const byBucket = new Map(rows.map((row) => [parseTime(row.at ?? ''), figureOf(row)]))
  return { label, values: atMs.map((at) => byBucket.get(at) ?? null) }
}
