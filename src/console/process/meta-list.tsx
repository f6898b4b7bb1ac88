// The same process by its metas: how each is, and how long it takes.
import type { OverviewMeta } from '../../wire/overview.ts'
import { formatCount, formatDuration } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { markOf } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'

interface Props {
  readonly process: string
  readonly metas: readonly OverviewMeta[]
}

export const MetaList = ({ process, metas }: Props) => (
  <Card title="By meta" about={<span class="muted">failed in 24 h</span>}>
    <ul class="meta-list">
      {metas.map((row) => (
        <Row key={row.meta} process={process} row={row} />
      ))}
    </ul>
  </Card>
)

function Row({ process, row }: { process: string; row: OverviewMeta }) {
  const { nowMs } = useView()
  const { meta, state, run, last_seen_at: seen, last_24h: day } = row
  const median = row.median_24h_ms ?? row.median_7d_ms ?? row.usual_ms
  const mark =
    state === 'silent' ? 'failed' : state === 'overdue' ? 'overdue' : run === null ? 'orphan' : markOf(run[1])
  return (
    <li>
      <i class={`mark mark-${mark}`} />
      <div>
        <a class="clip" href={formatRoute('runs', { process, meta: meta ?? '', from: '-7d' })}>
          <bdi>{meta ?? 'without meta'}</bdi>
        </a>
        <span class="sub">
          {state === 'silent' ? 'silent · ' : ''}
          {seen === null ? '–' : formatAgo(parseTime(seen), nowMs)} · median {formatDuration(median)} ·{' '}
          <span class={day.failed > 0 ? 'bad' : undefined}>
            {day.failed > 0 ? `${day.failed} of ${formatCount(day.runs)} failed` : 'none failed'}
          </span>
        </span>
      </div>
    </li>
  )
}
