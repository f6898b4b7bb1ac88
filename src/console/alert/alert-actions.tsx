// The actions on an alert: acknowledge it, plan a maintenance, resolve it; and those that were taken.
import type { Alert } from '../../wire/alerts.ts'
import { ACTION_TEXT, acknowledgedText } from '../../wire/words.ts'
import { parseTime } from '../kit/format-time.ts'
import { useAction } from '../kit/use-action.ts'
import { Link, useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'
import { endedText } from '../watch/alert-table.tsx'
import { type Change, changeAlerts } from '../watch/change-alerts.ts'

export function AlertActions({ alert }: { alert: Alert }) {
  const { app, nowMs } = useView()
  const { act, fault } = useAction()
  const { id, state, acknowledged, process, resolved_at: resolvedAt } = alert
  const at = (time: string) => shortMoment(parseTime(time), nowMs)
  const to = (change: Change) => () => void act(...changeAlerts(app.api, [id], change))
  const isFiring = state === 'firing'
  const isMember = app.may('member')
  return (
    <div class="alert-actions">
      {acknowledged !== null && (
        <p>
          <bdi>{acknowledgedText(acknowledged.by)}</bdi> at {at(acknowledged.at)}{' '}
          {isFiring && isMember && (
            <button type="button" class="link" onClick={to('undo')}>
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
            <button type="button" class="button button-main" onClick={to('acknowledge')}>
              {ACTION_TEXT.acknowledge}
            </button>
          )}
          <Link class="button" to="maintenance" of={{ process }}>
            {ACTION_TEXT.maintenance}
          </Link>
          {isFiring && (
            <button type="button" class="button" onClick={to('resolve')}>
              Resolve
            </button>
          )}
        </div>
      )}
      {fault}
    </div>
  )
}
