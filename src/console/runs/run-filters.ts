// The filters of the runs, as the address holds them, and the controls that change them.
import type { ProcessEntry } from '../../wire/processes.ts'
import type { TimingState as RunState, SummaryRow } from '../../wire/timings.ts'
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { h } from '../kit/dom.ts'
import { createChoice } from '../kit/form.ts'
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

export interface RunFilters {
  readonly element: HTMLElement
  show(query: RunQuery, processes: readonly ProcessEntry[]): void
}

/** `change` is called with what to change in the address. */
export function createRunFilters(change: (changes: Params) => void): RunFilters {
  const process = createChoice<string | undefined>('Process', (value) => change({ process: value, meta: undefined }))
  const meta = createChoice<string | undefined>('Meta', (value) => change({ meta: value }))
  const uid = h('input', {
    id: 'filter-uid',
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'any',
    pattern: '[a-z0-9_\\-]*',
    maxlength: 50,
    onchange: () => change({ uid: uid.value.trim() || undefined }),
  })
  return {
    element: h(
      'div',
      { class: 'filters', role: 'group', 'aria-label': 'Filter' },
      process.element,
      meta.element,
      h('div', { class: 'field' }, h('label', { for: 'filter-uid' }, 'Uid'), uid),
    ),
    show(query, processes) {
      process.show(processOptions(processes, query.process), query.process)
      meta.show(metaOptions(processes, query.process, query.meta), query.meta)
      if (document.activeElement !== uid) uid.value = query.uid ?? ''
    },
  }
}

export interface StateChips {
  readonly element: HTMLElement
  show(chosen: StateFilter | undefined, totals: readonly SummaryRow[] | undefined): void
}

/** A chip a state, with how many there are; it is legend and filter in one. */
export function createStateChips(change: (changes: Params) => void): StateChips {
  const chips = STATES.map((state) => {
    const count = h('span', { class: 'chip-count' }, '–')
    const button = h(
      'button',
      {
        type: 'button',
        class: 'chip',
        onclick: () => change({ state: button.getAttribute('aria-pressed') === 'true' ? undefined : state }),
      },
      h('i', { class: `mark mark-${state}` }),
      STATE_TEXT[state],
      count,
    )
    return { state, button, count }
  })
  // Home links to it; it can only be removed here.
  const trouble = h(
    'button',
    {
      type: 'button',
      class: 'chip',
      'aria-pressed': 'true',
      hidden: true,
      onclick: () => {
        chips[0]!.button.focus() // this button is about to be hidden
        change({ state: undefined })
      },
    },
    'With trouble',
    h('span', { 'aria-hidden': 'true' }, '×'),
  )
  return {
    element: h(
      'div',
      { class: 'chips', role: 'group', 'aria-label': 'State' },
      ...chips.map(({ button }) => button),
      trouble,
    ),
    show(chosen, totals) {
      trouble.hidden = chosen !== 'trouble'
      for (const { state, button, count } of chips) {
        button.setAttribute('aria-pressed', String(chosen === state))
        const n = totals?.reduce((sum, row) => sum + countOf(row, state), 0)
        count.textContent = n === undefined ? '–' : formatCount(n)
      }
    },
  }
}

export const countOf = (row: SummaryRow, state: RunState): number =>
  state === 'completed' ? row.count : (row[state] ?? 0)
