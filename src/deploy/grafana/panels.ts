// Panels in Grafana's JSON (test/deploy/schema.test.ts checks them against @grafana/schema).
import { RUN_CODES } from './point-queries.ts'
import type { DataSource, Target } from './target.ts'

/** The unit in which a field is shown; the two of time take ms since the epoch and show it in the browser's zone. */
export type Unit =
  | 'ms'
  | 's'
  | 'short'
  | 'bytes'
  | 'ops'
  | 'percent'
  | 'percentunit'
  | 'none'
  | 'dateTimeAsLocal'
  | 'dateTimeFromNow'

export interface Panel {
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource: DataSource
  readonly targets: readonly (Target & { readonly refId: string })[]
  readonly fieldConfig: { readonly defaults: object; readonly overrides: readonly object[] }
  readonly options: object
  readonly maxDataPoints?: number
  readonly transformations: readonly object[]
  /** A variable: one panel per chosen value. */
  readonly repeat?: string
  readonly repeatDirection?: 'h'
  readonly maxPerRow?: number
}

/** Names a series by the values of these labels. */
export const byLabels = (...labels: string[]): string => labels.map((label) => `\${__field.labels.${label}}`).join(' ')

/** Intervals of a chart of counts; the store counts each per series. */
const BARS = 100

const MIXED: DataSource = { type: 'datasource', uid: '-- Mixed --' }

export interface Head {
  readonly title: string
  readonly description?: string
  readonly targets: readonly Target[]
  /** The largest number of intervals, where each costs the store. */
  readonly intervals?: number
}

export function head({ title, description, targets, intervals }: Head) {
  const [first] = targets
  const isMixed = targets.some(({ datasource }) => datasource.uid !== first!.datasource.uid)
  return {
    title,
    ...(description !== undefined && { description }),
    datasource: isMixed ? MIXED : first!.datasource,
    targets: targets.map(({ only: _, prefix: __, ...target }, i) => ({
      refId: String.fromCharCode(65 + i),
      ...target,
    })),
    ...(intervals !== undefined && { maxDataPoints: intervals }),
    transformations: targets.flatMap(({ prefix, only = prefix && `${prefix}.*` }) =>
      only === undefined ? [] : [{ id: 'filterFieldsByName', options: { include: { pattern: `^(${only})$` } } }],
    ),
  }
}

const LEGEND = { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true }
const TOOLTIP = { mode: 'multi', sort: 'desc' }

export function timeSeries(
  of: Head & {
    readonly unit: Unit
    readonly draw: 'lines' | 'bars' | 'stacked bars'
    /** The name of a series, if other than its field's. */
    readonly displayName?: string
    /** For values over many powers of ten. */
    readonly logarithmic?: boolean
    /** Draws everything in red: failures. */
    readonly red?: boolean
    /** Units by a regular expression on the name of a series. */
    readonly units?: Readonly<Record<string, Unit>>
  },
): Panel {
  const { unit, draw, displayName, logarithmic = false } = of
  return {
    type: 'timeseries',
    ...head(of),
    fieldConfig: {
      defaults: {
        unit,
        ...(displayName !== undefined && { displayName }),
        color: of.red === true ? { mode: 'fixed', fixedColor: 'red' } : { mode: 'palette-classic-by-name' },
        custom: {
          drawStyle: draw === 'lines' ? 'line' : 'bars',
          fillOpacity: draw === 'lines' ? 5 : 60,
          lineWidth: 1,
          showPoints: draw === 'lines' ? 'auto' : 'never',
          stacking: { group: 'A', mode: draw === 'stacked bars' ? 'normal' : 'none' },
          ...(logarithmic && { scaleDistribution: { type: 'log', log: 10 } }),
        },
      },
      overrides: Object.entries(of.units ?? {}).map(([name, unit]) => ({
        matcher: { id: 'byRegexp', options: name },
        properties: [{ id: 'unit', value: unit }],
      })),
    },
    options: { legend: LEGEND, tooltip: TOOLTIP },
  }
}

/** Counts over time; with `label` stacked, a series per value of it. */
export const bars = (
  title: string,
  target: Target,
  { label, ...more }: { label?: string; description?: string; red?: boolean } = {},
): Panel =>
  timeSeries({
    title,
    targets: [target],
    unit: 'short',
    draw: label === undefined ? 'bars' : 'stacked bars',
    intervals: BARS,
    ...(label !== undefined && { displayName: byLabels(label) }),
    ...more,
  })

export interface Shade {
  readonly value: number
  readonly text: string
  readonly color: string
}

