// The controls of the Runs page: process, meta and uid, and a chip per state with its number.
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow, TimingState } from '../../wire/timings.ts'
import { type Filter, Filters, subjectFilters } from '../kit/filters.tsx'
import { formatCount } from '../kit/format-number.ts'
import { Segments } from '../kit/segments.tsx'
import { useView } from '../kit/view.tsx'
import type { RunQuery } from '../timeline/ask-timeline.ts'
import { countOf } from '../timeline/count-bins.ts'
import { describeSeen, type Seen } from '../timeline/run.ts'
import { STATES } from './read-run-query.ts'

const UID: Filter = { name: 'uid', label: 'Uid', placeholder: 'any', isEntered: true, maxLength: 50 }

export const RunFilters = ({ processes }: { processes: readonly ProcessEntry[] }) => (
  <Filters filters={[...subjectFilters(processes, useView().params), UID]} how="replace" ends={PAGE} />
)

/** Another view begins with the first page of its table. */
export const PAGE = ['page']

interface StateProps {
  readonly query: RunQuery
  readonly totals: readonly SummaryRow[] | undefined
  readonly seen: Seen
}

/** The filter `trouble`, which Home links to, can only be removed here. */
export function RunStates({ query: { state }, totals, seen }: StateProps) {
  const { change, nowMs } = useView()
  const numberOf = (of: TimingState) => totals?.reduce((sum, row) => sum + countOf(row, of), 0)
  const items = STATES.map((of) => {
    const n = numberOf(of)
    const label = (
      <>
        <i class={`mark mark-${of}`} />
        {describeSeen({ state: of, exceptions: null }, seen, nowMs)}{' '}
        <span class="chip-count">{n === undefined ? '–' : formatCount(n)}</span>
      </>
    )
    return { value: of as string, label, class: 'chip' }
  })
  const trouble = { value: 'trouble', label: 'Problems ×', class: 'chip' }
  return (
    <Segments
      class="chips"
      label="State"
      items={state === 'trouble' ? [...items, trouble] : items}
      chosen={state}
      choose={(next) => change({ page: undefined, state: next === state ? undefined : next }, 'replace')}
    />
  )
}
