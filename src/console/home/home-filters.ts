// Home's filters: search, state and sort order, stored in the URL.
import { h } from '../kit/dom.ts'
import { createChoice, createStateChips, labelled } from '../kit/form.ts'
import type { Params } from '../kit/route.ts'
import { type HomeRow, type HomeView, SORTS, type Sort, VERDICTS, type Verdict } from './home-rows.ts'

export const VERDICT_TEXT: Readonly<Record<Verdict, string>> = {
  failed: 'Failed',
  unfinished: 'Never finished',
  silent: 'Silent',
  exceptions: 'With exceptions',
  firing: 'Alert firing',
  overdue: 'Overdue',
  running: 'Running',
  fine: 'Fine',
  quiet: 'No runs',
}
const SORT_TEXT: Readonly<Record<Sort, string>> = {
  trouble: 'Trouble first',
  name: 'Name',
  recent: 'Last seen',
  slow: 'Slowest vs week',
  failures: 'Most failures',
}

export const readHomeView = (params: URLSearchParams): HomeView => ({
  search: (params.get('q') ?? '').trim().toLocaleLowerCase(),
  sort: SORTS.find((known) => known === params.get('sort')) ?? 'trouble',
  verdict: VERDICTS.find((known) => known === params.get('state')),
})

/** `change` gets the URL parameters to change. */
export function createHomeFilters(change: (changes: Params) => void) {
  const search = h('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Name or meta',
    oninput: () => change({ q: search.value || undefined }),
  })
  const sort = createChoice<Sort>('Sort by', (value) => change({ sort: value === 'trouble' ? undefined : value }))
  const states = createStateChips(VERDICTS, VERDICT_TEXT, (state) => change({ state }))
  return {
    element: h(
      'div.toolbar',
      h('div.chips', { role: 'group', 'aria-label': 'State' }, ...states.chips),
      h('div.filters', { role: 'group', 'aria-label': 'Filter' }, labelled('Search', search), sort.element),
    ),
    show(view: HomeView, rows: readonly HomeRow[]) {
      if (document.activeElement !== search) search.value = view.search
      sort.show(
        SORTS.map((value) => ({ value, label: SORT_TEXT[value] })),
        view.sort,
      )
      states.show(view.verdict, (state) => rows.filter(({ verdict }) => verdict === state).length, false)
    },
  }
}
