// The one thing to do about a process in trouble: acknowledge its alert, watch it, or open the run.
import type { OverviewProcess } from '../../wire/overview.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { runLink } from '../kit/run-links.ts'
import { useAction } from '../kit/use-action.ts'
import { useView } from '../kit/view.tsx'
import { changeAlerts } from '../watch/change-alerts.ts'
import { watchLink } from '../watch/watch-link.ts'

export function RowAction({ row }: { row: OverviewProcess }) {
  const { app, nowMs } = useView()
  const { act, fault } = useAction()
  const { process, state, run, alerts, notified } = row
  const open = alerts.filter(({ acknowledged_by: by }) => by === null)
  if (open.length > 0 && app.may('member')) {
    const ids = open.map(({ id }) => id)
    return (
      <>
        <button
          type="button"
          class="button button-small"
          aria-label={`${ACTION_TEXT.acknowledge}: ${process}`}
          onClick={() => void act(...changeAlerts(app.api, ids, 'acknowledge'))}
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
