// Lines or bars over time. Each chart comes with a sentence that describes it and a table of its data; a legend where
// there are several lines, and the values under the pointer.
import { useState } from 'preact/hooks'
import { linearTicks, valueRange } from './axis-values.ts'
import { ChartTable, type Line } from './chart-table.tsx'
import { formatDay, formatMoment, parseTime } from './format-time.ts'
import { Bars, Plot, TimeAxis, useScales, ValueAxis } from './plot.tsx'
import { toMs, toPx } from './scale.ts'

interface ChartData {
  /** Where each bucket begins, ascending. */
  readonly atMs: readonly number[]
  /** Buckets of days are named by them. */
  readonly isByDay?: boolean
  /** The last bucket is not over. */
  readonly isOpen?: boolean
  readonly lines: readonly Line[]
  readonly fromMs: number
  readonly toMs: number
}

interface Props {
  readonly title: string
  /** Bars begin at zero: for counts. */
  readonly look?: 'lines' | 'bars'
  /** The class of its bars; default: as bars of exceptions. */
  readonly barLook?: string
  /** On the axis. */
  formatValue(value: number): string
  /** In tooltips and the table; default: as on the axis. */
  formatExact?(value: number): string
  /** Where the lines of the grid are; default: round decimals. */
  ticksOf?(low: number, high: number): number[]
  /** Called when a range is selected by dragging. */
  zoom(fromMs: number, toMs: number): void
  readonly data: ChartData
  readonly summary: string
}

const HEIGHT = 200
const TOP = 10
const RIGHT = 8
const BOTTOM = 26
const LEFT = 64
const LINES_MAX = 8
const DOTS_MAX = 60
const DRAG_PX = 6
const TIP_PX = 150
const DAY_LABEL_PX = 60

export function LineChart(props: Props) {
  const { title, data, summary, formatValue, formatExact = formatValue } = props
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
          {isOpen && (
            <ChartTable {...{ title, formatValue: formatExact, atMs: data.atMs, lines, nameOf: nameIn(data) }} />
          )}
        </details>
      )}
    </figure>
  )
}

/** `22 Nov so far`: the name of a bucket. */
const nameIn =
  ({ atMs, isByDay, isOpen }: ChartData) =>
  (place: number, nowMs: number): string => {
    const name = isByDay ? formatDay(atMs[place]!) : formatMoment(atMs[place]!, nowMs)
    return isOpen && place === atMs.length - 1 ? `${name} so far` : name
  }

/** `px`: the place of the pointer from the left of a picture as wide as `width`. */
interface Pointer {
  readonly px: number
  readonly width: number
}

function Picture({ data, look = 'lines', formatValue, ticksOf = linearTicks, zoom, title, ...how }: Props) {
  const { formatExact = formatValue, barLook = 'chart-failed' } = how
  const [pointer, setPointer] = useState<Pointer>()
  const [drag, setDrag] = useState<number>()
  const { atMs, lines, isByDay = false, isOpen = false } = data
  const isBars = look === 'bars'
  const [low, high] = valueRange(
    lines.flatMap(({ values }) => values.filter((value) => value !== null)),
    isBars,
  )
  const stepMs = (atMs[1] ?? data.toMs) - (atMs[0] ?? data.fromMs)
  // whole buckets, each drawn in its middle
  const [fromMs, endMs] = [atMs[0] ?? data.fromMs, Math.max(data.toMs, (atMs.at(-1) ?? 0) + stepMs)]
  const middles = atMs.map((at, i) => (at + (atMs[i + 1] ?? at + stepMs)) / 2)
  const scaleOf = (width: number) => ({ fromMs, toMs: endMs, widthPx: width - LEFT - RIGHT })
  const timeAt = ({ px, width }: Pointer) => toMs(scaleOf(width), px - LEFT)
  const index = pointer === undefined ? -1 : nearestIndex(middles, timeAt(pointer))
  const tipPx = pointer === undefined ? 0 : LEFT + toPx(scaleOf(pointer.width), middles[index] ?? fromMs) + 10
  const isLast = (i: number) => isOpen && i === atMs.length - 1
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
        height={HEIGHT}
        usualWidth={[480, 240]}
        x={[fromMs, endMs]}
        y={[low, high]}
        inset={[TOP, RIGHT, BOTTOM, LEFT]}
      >
        <ValueAxis at={ticksOf(low, high)} format={formatValue} />
        {isByDay ? <DayAxis atMs={atMs} middles={middles} /> : <TimeAxis below={20} />}
        {lines.map(({ label, values }, i) =>
          isBars ? (
            <g key={label} class={barLook}>
              <Bars
                class=""
                at={atMs}
                step={stepMs}
                values={values.map((value, i) => (isLast(i) ? 0 : (value ?? 0)))}
              />
              <Bars
                class="open"
                at={atMs}
                step={stepMs}
                values={values.map((value, i) => (isLast(i) ? (value ?? 0) : 0))}
              />
            </g>
          ) : (
            <Series key={label} {...{ atMs: middles, values, isOpen, place: i + 1 }} />
          ),
        )}
        {index >= 0 && <Cursor ms={middles[index]!} />}
        {drag !== undefined && pointer !== undefined && <Selection px={[drag, pointer.px]} />}
      </Plot>
      {pointer !== undefined && index >= 0 && (
        <div class="tip" aria-hidden="true" style={{ left: `${Math.min(tipPx, pointer.width - TIP_PX)}px`, top: '0' }}>
          <span class="muted">{nameIn(data)(index, endMs)}</span>
          {lines.map(({ label, values }) => (
            <span key={label}>
              {lines.length > 1 && `${label}: `}
              <strong>{values[index] == null ? '–' : formatExact(values[index]!)}</strong>
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

/** The names of days, each under the middle of its bucket, where there is room. */
function DayAxis({ atMs, middles }: { atMs: readonly number[]; middles: readonly number[] }) {
  const { x, box } = useScales()
  const each = Math.max(1, Math.ceil((DAY_LABEL_PX * atMs.length) / Math.max(1, box.right - box.left)))
  return atMs.map(
    (at, i) =>
      i % each === 0 && (
        <text key={at} class="chart-text" x={x(middles[i]!)} y={box.bottom + 20} text-anchor="middle">
          {formatDay(at)}
        </text>
      ),
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
  readonly isOpen: boolean
  readonly place: number
}

/** Gaps are bridged; each value is a point where there is room for it. The way to an open bucket is dashed. */
function Series({ atMs, values, isOpen, place }: SeriesProps) {
  const { x, y } = useScales()
  const points = values.flatMap((value, i) => (value === null ? [] : [[x(atMs[i]!), y(value)] as const]))
  const path = (some: typeof points) => `M${some.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L')}`
  const over = isOpen && values.at(-1) != null ? points.slice(0, -1) : points
  return (
    <g class="chart-series" style={{ '--tone': `var(--series-${place})` }}>
      {over.length > 0 && <path d={path(over)} />}
      {over.length > 0 && over.length < points.length && <path class="open" d={path(points.slice(-2))} />}
      {points.length <= DOTS_MAX &&
        points.map(([px, py], i) => (
          <circle key={px} class={i < over.length ? undefined : 'open'} cx={px} cy={py} r={2.5} />
        ))}
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