/** A row per series; `shades` are the meanings of the values. A value holds until the next one of its series. */
export function stateTimeline(of: Head & { readonly shades: readonly Shade[]; readonly displayName: string }): Panel {
  return {
    type: 'state-timeline',
    ...head(of),
    fieldConfig: {
      defaults: {
        displayName: of.displayName,
        custom: { fillOpacity: 80, lineWidth: 0, spanNulls: true },
        mappings: valueMappings(of.shades),
      },
      overrides: [],
    },
    options: {
      alignValue: 'left',
      legend: LEGEND,
      mergeValues: true,
      rowHeight: 0.8,
      showValue: 'never',
      tooltip: { mode: 'single', sort: 'none' },
    },
  }
}

export const valueMappings = (shades: readonly Shade[]): object[] => [
  {
    type: 'value',
    options: Object.fromEntries(shades.map(({ value, text, color }, index) => [value, { text, color, index }])),
  },
]

/** Green, and red from a value on. */
export const thresholds = (redFrom: number) => ({
  mode: 'absolute',
  steps: [
    { color: 'green', value: null },
    { color: 'red', value: redFrom },
  ],
})

/** Bars over the field `x`. */
export function barChart(of: Head & { readonly x: string; readonly xUnit: Unit }): Panel {
  return {
    type: 'barchart',
    ...head(of),
    fieldConfig: {
      defaults: { unit: 'short', custom: { fillOpacity: 80, lineWidth: 0 } },
      overrides: [{ matcher: { id: 'byName', options: of.x }, properties: [{ id: 'unit', value: of.xUnit }] }],
    },
    options: {
      barRadius: 0,
      barWidth: 0.97,
      fullHighlight: false,
      groupWidth: 0.7,
      legend: { ...LEGEND, showLegend: false },
      orientation: 'auto',
      showValue: 'auto',
      stacking: 'none',
      tooltip: { mode: 'single', sort: 'none' },
      xField: of.x,
      xTickLabelMaxLength: 0,
      xTickLabelRotation: 0,
      xTickLabelSpacing: 100,
    },
  }
}

/** Counts in buckets of the store: a series per upper bound, its name. The first two times give the cell's width. */
export function heatmap(of: Head & { readonly unit: Unit; readonly displayName: string }): Panel {
  return {
    type: 'heatmap',
    ...head(of),
    fieldConfig: {
      defaults: { displayName: of.displayName, custom: { scaleDistribution: { type: 'linear' } } },
      overrides: [],
    },
    options: {
      calculate: false,
      cellGap: 1,
      color: {
        exponent: 0.5,
        fill: 'dark-orange',
        mode: 'scheme',
        reverse: false,
        scale: 'exponential',
        scheme: 'Oranges',
        steps: 64,
      },
      exemplars: { color: 'rgba(255,0,255,0.7)' },
      filterValues: { le: 1e-9 },
      legend: { show: true },
      rowsFrame: { layout: 'le' },
      showValue: 'never',
      tooltip: { mode: 'single', showColorScale: true, yHistogram: false },
      yAxis: { axisPlacement: 'left', reverse: false, unit: of.unit },
    },
  }
}

/** One large number per row, named by the text column beside it; or the newest value of each series. */
export function stat(
  of: Head & {
    readonly unit: Unit
    readonly rows?: boolean
    readonly warnFrom?: number
  },
): Panel {
  return {
    type: 'stat',
    ...head(of),
    fieldConfig: {
      defaults: {
        unit: of.unit,
        color: { mode: of.warnFrom === undefined ? 'palette-classic-by-name' : 'thresholds' },
        ...(of.warnFrom !== undefined && { thresholds: thresholds(of.warnFrom) }),
      },
      overrides: [],
    },
    options: {
      colorMode: 'value',
      graphMode: of.rows === true ? 'none' : 'area',
      justifyMode: 'auto',
      orientation: 'auto',
      percentChangeColorMode: 'standard',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: of.rows === true },
      showPercentChange: false,
      textMode: 'value_and_name',
      wideLayout: true,
    },
  }
}

// The colours of the states of a run, the same in every panel.
export const RUN_SHADES: readonly Shade[] = [
  { value: 0, text: ' ', color: 'transparent' },
  { value: RUN_CODES.completed, text: 'completed', color: 'green' },
  { value: RUN_CODES.running, text: 'running', color: 'blue' },
  { value: RUN_CODES.abandoned, text: 'abandoned', color: 'orange' },
  { value: RUN_CODES.orphan, text: 'orphan', color: 'purple' },
  { value: RUN_CODES.failed, text: 'failed', color: 'red' },
]
