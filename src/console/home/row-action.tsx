// The one thing to do about a process in trouble: acknowledge its alert, watch it, or open the run.
import type { OverviewProcess } from '../../wire/overview.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { runLink } from '../kit/run-links.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { watchLink } from '../watch/watch-link.ts'

export function RowAction({ row }: { row: OverviewProcess }) {
  const { app, nowMs, again } = useView()
  const { attempt, fault } = useAttempt()
  const { process, state, run, alerts, notified } = row
  const open = alerts.filter(({ acknowledged_by: by }) => by === null)
  if (open.length > 0 && app.may('member')) {
    const acknowledge = () =>
      attempt(async () => {
        try {
          await Promise.all(open.map(({ id }) => app.api.send('POST', `api/alerts/${id}/ack`)))
          app.announce('Alert acknowledged.')
        } finally {
          again() // one that ended meanwhile is refused: the next answer shows that
        }
      })
    return (
      <>
        <button
          type="button"
          class="button button-small"
          aria-label={`${ACTION_TEXT.acknowledge}: ${process}`}
          onClick={() => void acknowledge()}
        >
          {ACTION_TEXT.acknowledge}
        </button>
        {fault}
      </>
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
