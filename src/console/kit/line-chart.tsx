// Lines or bars over time. Each chart comes with a sentence that describes it and a table of its data; a legend where
// there are several lines, and the values under the pointer.
import { useState } from 'preact/hooks'
import { linearTicks, valueRange } from './axis-values.ts'
import { ChartTable, type Line } from './chart-table.tsx'
import { formatMoment, parseTime } from './format-time.ts'
import { Bars, Plot, TimeAxis, useScales, ValueAxis } from './plot.tsx'
import { toMs, toPx } from './scale.ts'

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
}

const HEIGHT = 200
const [TOP, RIGHT, BOTTOM, LEFT] = [10, 8, 26, 64]
const [LINES_MAX, DOTS_MAX] = [8, 60]
const DRAG_PX = 6
const TIP_PX = 150

export function LineChart(props: Props) {
  const { title, data, summary, formatValue } = props
  const lines = data.lines.slice(0, LINES_MAX)
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null))
  const [isOpen, setOpen] = useState(false)
  return (
    <figure class="chart">
      <h2>{title}</h2>
      <figcaption class="muted">{summary}</figcaption>
      {!isEmpty && <Picture {...props} data={{ ...data, lines }} />}
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
          {isOpen && <ChartTable {...{ title, formatValue, atMs: data.atMs, lines }} />}
        </details>
      )}
    </figure>
  )
}

/** Of the pointer, in px from the left of a picture as wide as `width`. */
interface Pointer {
  readonly px: number
  readonly width: number
}

function Picture({ data, look = 'lines', formatValue, ticksOf = linearTicks, zoom, title }: Props) {
  const [pointer, setPointer] = useState<Pointer>()
  const [drag, setDrag] = useState<number>()
  const { atMs, lines, fromMs, toMs: endMs } = data
  const isBars = look === 'bars'
  const [low, high] = valueRange(
    lines.flatMap(({ values }) => values.filter((value) => value !== null)),
    isBars,
  )
  const stepMs = (atMs[1] ?? endMs) - (atMs[0] ?? fromMs)
  const scaleOf = (width: number) => ({ fromMs, toMs: endMs, widthPx: width - LEFT - RIGHT })
  const timeAt = ({ px, width }: Pointer) => toMs(scaleOf(width), px - LEFT)
  const index = pointer === undefined ? -1 : nearestIndex(atMs, timeAt(pointer))
  const tipPx = pointer === undefined ? 0 : LEFT + toPx(scaleOf(pointer.width), atMs[index] ?? fromMs) + 10
  const pointerOf = ({ clientX, currentTarget }: PointerEvent & { readonly currentTarget: Element }): Pointer => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return { px: Math.max(LEFT, Math.min(width - RIGHT, clientX - left)), width }
  }
  return (
    <div
      class="picture"
      onPointerDown={(event) => event.button === 0 && event.pointerType !== 'touch' && setDrag(pointerOf(event).px)}
      onPointerMove={(event) => setPointer(pointerOf(event))}
      onPointerLeave={() => {
        setPointer(undefined)
        setDrag(undefined)
      }}
      onPointerUp={(event) => {
        const { px, width } = pointerOf(event)
        const [a, b] = [Math.min(drag ?? px, px), Math.max(drag ?? px, px)]
        setDrag(undefined)
        if (b - a >= DRAG_PX) zoom(timeAt({ px: a, width }), timeAt({ px: b, width }))
      }}
    >
      <Plot
        label={`${title} over time`}
        {...{ height: HEIGHT, usualWidth: [480, 240], x: [fromMs, endMs], y: [low, high] }}
        inset={[TOP, RIGHT, BOTTOM, LEFT]}
      >
        <ValueAxis at={ticksOf(low, high)} format={formatValue} />
        <TimeAxis below={20} />
        {lines.map(({ label, values }, i) =>
          isBars ? (
            <Bars key={label} at={atMs} step={stepMs} values={values.map((value) => value ?? 0)} />
          ) : (
            <Series key={label} {...{ atMs, values, place: i + 1 }} />
          ),
        )}
        {index >= 0 && <Cursor ms={atMs[index]!} />}
        {drag !== undefined && pointer !== undefined && <Selection px={[drag, pointer.px]} />}
      </Plot>
      {pointer !== undefined && index >= 0 && (
        <div class="tip" aria-hidden="true" style={{ left: `${Math.min(tipPx, pointer.width - TIP_PX)}px`, top: '0' }}>
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

function Cursor({ ms }: { ms: number }) {
  const { x, box } = useScales()
  return <path class="chart-cursor" d={`M${x(ms)} ${box.top}V${box.bottom}`} />
}

function Selection({ px: [a, b] }: { px: readonly [number, number] }) {
  const { box } = useScales()
  const size = { y: box.top, width: Math.abs(b - a), height: box.bottom - box.top }
  return <rect class="chart-select" x={Math.min(a, b)} {...size} />
}

interface SeriesProps {
  readonly atMs: readonly number[]
  readonly values: readonly (number | null)[]
  readonly place: number
}

/** Gaps are bridged; each value is a point where there is room for it. */
function Series({ atMs, values, place }: SeriesProps) {
  const { x, y } = useScales()
  const points = values.flatMap((value, i) => (value === null ? [] : [[x(atMs[i]!), y(value)] as const]))
  return (
    <g class="chart-series" style={{ '--tone': `var(--series-${place})` }}>
      <path d={`M${points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L')}`} />
      {points.length <= DOTS_MAX && points.map(([px, py]) => <circle key={px} cx={px} cy={py} r={2.5} />)}
    </g>
  )
}

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
