// All processes, those that need somebody first: the last runs as bars, the last start and the next one, how long it
// takes, how often it fails, and what to do.
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { type Column, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { Link, useView } from '../kit/view.tsx'
import { describeNext } from '../kit/words.ts'
import { describeRatio } from '../timeline/usual.ts'
import { RowAction } from './row-action.tsx'
import { RowState } from './row-state.tsx'
import { RunStrip } from './run-strip.tsx'
import { partRows } from './select-rows.ts'

const METAS_SHOWN = 3

interface RowProps {
  readonly row: OverviewProcess
}

interface Props {
  readonly rows: readonly OverviewProcess[]
  /** Rows that need somebody are a part of their own. */
  readonly isParted: boolean
}

export function ProcessTable({ rows, isParted }: Props) {
  const { needs, others } = partRows(rows)
  const acting = new Set(needs)
  const parts =
    isParted && needs.length > 0
      ? [{ name: 'Needs you now', rows: needs }, ...(others.length > 0 ? [{ name: 'All others', rows: others }] : [])]
      : [{ rows }]
  const action: Column<OverviewProcess> = {
    label: 'Actions',
    head: <span class="hidden">Actions</span>,
    class: 'of-action',
    cell: (row) => acting.has(row) && <RowAction row={row} />,
  }
  return (
    <Table
      caption="Processes"
      class="process-table"
      parts={parts}
      keyOf={({ process }) => process}
      columns={[...COLUMNS, needs.length > 0 && action]}
    />
  )
}

const COLUMNS: readonly Column<OverviewProcess>[] = [
  {
    label: 'Process',
    class: 'of-name',
    cell: ({ process, metas, more_metas: hasMore }) => (
      <>
        <Link class="strong clip" to="process" of={{ process }} text={process} />
        <Metas metas={metas} hasMore={hasMore} />
      </>
    ),
  },
  { label: 'State', class: 'of-state', cell: (row) => <RowState row={row} /> },
  {
    label: 'Last runs',
    class: 'of-runs',
    cell: ({ process, runs }) => runs.length > 0 && <RunStrip process={process} runs={runs} />,
  },
  { label: 'Last and next start', class: 'of-start', cell: (row) => <Starts row={row} /> },
  { label: 'Median, 24 h', class: 'number minor', cell: (row) => <Median row={row} /> },
  {
    label: 'Failed, 24 h',
    class: 'number minor',
    cell: ({ last_24h: day }) => (
      <span class="muted">
        {day.failed === 0 ? '–' : `${formatCount(day.failed)} of ${formatCount(day.runs)}`}
        {day.exceptions > day.failed && <span class="sub">{plural(day.exceptions, 'exception')}</span>}
      </span>
    ),
  },
]

function Metas({ metas, hasMore }: { metas: OverviewProcess['metas']; hasMore: boolean }) {
  const named = metas.filter((meta) => meta !== null)
  const more = named.length - METAS_SHOWN
  if (named.length === 0) return null
  const rest = more > 0 ? ` and ${formatCount(more)}${hasMore ? ' or more' : ' more'}` : ''
  return <span class="sub clip">{`${named.slice(0, METAS_SHOWN).join(', ')}${rest}`}</span>
}

function Starts({ row }: RowProps) {
  const { nowMs } = useView()
  const { last_start_at: last, last_seen_at: seen } = row
  const next = describeNext(row, nowMs, 'next ')
  return (
    <>
      {last !== null ? (
        <Ago at={last} />
      ) : (
        <span class="muted">{seen === null ? '–' : `seen ${formatAgo(parseTime(seen), nowMs)}`}</span>
      )}
      {next && <span class={`sub ${next.isLate ? 'bad' : ''}`}>{next.text}</span>}
    </>
  )
}

/** Slower than before is what `change` says, as on the page of the process. */
function Median({ row: { median_24h_ms: today, change } }: RowProps) {
  if (today === null) return <span class="muted">–</span>
  const ratio = change === null ? '' : describeRatio(change.after_ms, change.before_ms, '')
  return (
    <>
      {formatDuration(today)}
      {ratio !== '' && <span class="sub">{ratio}</span>}
    </>
  )
}
