// A dashboard as Grafana's JSON has it: what all of them have in common, and their variables.

import { type PanelRow, placePanels } from './panels.ts'
import type { PointQueries, VariableQuery } from './point-queries.ts'
import { ALL, type Variable } from './selection.ts'

/** Of the JSON model, not of Grafana itself. */
const SCHEMA_VERSION = 41

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly [property: string]: unknown
}

export interface DashboardParts {
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly variables: readonly object[]
  readonly rows: readonly PanelRow[]
}

export function createDashboard({ uid, title, description, variables, rows }: DashboardParts): Dashboard {
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
    annotations: { list: [] },
    templating: { list: variables },
    panels: placePanels(rows),
  }
}

/** One value at a time: the queries escape it as one. */
export function selectVariable(queries: PointQueries, name: Variable): object {
  return {
    ...queryVariable(queries.variable(name)),
    ...(name !== 'process' && {
      includeAll: true,
      allValue: ALL,
      current: { selected: true, text: 'All', value: '$__all' },
    }),
  }
}

/** One that the queries need and nobody chooses. */
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
  refresh: 2, // when the range changes, and that is also when the dashboard refreshes itself
  regex: '',
  skipUrlSync: false,
  sort: 1,
})
