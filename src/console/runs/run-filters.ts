// The filters of the runs, as the address holds them, and the controls that change them.
import type { ProcessEntry } from '../../wire/processes.ts'
import type { TimingState as RunState, SummaryRow } from '../../wire/timings.ts'
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { h, setText } from '../kit/dom.ts'
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

/** `change` is called with what to change in the address. */
export function createRunFilters(change: (changes: Params) => void) {
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
      'div.filters',
      { role: 'group', 'aria-label': 'Filter' },
      process.element,
      meta.element,
      h('div.field', h('label', { for: 'filter-uid' }, 'Uid'), uid),
    ),
    show(query: RunQuery, processes: readonly ProcessEntry[]) {
      process.show(processOptions(processes, query.process), query.process)
      meta.show(metaOptions(processes, query.process, query.meta), query.meta)
      if (document.activeElement !== uid) uid.value = query.uid ?? ''
    },
  }
}

/** A chip a state, with how many there are; it is legend and filter in one. */
export function createStateChips(change: (changes: Params) => void) {
  const chips = STATES.map((state) => {
    const count = h('span.chip-count', '–')
    const button = h(
      'button.chip',
      {
        type: 'button',
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
    element: h('div.chips', { role: 'group', 'aria-label': 'State' }, ...chips.map(({ button }) => button), trouble),
    show(chosen: StateFilter | undefined, totals: readonly SummaryRow[] | undefined) {
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

// Says how many of the runs have arrived while a long answer comes in pages: part of a picture must not pass for the whole.
export interface LoadProgress {
  readonly element: HTMLElement
  /** undefined: everything has arrived. `total` is undefined while it is not known. */
  show(state: { readonly loaded: number; readonly total: number | undefined } | undefined): void
}

export function createLoadProgress(): LoadProgress {
  const text = h('span')
  const bar = h('progress', { 'aria-label': 'Runs loaded' })
  const element = h('p.load-progress.muted', text, bar)
  element.hidden = true
  return {
    element,
    show(state) {
      element.hidden = state === undefined
      if (state === undefined) return
      const { loaded, total } = state
      setText(
        text,
        `Loading: newest ${formatCount(loaded)}${total === undefined ? '' : ` of ${formatCount(Math.max(total, loaded))}`} runs`,
      )
      if (total === undefined || total === 0) bar.removeAttribute('value')
      else bar.value = Math.min(1, loaded / total)
    },
  }
}
