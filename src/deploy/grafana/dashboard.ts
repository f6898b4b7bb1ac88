// A dashboard as Grafana's JSON has it: the parts all of them share, and their variables.
import type { Panel } from './panels.ts'
import type { PointQueries, VariableQuery } from './point-queries.ts'
import { ALL, type Target, type Variable } from './target.ts'

/** The version of the JSON model, not of Grafana. */
const SCHEMA_VERSION = 41

interface PlacedPanel extends Panel {
  readonly id: number
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/** Panels side by side, 24 wide; by default each with the same share of the width. */
export interface PanelRow {
  readonly height: number
  readonly panels: readonly Panel[]
  readonly widths?: readonly number[]
}

export const row = (height: number, ...panels: readonly Panel[]): PanelRow => ({ height, panels })

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly PlacedPanel[]
  readonly [property: string]: unknown
}

export interface DashboardParts {
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly variables: readonly object[]
  readonly rows: readonly PanelRow[]
  /** A table of time, title, text and tags, drawn as marks over every chart. */
  readonly exceptions?: Target
}

export function createDashboard({ uid, title, description, variables, rows, exceptions }: DashboardParts): Dashboard {
  return {
    uid,
    title,
    description,
    tags: ['stint'],
    editable: true,
    graphTooltip: 1,
    schemaVersion: SCHEMA_VERSION,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timepicker: {},
    timezone: 'browser',
    links: [
      {
        asDropdown: false,
        icon: 'external link',
        includeVars: true,
        keepTime: true,
        tags: ['stint'],
        targetBlank: false,
        title: 'Stint',
        tooltip: '',
        type: 'dashboards',
        url: '',
      },
    ],
    annotations: { list: [ALERT_STATES, ...(exceptions === undefined ? [] : [exceptionMarks(exceptions)])] },
    templating: { list: variables },
    panels: placePanels(rows),
  }
}

/** A target that names another panel gets its id. */
function placePanels(rows: readonly PanelRow[]): PlacedPanel[] {
  const placed: PlacedPanel[] = []
  let y = 0
  for (const { height, panels, widths } of rows) {
    let x = 0
    for (const [i, panel] of panels.entries()) {
      const w = widths?.[i] ?? 24 / panels.length
      placed.push({ id: placed.length + 1, gridPos: { x, y, w, h: height }, ...panel })
      x += w
    }
    y += height
  }
  const idOf = new Map(placed.map(({ title, id }) => [title, id]))
  return placed.map((panel) => ({
    ...panel,
    targets: panel.targets.map(({ panel: source, ...target }) =>
      source === undefined ? target : { ...target, panelId: idOf.get(source as string)! },
    ),
  }))
}

/** Grafana's own annotations: the states of the alert rules that name a panel. */
const ALERT_STATES = {
  builtIn: 1,
  datasource: { type: 'grafana', uid: '-- Grafana --' },
  enable: true,
  hide: true,
  iconColor: 'rgba(0, 211, 255, 1)',
  name: 'Annotations & Alerts',
  type: 'dashboard',
}

const exceptionMarks = ({ datasource, ...query }: Target) => ({
  datasource,
  enable: true,
  hide: false,
  iconColor: 'red',
  name: 'Exceptions',
  target: { refId: 'Anno', ...query },
})

/** One value, several or all; a meta or an account is one or all, and a metric repeats a panel. */
export function selectVariable(queries: PointQueries, name: Variable, start: 'all' | 'first'): object {
  return {
    ...queryVariable(queries.variable(name)),
    multi: name === 'process' || name === 'metric',
    includeAll: true,
    ...(name !== 'metric' && { allValue: ALL }),
    ...(start === 'all' && { current: { selected: true, text: 'All', value: '$__all' } }),
  }
}

/** A variable that the queries need and nobody chooses. */
export const hiddenVariable = (of: VariableQuery): object => ({ ...queryVariable(of), hide: 2, skipUrlSync: true })

const queryVariable = ({ name, datasource, query }: VariableQuery) => ({
  type: 'query',
  name,
  label: name,
  datasource,
  query,
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  refresh: 2, // when the range changes, which includes every refresh
  regex: '',
  skipUrlSync: false,
  sort: 1,
})
