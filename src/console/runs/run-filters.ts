// The filters of the Runs page, as stored in the URL, and their controls.
import type { ProcessEntry } from '../../wire/processes.ts'
import type { TimingState as RunState, SummaryRow } from '../../wire/timings.ts'
import { createProcessFilter } from '../kit/ask-processes.ts'
import { h, setText } from '../kit/dom.ts'
import { createStateChips, labelled } from '../kit/form.ts'
import { formatCount } from '../kit/format-number.ts'
import type { Params } from '../kit/route.ts'
import { STATE_TEXT, type StateFilter } from '../timeline/run.ts'
import type { RunQuery } from '../timeline/run-feed.ts'

const STATES: readonly RunState[] = ['failed', 'running', 'completed', 'abandoned', 'orphan']
const FILTERS: readonly StateFilter[] = [...STATES, 'trouble']

export function readRunQuery(params: URLSearchParams): RunQuery {
  const state = params.get('state')
  return {
    process: params.get('process') || undefined,
    meta: params.get('meta') ?? undefined,
    uid: params.get('uid') || undefined,
    state: FILTERS.find((known) => known === state),
  }
}

/** `change` gets the URL parameters to change. */
export function createRunFilters(change: (changes: Params) => void) {
  const filter = createProcessFilter(change)
  const uid = h('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'any',
    pattern: '[a-z0-9_\\-]*',
    maxlength: 50,
    onchange: () => change({ uid: uid.value.trim() || undefined }),
  })
  return {
    element: h('div.filters', { role: 'group', 'aria-label': 'Filter' }, ...filter.elements, labelled('Uid', uid)),
    show(query: RunQuery, processes: readonly ProcessEntry[]) {
      filter.show(processes, query)
      if (document.activeElement !== uid) uid.value = query.uid ?? ''
    },
  }
}

/** A chip per state, and one for the filter `trouble`, which Home links to and which can only be removed here. */
export function createRunStates(change: (changes: Params) => void) {
  const states = createStateChips(STATES, STATE_TEXT, (state) => change({ state }))
  const remove = () => {
    states.chips[0]!.focus() // this button is about to be hidden
    change({ state: undefined })
  }
  const trouble = h(
    'button.chip',
    { type: 'button', 'aria-pressed': 'true', hidden: true, onclick: remove },
    'With trouble',
    h('span', { 'aria-hidden': 'true' }, '×'),
  )
  return {
    element: h('div.chips', { role: 'group', 'aria-label': 'State' }, ...states.chips, trouble),
    show(chosen: StateFilter | undefined, totals: readonly SummaryRow[] | undefined) {
      trouble.hidden = chosen !== 'trouble'
      states.show(chosen, (state) => totals?.reduce((sum, row) => sum + countOf(row, state), 0), true)
    },
  }
}

export const countOf = (row: SummaryRow, state: RunState): number =>
  state === 'completed' ? row.count : (row[state] ?? 0)

// Progress while a long answer is loaded page by page: a partial timeline must not look complete.
export function createLoadProgress() {
  const text = h('span')
  const bar = h('progress', { 'aria-label': 'Runs loaded' })
  const element = h('p.load-progress.muted', text, bar)
  element.hidden = true
  return {
    element,
    /** undefined: all runs are loaded. `total` is undefined while unknown. */
    show(state: { readonly loaded: number; readonly total: number | undefined } | undefined) {
      element.hidden = state === undefined
      if (state === undefined) return
      const { loaded, total } = state
      const all = total === undefined ? '' : ` of ${formatCount(Math.max(total, loaded))}`
      setText(text, `Loading: newest ${formatCount(loaded)}${all} runs`)
      if (total === undefined || total === 0) bar.removeAttribute('value')
      else bar.value = Math.min(1, loaded / total)
    },
  }
}
