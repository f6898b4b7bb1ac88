// Panels of a dashboard as Grafana's JSON has them (checked against @grafana/schema by test/deploy/schema.test.ts), and their places: rows of panels, 24 wide.
import type { DataSource, Target } from './target.ts'

/** What a field is shown as. */
export type Unit = 'ms' | 's' | 'short' | 'bytes' | 'ops' | 'percentunit' | 'none'

export interface Panel {
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource: DataSource
  readonly targets: readonly (Target & { readonly refId: string })[]
  readonly fieldConfig: { readonly defaults: object; readonly overrides: readonly object[] }
  readonly options: object
  readonly maxDataPoints?: number
  readonly transformations?: readonly object[]
}

export interface PlacedPanel extends Panel {
  readonly id: number
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/** Panels side by side, each with a share of the width. */
export interface PanelRow {
  readonly height: number
  readonly panels: readonly (readonly [panel: Panel, width: number])[]
}

/** A series' name: its values of these labels. */
export const byLabels = (...labels: string[]): string => labels.map((label) => `\${__field.labels.${label}}`).join(' ')

/** Of a chart of counts; the store counts each for each series. */
export const BARS = 100

const MIXED: DataSource = { type: 'datasource', uid: '-- Mixed --' }

export function placePanels(rows: readonly PanelRow[]): PlacedPanel[] {
  const placed: PlacedPanel[] = []
  let y = 0
  for (const { height, panels } of rows) {
    let x = 0
    for (const [panel, width] of panels) {
      placed.push({ id: placed.length + 1, gridPos: { x, y, w: width, h: height }, ...panel })
      x += width
    }
    y += height
  }
  return placed
}

interface Head {
  readonly title: string
  readonly description?: string
  readonly targets: readonly Target[]
}

function head({ title, description, targets }: Head) {
  const [first] = targets
  const isMixed = targets.some(({ datasource }) => datasource.uid !== first!.datasource.uid)
  return {
    title,
    ...(description !== undefined && { description }),
    datasource: isMixed ? MIXED : first!.datasource,
    targets: targets.map((target, i) => ({ refId: String.fromCharCode(65 + i), ...target })),
  }
}

const LEGEND = { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true }
const TOOLTIP = { mode: 'multi', sort: 'desc' }

export function timeSeries(
  of: Head & {
    readonly unit: Unit
    readonly draw: 'lines' | 'bars' | 'stacked bars'
    /** How a series is called, where its field's name will not do. */
    readonly displayName?: string
    /** Draws values over many powers of ten. */
    readonly logarithmic?: boolean
    /** At most so many intervals, where the store pays for each. */
    readonly columns?: number
  },
): Panel {
  const { unit, draw, displayName, logarithmic = false } = of
  return {
    type: 'timeseries',
    ...head(of),
    ...(of.columns !== undefined && { maxDataPoints: of.columns }),
    fieldConfig: {
      defaults: {
        unit,
        ...(displayName !== undefined && { displayName }),
        color: { mode: 'palette-classic-by-name' },
        custom: {
          drawStyle: draw === 'lines' ? 'line' : 'bars',
          fillOpacity: draw === 'lines' ? 5 : 60,
          lineWidth: 1,
          showPoints: draw === 'lines' ? 'auto' : 'never',
          stacking: { group: 'A', mode: draw === 'stacked bars' ? 'normal' : 'none' },
          ...(logarithmic && { scaleDistribution: { type: 'log', log: 10 } }),
        },
      },
      overrides: [],
    },
    options: { legend: LEGEND, tooltip: TOOLTIP },
  }
}

/** `columns` in their order; a unit where one has any. */
export function table(of: Head & { readonly columns: Readonly<Record<string, Unit | undefined>> }): Panel {
  const names = Object.keys(of.columns)
  return {
    type: 'table',
    ...head(of),
    fieldConfig: {
      defaults: { custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: true } },
      overrides: names.flatMap((name) => {
        const unit = of.columns[name]
        return unit === undefined
          ? []
          : [{ matcher: { id: 'byName', options: name }, properties: [{ id: 'unit', value: unit }] }]
      }),
    },
    options: { cellHeight: 'sm', frameIndex: 0, showHeader: true },
    transformations: [
      {
        id: 'organize',
        options: {
          excludeByName: {},
          indexByName: Object.fromEntries(names.map((name, i) => [name, i])),
          renameByName: {},
        },
      },
    ],
  }
}

export interface Shade {
  readonly value: number
  readonly text: string
  readonly color: string
}

/** A row a series; `shades` say what the values mean. A value holds until the next one of its series. */
export function stateTimeline(of: Head & { readonly shades: readonly Shade[]; readonly displayName: string }): Panel {
  return {
    type: 'state-timeline',
    ...head(of),
    fieldConfig: {
      defaults: {
        displayName: of.displayName,
        custom: { fillOpacity: 80, lineWidth: 0, spanNulls: true },
        mappings: [
          {
            type: 'value',
            options: Object.fromEntries(
              of.shades.map(({ value, text, color }, index) => [value, { text, color, index }]),
            ),
          },
        ],
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

/** Counts in buckets that the store has made: a series an upper bound, which is its name. */
export function heatmap(
  of: Head & { readonly unit: Unit; readonly displayName: string; readonly columns: number },
): Panel {
  return {
    type: 'heatmap',
    ...head(of),
    maxDataPoints: of.columns,
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

/** One large number a row, named by the text column beside it; or a series' newest value. */
export function stat(
  of: Head & {
    readonly unit: Unit
    readonly rows?: boolean
    readonly warnFrom?: number
    readonly displayName?: string
  },
): Panel {
  const steps = [
    { color: 'green', value: null },
    ...(of.warnFrom === undefined ? [] : [{ color: 'red', value: of.warnFrom }]),
  ]
  return {
    type: 'stat',
    ...head(of),
    fieldConfig: {
      defaults: {
        unit: of.unit,
        ...(of.displayName !== undefined && { displayName: of.displayName }),
        color: { mode: of.warnFrom === undefined ? 'palette-classic-by-name' : 'thresholds' },
        thresholds: { mode: 'absolute', steps },
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
