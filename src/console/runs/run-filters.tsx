// The controls of the Runs page: process, meta and uid, and a chip per state with its number.
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow, TimingState } from '../../wire/timings.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { formatCount } from '../kit/format-number.ts'
import type { Params } from '../kit/route.ts'
import { Segments } from '../kit/segments.tsx'
import { Select } from '../kit/select.tsx'
import { useId } from '../kit/use-id.ts'
import type { RunQuery } from '../timeline/ask-timeline.ts'
import { countOf } from '../timeline/count-bins.ts'
import { STATES } from './read-run-query.ts'

interface Props {
  readonly query: RunQuery
  readonly processes: readonly ProcessEntry[]
  /** Gets the URL parameters to change. */
  change(changes: Params): void
}

export function RunFilters({ query, processes, change }: Props) {
  const id = useId()
  return (
    <fieldset class="filters">
      <legend class="hidden">Filter</legend>
      <Select
        label="Process"
        options={processOptions(processes, query.process)}
        chosen={query.process}
        choose={(process) => change({ process, meta: undefined })}
      />
      <Select
        label="Meta"
        options={metaOptions(processes, query.process, query.meta)}
        chosen={query.meta}
        choose={(meta) => change({ meta })}
      />
      <div class="field">
        <label for={id}>Uid</label>
        <input
          id={id}
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="any"
          maxLength={50}
          value={query.uid ?? ''}
          onChange={({ currentTarget }) => change({ uid: currentTarget.value.trim() || undefined })}
        />
      </div>
    </fieldset>
  )
}

interface StateProps extends Pick<Props, 'query' | 'change'> {
  readonly totals: readonly SummaryRow[] | undefined
}

/** The filter `trouble`, which Home links to, can only be removed here. */
export function RunStates({ query: { state }, totals, change }: StateProps) {
  const numberOf = (of: TimingState) => totals?.reduce((sum, row) => sum + countOf(row, of), 0)
  const items = STATES.map((of) => {
    const n = numberOf(of)
    const label = (
      <>
        <i class={`mark mark-${of}`} />
        {RUN_STATE_TEXT[of]} <span class="chip-count">{n === undefined ? '–' : formatCount(n)}</span>
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
      choose={(next) => change({ state: next === state ? undefined : next })}
    />
  )
}
