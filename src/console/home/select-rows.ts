// Which rows of Home are shown, and in which order: read from the address, selected by the server. Those that need
// somebody now are a part of their own.
import type { OverviewProcess } from '../../wire/overview.ts'
import {
  OVERVIEW_SORTS,
  type OverviewSort,
  PROCESS_STATES,
  type ProcessState,
  toneOf,
} from '../../wire/process-state.ts'

/** Processes from which on search, states and order are offered. */
export const FILTERS_FROM = 12

export interface HomeView {
  readonly search: string
  readonly sort: OverviewSort
  readonly state: ProcessState | undefined
  /** Other rows than those of the first page without a choice. */
  readonly isChosen: boolean
  /** All rows in the usual order: those that need somebody first. */
  readonly isWhole: boolean
}

export function readHomeView(params: URLSearchParams): HomeView {
  const search = (params.get('q') ?? '').trim()
  const sort = OVERVIEW_SORTS.find((known) => known === params.get('sort')) ?? 'trouble'
  const state = PROCESS_STATES.find((known) => known === params.get('state'))
  const isWhole = search === '' && sort === 'trouble' && state === undefined
  return { search, sort, state, isWhole, isChosen: !isWhole || params.has('all') }
}

/** The parameters of the question. */
export const queryOf = ({ search, sort, state }: HomeView) => ({
  q: search === '' ? undefined : search,
  sort: sort === 'trouble' ? undefined : sort,
  state,
})

/** Amber: it runs too long, or takes longer than it did. */
export const isOdd = ({ state, change }: OverviewProcess): boolean =>
  toneOf(state) === 'warn' || (change !== null && change.after_ms > change.before_ms)

interface Parts {
  readonly needs: readonly OverviewProcess[]
  readonly others: readonly OverviewProcess[]
}

/** A job that hangs now comes before older failures: it can still be stopped. Those that became slower are last. */
export function partRows(rows: readonly OverviewProcess[]): Parts {
  const hanging = rows.filter(({ state }) => state === 'overdue')
  const bad = rows.filter(({ state }) => toneOf(state) === 'bad')
  const slower = rows.filter((row) => toneOf(row.state) === 'good' && isOdd(row))
  const needs = [...hanging, ...bad, ...slower]
  return { needs, others: rows.filter((row) => !needs.includes(row)) }
}
