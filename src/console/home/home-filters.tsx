// Search, states and order of Home's table, kept in the address.
import type { Overview } from '../../wire/overview.ts'
import { OVERVIEW_SORTS, type OverviewSort, PROCESS_STATES } from '../../wire/process-state.ts'
import { PROCESS_STATE_TEXT } from '../../wire/words.ts'
import { Filters } from '../kit/filters.tsx'
import { formatCount } from '../kit/format-number.ts'
import { useView } from '../kit/view.tsx'
import type { HomeView } from './select-rows.ts'

const SORT_TEXT: Readonly<Record<OverviewSort, string>> = {
  trouble: 'Trouble first',
  name: 'Name',
  recent: 'Last seen',
  slow: 'Slowest against last week',
  failures: 'Most failures',
}

const FILTERS = [
  { name: 'q', label: 'Search', placeholder: 'Name or meta' },
  {
    ...{ name: 'sort', label: 'Sort by' },
    choices: OVERVIEW_SORTS.map((value) => ({
      value: value === 'trouble' ? undefined : value,
      label: SORT_TEXT[value],
    })),
  },
]

interface Props {
  readonly view: HomeView
  readonly counts: Overview['counts']
}

export function HomeFilters({ view, counts }: Props) {
  const { change } = useView()
  const offered = PROCESS_STATES.filter((state) => counts[state] > 0 || state === view.state)
  return (
    <div class="toolbar">
      <div class="chips" role="group" aria-label="State">
        {offered.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={state === view.state}
            onClick={() => change({ state: state === view.state ? undefined : state }, 'replace')}
          >
            <i class={`mark mark-${state}`} />
            {PROCESS_STATE_TEXT[state][0]}
            <span class="chip-count">{formatCount(counts[state])}</span>
          </button>
        ))}
      </div>
      <Filters filters={FILTERS} how="replace" />
    </div>
  )
}
