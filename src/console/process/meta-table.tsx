// The metas of a process: how each is, its last runs, the last one, how long it takes and how often it fails.
import type { OverviewMeta } from '../../wire/overview.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { RunStrip } from '../home/run-strip.tsx'
import { metaLabel } from '../kit/ask-processes.ts'
import { formatCount, formatDuration } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import { markOf } from '../kit/run-links.ts'
import { Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { countEnded } from '../timeline/count-bins.ts'
import { lastRun } from './last-run.ts'

interface Props {
  readonly process: string
  readonly metas: readonly OverviewMeta[]
  readonly chosen: string | undefined
  /** The last 7 days, a row per meta; without metas where they are too many, or not known. */
  readonly week: readonly SummaryRow[] | undefined
}

export const MetaTable = ({ process, metas, chosen, week }: Props) => (
  <Card title="By meta" class="card-table" end={<span class="muted">failed in 7 days</span>}>
    <Table<OverviewMeta>
      caption="By meta"
      class="meta-table"
      rows={metas}
      keyOf={({ meta }) => meta ?? ''}
      isChosen={({ meta }) => (meta ?? '') === chosen}
      columns={[
        { label: 'Meta', cell: (row) => <Name row={row} isChosen={(row.meta ?? '') === chosen} /> },
        {
          label: 'Last runs',
          class: 'of-runs minor',
          cell: ({ runs }) => runs.length > 0 && <RunStrip process={process} runs={runs} />,
        },
        { label: 'Last', cell: (row) => <Last row={row} /> },
        {
          label: 'Median',
          class: 'number',
          cell: ({ usual_ms: usual, median_24h_ms: day }) => formatDuration(usual ?? day),
        },
        {
          label: 'Failed',
          class: 'number',
          cell: ({ meta }) => <Failed week={week?.filter((it) => it.meta === meta)} />,
        },
      ]}
    />
  </Card>
)

function Name({ row: { meta, state, run }, isChosen }: { row: OverviewMeta; isChosen: boolean }) {
  const { change } = useView()
  const mark = state === 'silent' || state === 'overdue' ? state : run ? markOf(run[1]) : 'orphan'
  return (
    <span class="meta-name">
      <i class={`mark mark-${mark}`} />
      <button
        type="button"
        class="link clip"
        aria-pressed={isChosen}
        onClick={() => change({ meta: isChosen ? undefined : (meta ?? '') })}
      >
        <bdi>{metaLabel(meta)}</bdi>
      </button>
      {state === 'silent' && <span class="bad">silent</span>}
    </span>
  )
}

function Last({ row }: { row: OverviewMeta }) {
  const { at, took } = lastRun(row)
  return at === null ? (
    <span class="muted">–</span>
  ) : (
    <>
      <Ago at={at} />
      {took !== null && <span class="sub">took {formatDuration(took)}</span>}
    </>
  )
}

function Failed({ week = [] }: { week: readonly SummaryRow[] | undefined }) {
  const { bad, all } = countEnded(week)
  if (all === 0) return <span class="muted">–</span>
  return <span class={bad > 0 ? 'bad' : 'muted'}>{`${formatCount(bad)} of ${formatCount(all)}`}</span>
}
