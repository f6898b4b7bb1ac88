// The one thing to do about a process in trouble: acknowledge its alert, watch it, or open the run.
import type { OverviewProcess } from '../../wire/overview.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { explain } from '../kit/explain.ts'
import { runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { watchLink } from '../watch/watch-link.ts'

export function RowAction({ row }: { row: OverviewProcess }) {
  const { app, nowMs, again } = useView()
  const { process, state, run, alerts, notified } = row
  const open = alerts.filter(({ acknowledged_by: by }) => by === null)
  if (open.length > 0 && app.may('member')) {
    const acknowledge = async () => {
      // one that ended meanwhile is refused: the next answer shows that
      const asked = await Promise.allSettled(open.map(({ id }) => app.api.send('POST', `api/alerts/${id}/ack`)))
      const refused = asked.find((one) => one.status === 'rejected')
      app.announce(refused === undefined ? 'Alert acknowledged.' : explain(refused.reason).detail)
      again()
    }
    return (
      <button
        type="button"
        class="button button-small"
        aria-label={`${ACTION_TEXT.acknowledge}: ${process}`}
        onClick={() => void acknowledge()}
      >
        {ACTION_TEXT.acknowledge}
      </button>
    )
  }
  if (state === 'silent' && !notified.late && app.may('member'))
    return (
      <a class="button button-small" href={watchLink(process)} aria-label={`Watch ${process}`}>
        Watch
      </a>
    )
  if (run === null) return null
  return (
    <a class="button button-small" href={runLink(process, run, nowMs)} aria-label={`Open run of ${process}`}>
      Open run
    </a>
  )
}
