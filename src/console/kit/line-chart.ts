// Line and dot charts over time, drawn by uPlot on a canvas. Each comes with a sentence that describes it and a table
// of its data.
import uPlot from 'uplot'
import { chartTable } from './data-table.ts'
import { fill, h, onSchemeChange } from './dom.ts'
import { formatClock, formatDay, formatMoment, formatShortClock, parseTime, timeZone } from './format-time.ts'

export interface Line {
  readonly label: string
  /** A value per time in `ChartData.atMs`; null without one. */
  readonly values: readonly (number | null)[]
  /** Default: a solid line. */
  readonly look?: 'dots' | 'dashes'
  /** A custom property of the style sheet; default: the series colour of its position. */
  readonly colour?: string
}

export interface ChartData {
  /** Ascending. */
  readonly atMs: readonly number[]
  readonly lines: readonly Line[]
  readonly fromMs: number
  readonly toMs: number
  /** Usual values, drawn as a band behind the lines. */
  readonly band?: { readonly low: number; readonly high: number }
}

export interface Steps {
  /** Possible steps of a linear axis, ascending. */
  readonly even: readonly number[]
  /** The labels of a logarithmic axis. */
  readonly factors: readonly number[]
}

export interface LineChart {
  readonly element: HTMLElement
  show(data: ChartData, summary: string, nowMs: number): void
  close(): void
}

export interface LineChartOptions {
  readonly title: string
  formatValue(value: number): string
  /** Steps of the value axis; default: decimal. */
  readonly steps?: Steps
  /** Width of the value axis in px, for a chart of this width. */
  axisPx?(widthPx: number): number
  readonly crosshair?: Crosshair
  /** Called when a range is selected by dragging. */
  zoom(fromMs: number, toMs: number): void
  /** Called for a click near a dot; `line` and `index` are positions in the data. */
  pick?(line: number, index: number): void
}

const HEIGHT_PX = 240
const AXIS_PX = 76
const REACH_PX = 14
/** Round durations in ms. */
export const DURATION_STEPS: Steps = {
  even: [
    ...[0.001, 0.01, 0.1, 1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
    ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1000),
  ],
  factors: [0.01, 0.1, 1, 10, 100, 1e3, 10e3, 60e3, 600e3, 3600e3, 36000e3, 360000e3],
}
const TENS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
/** Whole numbers, for counts. */
export const COUNT_STEPS: Steps = { even: TENS.flatMap((n) => [n, 2 * n, 5 * n]), factors: TENS }
const LINES_MAX = 8

export function createLineChart(options: LineChartOptions): LineChart {
  const { title, formatValue, crosshair, pick } = options
  const plot = h('div.plot', { 'aria-hidden': 'true' })
  const caption = h('figcaption.muted')
  const table = h('div.table-scroll', { tabindex: 0, role: 'region', 'aria-label': `${title} as a table` })
  const details = h('details.as-table', h('summary', 'Show as a table'), table)
  const element = h('figure.chart', h('h2', title), caption, plot, details)
  let chart: uPlot | undefined
  let shape = ''
  let shown: { data: ChartData; nowMs: number } | undefined

  function draw(): void {
    if (shown === undefined || plot.clientWidth === 0) return
    const { data } = shown
    const rows = [data.atMs.map((ms) => ms / 1000), ...data.lines.map(({ values }) => [...values])] as uPlot.AlignedData
    const nextShape = JSON.stringify([isWide(data), data.band, data.lines.map(({ label, look }) => [label, look])])
    if (chart === undefined || nextShape !== shape) {
      chart?.destroy()
      chart = new uPlot(optionsOf(data, plot, { ...options, ...(pick !== undefined && { pick }), moved }), rows, plot)
      shape = nextShape
    } else chart.setData(rows, false)
    chart.setScale('x', { min: data.fromMs / 1000, max: data.toMs / 1000 })
  }
  let isLed = false
  /** Reports the pointer's position unless it was set from another chart. */
  function moved(ms: number | undefined): void {
    if (!isLed) crosshair?.move(ms, element)
  }
  crosshair?.follow(element, (ms) => {
    if (chart === undefined) return
    isLed = true
    const left = ms === undefined ? -10 : chart.valToPos(ms / 1000, 'x')
    chart.setCursor({ left, top: left < 0 ? -10 : 10 })
    isLed = false
  })
  function renew(): void {
    shape = ''
    draw()
  }
  function fillTable(): void {
    if (shown === undefined || !details.open) return
    fill(table, chartTable(shown.data, title, formatValue, shown.nowMs))
  }
  details.addEventListener('toggle', fillTable)
  const resizing = new ResizeObserver(() => {
    if (chart === undefined) draw()
    else if (plot.clientWidth > 0) chart.setSize({ width: plot.clientWidth, height: HEIGHT_PX })
  })
  resizing.observe(plot)
  const endScheme = onSchemeChange(renew)

  return {
    element,
    show(data, summary, nowMs) {
      shown = { data: { ...data, lines: data.lines.slice(0, LINES_MAX) }, nowMs }
      caption.textContent = summary
      plot.hidden = data.lines.every(({ values }) => values.every((value) => value === null))
      details.hidden = plot.hidden
      draw()
      fillTable()
    },
    close() {
      resizing.disconnect()
      endScheme()
      chart?.destroy()
    },
  }
}

