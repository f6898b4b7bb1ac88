// Who hears of it: each watch that covers the process, and each of its channels with a test.
import { useState } from 'preact/hooks'
import type { Channel } from '../../wire/channels.ts'
import { formatSpan } from '../../wire/describe-process.ts'
import type { CoveringWatch, OverviewProcess } from '../../wire/overview.ts'
import { explain } from '../kit/explain.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { useView } from '../kit/view.tsx'
import { describeConditions } from '../watch/describe-watch.ts'
import { watchLink } from '../watch/watch-link.ts'

interface Props {
  readonly row: OverviewProcess
  readonly channels: readonly Channel[]
}

const BADGES: Readonly<Record<CoveringWatch['state'], string>> = {
  ok: 'badge-good',
  firing: 'badge-bad',
  paused: '',
  unknown: 'badge-warn',
}

export function Notifications({ row, channels }: Props) {
  const { app } = useView()
  const { process, watches = [], notified } = row
  const add = app.may('member') ? watchLink(process) : undefined
  if (watches.length === 0) return <NobodyHears row={row} add={add} />
  return (
    <Card title="Notifications" class="process-hears" end={add && <a href={add}>Add a watch</a>}>
      <ul class="watch-list">
        {watches.map((watch) => (
          <li key={watch.id}>
            <div>
              <span class={`badge ${BADGES[watch.state]}`}>{watch.state}</span> <b>{watch.name}</b>
              {watch.process !== process && <span class="sub"> covers {watch.process}</span>}
            </div>
            <p class="sub">when it {describeConditions(watch)}</p>
            {watch.channels.length === 0 && <p class="warn">It notifies no one.</p>}
            {channels
              .filter(({ id }) => watch.channels.includes(id))
              .map((channel) => (
                <ChannelLine key={channel.id} channel={channel} />
              ))}
          </li>
        ))}
      </ul>
      {!notified.late && (
        <p class="warn">No one is notified if it is late. {add && <a href={add}>Watch for that</a>}</p>
      )}
    </Card>
  )
}

function NobodyHears({ row: { every_s: everyS }, add }: { row: OverviewProcess; add: string | undefined }) {
  const often =
    everyS === null
      ? 'A watch can notify you when it is late or fails.'
      : `It usually starts every ${formatSpan(everyS * 1000)}. A watch can notify you when it is late or fails.`
  return (
    <Card title="Notifications" class="process-hears">
      <p>
        <b>No one is notified.</b>
      </p>
      <p class="muted">{often}</p>
      {add && (
        <a class="button button-main" href={add}>
          Watch this process
        </a>
      )}
    </Card>
  )
}

function ChannelLine({ channel }: { channel: Channel }) {
  const { app, nowMs, again } = useView()
  const [said, setSaid] = useState('')
  const { id, name, last } = channel
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
  const state =
    last === null ? 'never tested' : `${last.ok ? 'delivered' : 'failed'} ${formatAgo(parseTime(last.at), nowMs)}`
  return (
    <div class="channel-line">
      <div>
        <bdi>{name}</bdi>
        <span class="sub" role="status">
          {said || state}
        </span>
      </div>
      {app.may('member') && (
        <button
          type="button"
          class="button button-small"
          aria-label={`Send test to ${name}`}
          onClick={() => void sendTest()}
        >
          Send test
        </button>
      )}
    </div>
  )
}
