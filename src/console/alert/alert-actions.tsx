// What can be done about an alert: acknowledge it, plan a maintenance, resolve it; and what was done.
import type { Alert } from '../../wire/alerts.ts'
import { ACTION_TEXT, acknowledgedText } from '../../wire/words.ts'
import { parseTime } from '../kit/format-time.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { Link, useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'
import { endedText } from '../watch/alert-table.tsx'

export function AlertActions({ alert }: { alert: Alert }) {
  const { app, nowMs, again } = useView()
  const { attempt, fault } = useAttempt()
  const { id, state, acknowledged, process, resolved_at: resolvedAt } = alert
  const at = (time: string) => shortMoment(parseTime(time), nowMs)
  const act = (work: () => Promise<unknown>, done: string) =>
    attempt(async () => {
      try {
        await work()
        app.announce(done)
      } finally {
        again() // also of a refused one: somebody else was first, or it has ended
      }
    })
  const acknowledge = () => act(() => app.api.send('POST', `api/alerts/${id}/ack`), 'Alert acknowledged.')
  const undo = () => act(() => app.api.send('DELETE', `api/alerts/${id}/ack`), 'The alert is no longer acknowledged.')
  const resolve = () => act(() => app.api.send('POST', `api/alerts/${id}/resolve`), 'Alert resolved.')
  const isFiring = state === 'firing'
  const isMember = app.may('member')
  return (
    <div class="alert-actions">
      {acknowledged !== null && (
        <p>
          <bdi>{acknowledgedText(acknowledged.by)}</bdi> at {at(acknowledged.at)}{' '}
          {isFiring && isMember && (
            <button type="button" class="link" onClick={() => void undo()}>
              Undo
            </button>
          )}
        </p>
      )}
      {resolvedAt !== null && (
        <p class="strong good">
          Resolved at {at(resolvedAt)} {endedText(alert)}
        </p>
      )}
      {isMember && (
        <div class="button-row">
          {isFiring && acknowledged === null && (
            <button type="button" class="button button-main" onClick={() => void acknowledge()}>
              {ACTION_TEXT.acknowledge}
            </button>
          )}
          <Link class="button" to="maintenance" of={{ process }}>
            {ACTION_TEXT.maintenance}
          </Link>
          {isFiring && (
            <button type="button" class="button" onClick={() => void resolve()}>
              Resolve
            </button>
          )}
        </div>
      )}
      {fault}
    </div>
  )
}
