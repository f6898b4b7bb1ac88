// The other failures and the runs in the ten minutes around an alert.
import type { AlertDetail, AroundRun } from '../../wire/alert-detail.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { linkOf } from '../compare/compare-runs.ts'
import { NotAvailable } from '../compare/not-available.tsx'
import { formatCount, formatDuration } from '../kit/format-number.ts'
import { formatShortClock, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { fixRange } from '../kit/time-range.ts'
import { Link, useView } from '../kit/view.tsx'

const AROUND_MS = 600_000

export function Around({ detail: { alert, around, unavailable } }: { detail: AlertDetail }) {
  const sinceMs = parseTime(alert.since)
  const range = fixRange(sinceMs - AROUND_MS, Math.min(sinceMs + AROUND_MS, useView().app.nowMs()))
  const { failed, more_failed: moreFailed, running, more_running: moreRunning } = around
  return (
    <Card
      title="Around it"
      about={<span class="muted">ten minutes before and after</span>}
      end={
        <Link to="runs" of={range}>
          On the timeline
        </Link>
      }
    >
      {unavailable.includes('around') && <NotAvailable what="What ran then" />}
      <Runs title="Failed, too" runs={failed} more={moreFailed} of={{ ...range, state: 'failed' }} />
      <Runs title="Ran then" runs={running} more={moreRunning} of={range} />
      {failed.length + running.length === 0 && !unavailable.includes('around') && (
        <p class="muted">No other run of these minutes is stored.</p>
      )}
    </Card>
  )
}

interface RunsProps {
  readonly title: string
  readonly runs: readonly AroundRun[]
  readonly more: number
  readonly of: Readonly<Record<string, string>>
}

function Runs({ title, runs, more, of }: RunsProps) {
  const { nowMs } = useView()
  if (runs.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul class="divided">
        {runs.map((run, i) => (
          <li key={i}>
            <i class={`mark mark-${run.state}`} />
            <div>
              <a class="quiet-link wrap" href={linkOf(run, nowMs)}>
                <bdi>{run.meta === null ? run.process : `${run.process} · ${run.meta}`}</bdi>
              </a>
            </div>
            <span class="muted">{whenText(run)}</span>
          </li>
        ))}
        {more > 0 && (
          <li>
            <Link to="runs" of={of}>
              and {formatCount(more)} more
            </Link>
          </li>
        )}
      </ul>
    </section>
  )
}

/** `03:10 · 12 m 37 s`, `03:10 · running` */
function whenText({ started_at: started, ended_at: ended, duration_ms: ms, state }: AroundRun): string {
  const at = started ?? ended
  const length = ms === null ? RUN_STATE_TEXT[state].toLowerCase() : formatDuration(ms)
  return at === null ? length : `${formatShortClock(parseTime(at))} · ${length}`
}
