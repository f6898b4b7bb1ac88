// Search, states and order of Home's table, kept in the address.
import type { Overview } from '../../wire/overview.ts'
import { OVERVIEW_SORTS, type OverviewSort, PROCESS_STATES } from '../../wire/process-state.ts'
import { PROCESS_STATE_TEXT } from '../../wire/words.ts'
import { Filters } from '../kit/filters.tsx'
import { formatCount } from '../kit/format-number.ts'
import { Segments } from '../kit/segments.tsx'
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
    name: 'sort',
    label: 'Sort by',
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
      <Segments
        class="chips"
        label="State"
        items={offered.map((state) => ({
          value: state,
          class: 'chip',
          label: (
            <>
              <i class={`mark mark-${state}`} />
              {PROCESS_STATE_TEXT[state][0]}
              <span class="chip-count">{formatCount(counts[state])}</span>
            </>
          ),
        }))}
        chosen={view.state}
        choose={(state) => change({ state: state === view.state ? undefined : state }, 'replace')}
      />
      <Filters filters={FILTERS} how="replace" />
    </div>
  )
}
