// The notifications of an alert: each with its time and the receiver's answer; and the channels without one, with the
// reason.
import type { AlertDetail, SentNotification } from '../../wire/alert-detail.ts'
import { acknowledgedText } from '../../wire/words.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'
import { endedText } from '../watch/alert-table.tsx'
import { SENT_STATE_TEXT, SENT_TEXT, whyNot } from './alert-words.ts'

export function WhoKnows({ detail: { alert, notifications, not_notified: others } }: { detail: AlertDetail }) {
  const { nowMs } = useView()
  const { acknowledged, resolved_at: resolvedAt } = alert
  const isKnown = notifications.some(({ state }) => state === 'delivered') || acknowledged !== null
  return (
    <Card title="Who knows">
      {!isKnown && <p class="strong warn">No one was notified.</p>}
      <ul class="divided">
        {notifications.map((sent) => (
          <Sent key={`${sent.channel.id} ${sent.type} ${sent.at}`} sent={sent} />
        ))}
        {acknowledged !== null && (
          <li>
            <div>
              <bdi>{acknowledgedText(acknowledged.by)}</bdi>
            </div>
            <At at={acknowledged.at} />
          </li>
        )}
        {resolvedAt !== null && (
          <li>
            <div>Resolved {endedText(alert)}</div>
            <At at={resolvedAt} />
          </li>
        )}
        {others.map(({ channel, ...why }) => (
          <li key={channel.id}>
            <div>
              <bdi>{channel.name}</bdi>
              <span class="sub">not notified: {whyNot({ channel, ...why }, nowMs)}</span>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Sent({ sent: { channel, type, at, state, answer } }: { sent: SentNotification }) {
  const isBad = state === 'failing' || state === 'dropped'
  return (
    <li>
      <div>
        <bdi>{channel.name}</bdi> <span class="muted">{SENT_TEXT[type]}</span>
        <span class={`sub wrap ${isBad ? 'warn' : ''}`}>
          {SENT_STATE_TEXT[state]}
          {answer !== null && `: ${answer}`}
        </span>
      </div>
      <At at={at} />
    </li>
  )
}

function At({ at }: { at: string }) {
  const { nowMs } = useView()
  return (
    <time class="muted" dateTime={at} title={at}>
      {shortMoment(parseTime(at), nowMs)}
    </time>
  )
}
