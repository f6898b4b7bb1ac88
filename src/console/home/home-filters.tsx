// Search, states and order of Home's table, kept in the address.
import type { Overview } from '../../wire/overview.ts'
import { PROCESS_STATES } from '../../wire/process-state.ts'
import { PROCESS_STATE_TEXT } from '../../wire/words.ts'
import { formatCount } from '../kit/format-number.ts'
import { SearchField } from '../kit/search-field.tsx'
import { Select } from '../kit/select.tsx'
import { useView } from '../kit/view.tsx'
import { type HomeView, SORTS, type Sort } from './select-rows.ts'

const SORT_TEXT: Readonly<Record<Sort, string>> = {
  trouble: 'Trouble first',
  name: 'Name',
  recent: 'Last seen',
  slow: 'Slowest against last week',
  failures: 'Most failures',
}

interface Props {
  readonly view: HomeView
  readonly counts: Overview['counts']
}

export function HomeFilters({ view, counts }: Props) {
  const { params, change } = useView()
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
      <div class="filters" role="group" aria-label="Filter">
        <SearchField
          label="Search"
          placeholder="Name or meta"
          text={params.get('q') ?? ''}
          search={(text) => change({ q: text || undefined }, 'replace')}
        />
        <Select
          label="Sort by"
          options={SORTS.map((value) => ({ value, label: SORT_TEXT[value] }))}
          chosen={view.sort}
          choose={(sort) => change({ sort: sort === 'trouble' ? undefined : sort }, 'replace')}
        />
      </div>
    </div>
  )
}
