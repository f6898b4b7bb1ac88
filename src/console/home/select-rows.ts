// Which rows of Home are shown, and in which order: read from the address. Without any choice the server's order holds:
// trouble first, then the most recent.
import type { OverviewProcess } from '../../wire/overview.ts'
import { PROCESS_STATES, type ProcessState } from '../../wire/process-state.ts'

/** Processes from which on search, states and order are offered. */
export const FILTERS_FROM = 12

export const SORTS = ['trouble', 'name', 'recent', 'slow', 'failures'] as const
export type Sort = (typeof SORTS)[number]

export interface HomeView {
  /** In lower case. */
  readonly search: string
  readonly sort: Sort
  readonly state: ProcessState | undefined
  /** The first page of rows is not enough. */
  readonly needsAll: boolean
}

export function readHomeView(params: URLSearchParams): HomeView {
  const search = (params.get('q') ?? '').trim().toLocaleLowerCase()
  const sort = SORTS.find((known) => known === params.get('sort')) ?? 'trouble'
  const state = PROCESS_STATES.find((known) => known === params.get('state'))
  const needsAll = search !== '' || sort !== 'trouble' || state !== undefined || params.has('all')
  return { search, sort, state, needsAll }
}

export function selectRows(rows: readonly OverviewProcess[], { search, sort, state }: HomeView): OverviewProcess[] {
  const matches = ({ process, metas }: OverviewProcess) =>
    [process, ...metas].some((text) => text?.toLocaleLowerCase().includes(search))
  const found = rows.filter((row) => (search === '' || matches(row)) && (state === undefined || row.state === state))
  return sort === 'trouble' ? found : found.sort(COMPARE[sort])
}

/** How many times as long as in the 7 days before its completed runs of the day took; 0 when unknown. */
const slownessOf = ({ median_24h_ms: today, median_7d_ms: before }: OverviewProcess): number =>
  today === null || !before ? 0 : today / before

const COMPARE: Readonly<Record<Exclude<Sort, 'trouble'>, (a: OverviewProcess, b: OverviewProcess) => number>> = {
  name: (a, b) => a.process.localeCompare(b.process),
  recent: (a, b) => Date.parse(b.last_seen_at ?? '1970') - Date.parse(a.last_seen_at ?? '1970'),
  slow: (a, b) => slownessOf(b) - slownessOf(a),
  failures: (a, b) => b.last_24h.failed - a.last_24h.failed,
}