function optionsOf(
  data: ChartData,
  place: HTMLElement,
  {
    formatValue,
    steps,
    zoom,
    pick,
    axisPx = () => AXIS_PX,
    moved,
  }: LineChartOptions & { moved(ms: number | undefined): void },
): uPlot.Options {
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line-soft'), width: 1 },
    ticks: { show: false },
  }
  function pickAt(chart: uPlot, x: number, y: number): void {
    if (pick === undefined) return
    let best = { px: REACH_PX, line: -1, index: -1 }
    chart.data.slice(1).forEach((values, line) => {
      values.forEach((value, index) => {
        if (value === null || value === undefined) return
        const px = Math.hypot(chart.valToPos(chart.data[0][index]!, 'x') - x, chart.valToPos(value, 'y') - y)
        if (px < best.px) best = { px, line, index }
      })
    })
    if (best.line >= 0) pick(best.line, best.index)
  }
  return {
    width: place.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 0, 0, 0],
    ...(timeZone() === 'UTC' && { tzDate: (s) => uPlot.tzDate(new Date(s * 1000), 'Etc/UTC') }),
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 }, y: false },
    scales: {
      x: { time: true },
      y: isWide(data)
        ? { distr: 3, range: (_, min, max) => [min / 1.6, max * 1.6] }
        : { range: (_, min, max) => evenRange(min, max) },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 28,
        values: (_, splits, __, ___, stepS) => splits.map((s) => timeLabel(s * 1000, stepS)),
      },
      {
        ...axis,
        size: axisPx(place.clientWidth),
        ...(steps &&
          (isWide(data)
            ? {
                splits: (_, __, min, max) => steps.factors.filter((value) => value >= min && value <= max),
                filter: (_, splits) => splits,
              }
            : { incrs: [...steps.even] })),
        values: (_, splits) => splits.map((value) => (value === null ? '' : formatValue(value))),
      },
    ],
    series: [
      { label: 'Time', value: (_, s) => (s === null ? '–' : formatMoment(s * 1000, data.toMs)) },
      ...data.lines.map(({ label, look, colour: own }, i) => ({
        label,
        stroke: colour(own ?? `--series-${i + 1}`),
        ...(look === 'dots' && { paths: () => null }),
        ...(look === 'dashes' && { dash: [6, 4] }),
        width: 2,
        points:
          look === 'dots'
            ? { show: true, size: 9, fill: colour(own ?? `--series-${i + 1}`) }
            : { show: look === undefined, size: 5 },
        spanGaps: true,
        value: (_: uPlot, value: number | null) => (value === null ? '–' : formatValue(value)),
      })),
    ],
    hooks: {
      drawClear: [
        (chart) => {
          if (data.band === undefined) return
          const [low, high] = [chart.valToPos(data.band.low, 'y', true), chart.valToPos(data.band.high, 'y', true)]
          chart.ctx.fillStyle = colour('--band')
          chart.ctx.fillRect(chart.bbox.left, high, chart.bbox.width, Math.max(2, low - high))
        },
      ],
      setCursor: [
        (chart) => {
          const { left = -1 } = chart.cursor
          moved(left < 0 ? undefined : chart.posToVal(left, 'x') * 1000)
        },
      ],
      ready: [
        (chart) => chart.over.addEventListener('click', ({ offsetX, offsetY }) => pickAt(chart, offsetX, offsetY)),
      ],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select
          if (width < 6) return
          const at = (px: number) => chart.posToVal(px, 'x') * 1000
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          zoom(at(left), at(left + width))
        },
      ],
    },
  }
}

/** Range of a linear axis: zero and all values, plus some room. uPlot passes null for both without values. */
export function evenRange(min: number | null, max: number | null): [number, number] {
  const low = Math.min(min ?? 0, 0) * 1.08
  const high = Math.max(max ?? 0, 0) * 1.08
  return low === high ? [0, 1] : [low, high]
}

const WIDE = 30

/** Whether the axis must be logarithmic: on a linear one the small values would be indistinguishable from zero. */
function isWide({ lines }: ChartData): boolean {
  const values = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  return least > 0 && values.reduce((a, b) => Math.max(a, b), 0) / least > WIDE
}

function timeLabel(ms: number, stepS: number): string {
  if (stepS >= 86_400) return formatDay(ms)
  return stepS >= 60 ? formatShortClock(ms) : formatClock(ms)
}

// Shows the time under the pointer on all charts of the same range.
export interface Crosshair {
  /** undefined: the pointer has left. */
  move(ms: number | undefined, from: object): void
  /** Calls `act` for every move that does not come from `me`. */
  follow(me: object, act: (ms: number | undefined) => void): void
}

export function createCrosshair(): Crosshair {
  const followers = new Map<object, (ms: number | undefined) => void>()
  return {
    move(ms, from) {
      for (const [follower, act] of followers) if (follower !== from) act(ms)
    },
    follow: (me, act) => void followers.set(me, act),
  }
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
