// Lines over time by uPlot, which draws on a canvas: beside it stands a sentence that says what it shows, and the same figures as a table.
import uPlot from 'uplot'
import { fill, h } from './dom.ts'
import { formatClock, formatDay, formatMoment, formatShortClock } from './format-time.ts'
import { onSchemeChange } from './scheme.ts'

export interface Line {
  readonly label: string
  /** One a moment of `ChartData.atMs`; null where there is nothing. */
  readonly values: readonly (number | null)[]
}

export interface ChartData {
  /** The moments, ascending. */
  readonly atMs: readonly number[]
  readonly lines: readonly Line[]
  readonly fromMs: number
  readonly toMs: number
}

export interface Steps {
  /** Between the labels of an even axis, ascending. */
  readonly even: readonly number[]
  /** The labels of an axis whose steps are factors. */
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
  /** Of the axis of values; decimal ones when absent. */
  readonly steps?: Steps
  /** Dragging across chooses a range. */
  zoom(fromMs: number, toMs: number): void
}

const HEIGHT_PX = 240
const SECOND_MS = 1000
/** Round lengths of time, for an axis of durations in ms. */
export const DURATION_STEPS: Steps = {
  even: [
    ...[0.001, 0.01, 0.1, 1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
    ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map(
      (s) => s * SECOND_MS,
    ),
  ],
  factors: [0.01, 0.1, 1, 10, 100, 1e3, 10e3, 60e3, 600e3, 3600e3, 36000e3, 360000e3],
}
const TENS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
/** Whole numbers, for an axis of what is counted. */
export const COUNT_STEPS: Steps = { even: TENS.flatMap((n) => [n, 2 * n, 5 * n]), factors: TENS }
const LINES_MAX = 8

export function createLineChart(options: LineChartOptions): LineChart {
  const { title, formatValue } = options
  const plot = h('div', { class: 'plot', 'aria-hidden': 'true' })
  const caption = h('figcaption', { class: 'muted' })
  const table = h('div', { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': `${title} as a table` })
  const details = h('details', { class: 'as-table' }, h('summary', {}, 'Show as a table'), table)
  const element = h('figure', { class: 'chart' }, h('h2', {}, title), caption, plot, details)
  let chart: uPlot | undefined
  let shape = ''
  let shown: { data: ChartData; nowMs: number } | undefined

  function draw(): void {
    if (shown === undefined || plot.clientWidth === 0) return
    const { data } = shown
    const rows = [data.atMs.map((ms) => ms / 1000), ...data.lines.map(({ values }) => [...values])] as uPlot.AlignedData
    const nextShape = JSON.stringify([isWide(data), data.lines.map(({ label }) => label)])
    if (chart === undefined || nextShape !== shape) {
      chart?.destroy()
      chart = new uPlot(optionsOf(data, plot, options), rows, plot)
      shape = nextShape
    } else chart.setData(rows, false)
    chart.setScale('x', { min: data.fromMs / 1000, max: data.toMs / 1000 })
  }
  function renew(): void {
    shape = ''
    draw()
  }
  function fillTable(): void {
    if (shown === undefined || !details.open) return
    fill(table, tableOf(shown.data, title, formatValue, shown.nowMs))
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

function optionsOf(data: ChartData, place: HTMLElement, { formatValue, steps, zoom }: LineChartOptions): uPlot.Options {
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line-soft'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: place.clientWidth,
    height: HEIGHT_PX,
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
        size: 76,
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
      ...data.lines.map(({ label }, i) => ({
        label,
        stroke: colour(`--series-${i + 1}`),
        width: 2,
        points: { show: true, size: 5 },
        spanGaps: true,
        value: (_: uPlot, value: number | null) => (value === null ? '–' : formatValue(value)),
      })),
    ],
    hooks: {
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

/** Of an even axis: nought and all values, with a little room beyond them. uPlot has no least and greatest where there are no values. */
export function evenRange(min: number | null, max: number | null): [number, number] {
  const low = Math.min(min ?? 0, 0) * 1.08
  const high = Math.max(max ?? 0, 0) * 1.08
  return low === high ? [0, 1] : [low, high]
}

const WIDE = 30

/** Values of such different sizes that the small ones would lie on the ground: then a step of the axis is a factor. */
function isWide({ lines }: ChartData): boolean {
  const values = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  return least > 0 && values.reduce((a, b) => Math.max(a, b), 0) / least > WIDE
}

function timeLabel(ms: number, stepS: number): string {
  if (stepS >= 86_400) return formatDay(ms)
  return stepS >= 60 ? formatShortClock(ms) : formatClock(ms)
}

function tableOf(
  { atMs, lines }: ChartData,
  title: string,
  formatValue: (value: number) => string,
  nowMs: number,
): HTMLElement {
  const head = lines.map(({ label }) =>
    h('th', { scope: 'col', class: 'number' }, h('span', { class: 'clip', title: label }, label)),
  )
  const rows = atMs.map((ms, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, formatMoment(ms, nowMs)),
      ...lines.map(({ values }) => {
        const value = values[i] ?? null
        return h('td', { class: 'number' }, value === null ? '–' : formatValue(value))
      }),
    ),
  )
  return h(
    'table',
    {},
    h('caption', { class: 'hidden' }, title),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Time'), ...head)),
    h('tbody', {}, ...rows),
  )
}
