// The notifications of a process: each watch that covers it, and each of its channels with a test.

import { useState } from 'preact/hooks'
import type { Channel } from '../../wire/channels.ts'
import { describeConditions } from '../../wire/conditions.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatSpan } from '../../wire/span-text.ts'
import { ApiError } from '../kit/api.ts'
import { explain, explainText } from '../kit/explain.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { useView } from '../kit/view.tsx'
import { inReadersZone } from '../kit/words.ts'
import { alertLink, watchLink } from '../watch/watch-link.ts'
import type { Asked } from './ask-rest.ts'

const BADGES = { ok: 'badge-good', firing: 'badge-bad', paused: '', unknown: 'badge-warn' } as const

interface Props {
  readonly row: OverviewProcess
  readonly channels: Asked<readonly Channel[]>
}

export function Notifications({ row, channels }: Props) {
  const { app, nowMs } = useView()
  const { process, watches = [], notified, every_s: everyS } = row
  const add = (label: string, look?: string) =>
    app.may('member') && (
      <a class={look} href={watchLink(process)}>
        {label}
      </a>
    )
  if (watches.length === 0)
    return (
      <Card title="Notifications" class="process-hears">
        <p class="strong">No one is notified.</p>
        <p class="muted">
          {everyS === null
            ? 'A watch can notify you when it is late or fails.'
            : `It usually starts every ${formatSpan(everyS * 1000)}. A watch can notify you when it is late or fails.`}
        </p>
        {add('Watch this process', 'button button-main')}
      </Card>
    )
  return (
    <Card title="Notifications" class="process-hears" end={add('Add a watch')}>
      <ul class="watch-list divided">
        {watches.map((watch) => (
          <li key={watch.id}>
            <span class={`badge ${BADGES[watch.state]}`}>{watch.state}</span> <b>{watch.name}</b>
            {watch.process !== process && <span class="sub"> covers {watch.process}</span>}
            <p class="sub">when it {describeConditions(watch)}</p>
            {row.alerts
              .filter((alert) => alert.watch.id === watch.id)
              .map(({ id, summary }) => (
                <p key={id} class="sub">
                  <a href={alertLink(id)}>{inReadersZone(summary, nowMs)}</a>
                </p>
              ))}
            {watch.channels.length === 0 && <p class="warn">It notifies no one.</p>}
            {channels instanceof ApiError ? (
              <p class="muted">{`Its channels are not available. ${explainText(channels)}`}</p>
            ) : (
              channels
                .filter(({ id }) => watch.channels.includes(id))
                .map((channel) => <ChannelLine key={channel.id} channel={channel} />)
            )}
          </li>
        ))}
      </ul>
      {!notified.late && <p class="warn">No one is notified if it is late. {add('Watch for that')}</p>}
    </Card>
  )
}

function ChannelLine({ channel: { id, name, last, state } }: { channel: Channel }) {
  const { app, nowMs, again } = useView()
  const [said, setSaid] = useState('')
  async function sendTest(): Promise<void> {
    setSaid('Sending…')
    try {
      await app.api.send('POST', `api/channels/${id}/test`)
      setSaid('Test delivered.')
      again()
    } catch (error) {
      setSaid(explain(error).detail)
    }
  }
  const sent = last && `${last.ok ? 'delivered' : 'failed'} ${formatAgo(parseTime(last.at), nowMs)}`
  const isUnused = state === 'disabled' || state === 'pending'
  return (
    <div class="channel-line">
      <div>
        <bdi>{name}</bdi>
        <span class="sub">
          <span role="status">{said}</span>
          {said === '' && (isUnused ? `${state}: it is not notified` : (sent ?? 'never tested'))}
        </span>
      </div>
      {app.may('member') && (
        <button
          class="button button-small"
          type="button"
          aria-label={`Send test to ${name}`}
          onClick={() => void sendTest()}
        >
          Send test
        </button>
      )}
    </div>
  )
}
