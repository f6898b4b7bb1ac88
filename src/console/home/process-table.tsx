// All processes: the last runs as bars, the last start and the next one, how long it takes, and how often it fails.

import { describeProcess } from '../../wire/describe-process.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { toneOf } from '../../wire/process-state.ts'
import { formatDuration } from '../../wire/span-text.ts'
import { missedText } from '../../wire/words.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { isTrouble, markOf } from '../kit/run-links.ts'
import { type Column, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { Link, useView } from '../kit/view.tsx'
import { expectedMoment, shortMoment, wordsAt } from '../kit/words.ts'
import { describeRatio } from '../timeline/usual.ts'
import { RunStrip } from './run-strip.tsx'

const METAS_SHOWN = 3

interface RowProps {
  readonly row: OverviewProcess
}

export const ProcessTable = ({ rows }: { rows: readonly OverviewProcess[] }) => (
  <Table caption="Processes" class="process-table" rows={rows} keyOf={({ process }) => process} columns={COLUMNS} />
)

const COLUMNS: readonly Column<OverviewProcess>[] = [
  {
    ...{ label: 'Process', class: 'of-name' },
    cell: ({ process, metas, more_metas: hasMore }) => (
      <>
        <Link class="strong clip" to="process" of={{ process }} text={process} />
        <Metas metas={metas} hasMore={hasMore} />
      </>
    ),
  },
  { label: 'State', class: 'of-state', cell: (row) => <State row={row} /> },
  {
    ...{ label: 'Last runs', class: 'of-runs' },
    cell: ({ process, runs }) => runs.length > 0 && <RunStrip process={process} runs={runs} />,
  },
  { label: 'Last start', class: 'of-start', cell: (row) => <LastStart row={row} /> },
  { label: 'Next start', class: 'minor', cell: (row) => <NextStart row={row} /> },
  { label: 'Median, 24 h', class: 'number minor', cell: (row) => <Median row={row} /> },
  {
    ...{ label: 'Failed, 24 h', class: 'number minor' },
    cell: ({ last_24h: day }) => (
      <span class="muted">
        {day.failed === 0 ? '–' : `${formatCount(day.failed)} of ${formatCount(day.runs)}`}
        {day.exceptions > day.failed && <span class="sub">{plural(day.exceptions, 'exception')}</span>}
      </span>
    ),
  },
]

function State({ row }: RowProps) {
  const { nowMs } = useView()
  const tone = toneOf(row.state)
  return (
    <span class={`state ${tone === 'good' ? '' : tone}`}>
      <i class={`mark mark-${markOfRow(row)}`} />
      {describeProcess(row, nowMs, wordsAt(nowMs)).text.replace(/\.$/, '')}
    </span>
  )
}

function markOfRow({ state, run }: OverviewProcess): string {
  if (toneOf(state) === 'bad') return run !== null && isTrouble(run[1]) ? markOf(run[1]) : 'failed'
  if (state === 'overdue') return 'overdue'
  return run === null ? 'quiet' : markOf(run[1])
}

function Metas({ metas, hasMore }: { metas: OverviewProcess['metas']; hasMore: boolean }) {
  const named = metas.filter((meta) => meta !== null)
  const more = named.length - METAS_SHOWN
  if (named.length === 0) return null
  const rest = more > 0 ? ` and ${formatCount(more)}${hasMore ? ' or more' : ' more'}` : ''
  return <span class="sub clip">{`${named.slice(0, METAS_SHOWN).join(', ')}${rest}`}</span>
}

function LastStart({ row }: RowProps) {
  const { nowMs } = useView()
  const { last_start_at: start, last_seen_at: seen, run } = row
  if (start === null)
    return <span class="muted">{seen === null ? '–' : `seen ${formatAgo(parseTime(seen), nowMs)}`}</span>
  const took = run?.[2] ? formatDuration(run[2]) : null
  return (
    <>
      <Ago at={start} />
      {took !== null && <span class="sub">took {took}</span>}
    </>
  )
}

function NextStart({ row: { next_start_at: next, state } }: RowProps) {
  const { nowMs } = useView()
  if (next === null) return <span class="muted">–</span>
  const ms = parseTime(next)
  if (state === 'silent') return <span class="bad">{missedText(shortMoment(ms, nowMs))}</span>
  return <span>{expectedMoment(ms, nowMs)}</span>
}

function Median({ row: { median_24h_ms: today, median_7d_ms: before } }: RowProps) {
  if (today === null) return <span class="muted">–</span>
  const ratio = before === null || before === 0 ? 'same' : describeRatio(today, before, 'same')
  return (
    <>
      {formatDuration(today)}
      {ratio !== 'same' && <span class="sub">{ratio}</span>}
    </>
  )
}
