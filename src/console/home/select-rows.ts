// Which rows of Home are shown, and in which order: read from the address, selected by the server.
import { OVERVIEW_SORTS, type OverviewSort, PROCESS_STATES, type ProcessState } from '../../wire/process-state.ts'

/** Processes from which on search, states and order are offered. */
export const FILTERS_FROM = 12

export interface HomeView {
  readonly search: string
  readonly sort: OverviewSort
  readonly state: ProcessState | undefined
  /** Other rows than those of the first page without a choice. */
  readonly isChosen: boolean
}

export function readHomeView(params: URLSearchParams): HomeView {
  const search = (params.get('q') ?? '').trim()
  const sort = OVERVIEW_SORTS.find((known) => known === params.get('sort')) ?? 'trouble'
  const state = PROCESS_STATES.find((known) => known === params.get('state'))
  const isChosen = search !== '' || sort !== 'trouble' || state !== undefined || params.has('all')
  return { search, sort, state, isChosen }
}

/** The parameters of the question. */
export const queryOf = ({ search, sort, state }: HomeView) => ({
  q: search === '' ? undefined : search,
  sort: sort === 'trouble' ? undefined : sort,
  state,
})
