// A picture over two scales. The frame places them; its parts draw with `useScales`. Without a width of its own it is
// as wide as its place.
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { labelOf, placeTicks } from './scale.ts'
import { useWidth } from './use-width.ts'

type Range = readonly [low: number, high: number]

interface Scales {
  /** Within the picture. */
  readonly x: (value: number) => number
  readonly y: (value: number) => number
  readonly times: Range
  readonly box: { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }
}

const ScalesContext = createContext<Scales>(undefined as never)
export const useScales = (): Scales => useContext(ScalesContext)

/** Halved: the difference of the greatest numbers is infinite. */
const shareOf = (value: number, [low, high]: Range): number => {
  const within = Math.max(low, Math.min(high, value))
  return high - low < 1 ? (within - low) / (high - low || 1) : (within / 2 - low / 2) / (high / 2 - low / 2)
}

interface PlotProps {
  /** For screen readers; absent: a text beside it says the same. */
  readonly label?: string
  /** `group`: there are links in it. */
  readonly role?: 'img' | 'group'
  readonly class?: string
  /** In units of its own, stretched to its place. */
  readonly width?: number
  /** Without `width` the plot is as wide as its place: its widths before the first layout, and at least. */
  readonly usualWidth?: Range
  readonly height: number
  readonly x: Range
  readonly y: Range
  /** Top, right, bottom, left. */
  readonly inset?: readonly [number, number, number, number]
  readonly children: ComponentChildren
}

export function Plot({
  label,
  role = 'img',
  class: look,
  width,
  usualWidth = [720, 280],
  height,
  x,
  y,
  ...rest
}: PlotProps) {
  const [place, measured] = useWidth(...usualWidth)
  const wide = width ?? measured
  const [top, right, bottom, left] = rest.inset ?? [2, 0, 1, 0]
  const box = { left, right: wide - right, top, bottom: height - bottom }
  const scales = {
    box,
    times: x,
    x: (value: number) => left + shareOf(value, x) * (box.right - left),
    y: (value: number) => box.bottom - shareOf(value, y) * (box.bottom - top),
  }
  const size = width === undefined ? { width: wide, height } : { preserveAspectRatio: 'none' }
  const named = label === undefined ? { 'aria-hidden': true } : { role, 'aria-label': label }
  return (
    <div class="plot" ref={place}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or is hidden */}
      <svg class={look} viewBox={`0 0 ${wide} ${height}`} {...size} {...named}>
        <ScalesContext.Provider value={scales}>{rest.children}</ScalesContext.Provider>
      </svg>
    </div>
  )
}

export function ValueAxis({ at, format }: { at: readonly number[]; format(value: number): string }) {
  const { y, box } = useScales()
  return at.map((value) => (
    <g key={value}>
      <path class="chart-grid" d={`M${box.left} ${Math.round(y(value))}.5H${box.right}`} />
      <text class="chart-text" x={box.left - 8} y={y(value) + 4} text-anchor="end">
        {format(value)}
      </text>
    </g>
  ))
}

/** Its labels are `below` px under the values. */
export function TimeAxis({ below, hasGrid = false }: { below: number; hasGrid?: boolean }) {
  const { x, times, box } = useScales()
  const { atMs, stepMs } = placeTicks({ fromMs: times[0], toMs: times[1], widthPx: box.right - box.left })
  return atMs
    .map((ms) => ({ ms, px: x(ms) }))
    .filter(({ px }) => px > box.left + 20 && px < box.right - 20)
    .map(({ ms, px }) => (
      <g key={ms}>
        {hasGrid && <path class="chart-grid" d={`M${px} ${box.top}V${box.bottom}`} />}
        <text class="chart-text" x={px} y={box.bottom + below} text-anchor="middle">
          {labelOf(ms, stepMs)}
        </text>
      </g>
    ))
}

/** Without a value there is a gap. `upper`: of the shade. */
export type Point = readonly [x: number, y: number | null, upper?: number]

/** A line with gaps, shaded up to `upper`; a lone point is a dot. */
export function Line({ points }: { points: readonly Point[] }) {
  const { x, y } = useScales()
  const path = (some: readonly (readonly [number, number])[]) =>
    some.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('L')
  return splitAtGaps(points).map((part) => {
    const [[at, value]] = part as [Whole]
    if (part.length === 1) return <circle key={at} class="chart-dot" cx={x(at)} cy={y(value)} r={2.5} />
    const line = part.map(([at, value]) => [at, value] as const)
    const shade = part.flatMap(([at, , upper]) => (upper === undefined ? [] : [[at, upper] as const]))
    return (
      <g key={at}>
        {shade.length > 0 && <path class="chart-area" d={`M${path(shade)}L${path(line.toReversed())}z`} />}
        <path class="chart-line" d={`M${path(line)}`} />
      </g>
    )
  })
}

type Whole = readonly [x: number, y: number, upper?: number]

function splitAtGaps(points: readonly Point[]): Whole[][] {
  const parts: Whole[][] = [[]]
  for (const [x, y, upper] of points) {
    if (y !== null) parts.at(-1)!.push(upper === undefined ? [x, y] : [x, y, upper])
    else if (parts.at(-1)!.length > 0) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

interface BarsProps {
  /** Where each begins. */
  readonly at: readonly number[]
  readonly step: number
  readonly values: readonly number[]
  readonly class?: string
}

/** Bars that stand on zero, or on the axis above it, `LEAST_PX` high at least; zero has none. */
export function Bars({ at, step, values, class: look = 'chart-failed' }: BarsProps) {
  const { x, y, box } = useScales()
  const base = Math.min(box.bottom, y(0))
  const bars = values.map((value, i) => {
    const [from, to] = [x(at[i]!), x(at[i]! + step)]
    if (value === 0 || to <= from) return ''
    const end = value > 0 ? Math.min(base - LEAST_PX, y(value)) : Math.max(base + LEAST_PX, y(value))
    return `M${from.toFixed(1)} ${base}V${end.toFixed(1)}h${Math.max(1, to - from - 1).toFixed(1)}V${base}z`
  })
  return <path class={look} d={bars.join('')} />
}

const LEAST_PX = 2

/** Counts over time, as wide as a word. */
export const Sparkline = ({ counts, label }: { counts: readonly number[]; label?: string }) => (
  <Plot
    class="sparkline"
    {...(label !== undefined && { label })}
    width={120}
    height={28}
    x={[0, counts.length]}
    y={[0, Math.max(1, ...counts)]}
  >
    <path class="chart-grid" d="M0 27.5H120" />
    <Bars class="chart-count" at={[...counts.keys()]} step={1} values={counts} />
  </Plot>
)
