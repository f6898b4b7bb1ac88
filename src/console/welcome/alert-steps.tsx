// The last steps: a channel, then a failing run and its notification on arrival.
import { useState } from 'preact/hooks'
import type { Alert } from '../../wire/alerts.ts'
import type { Channel } from '../../wire/channels.ts'
import { formatClock, parseTime } from '../kit/format-time.ts'
import { formatRoute } from '../kit/route.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { ChannelDialog } from '../watch/channel-dialog.tsx'
import { CLOCK_MS, covers, PROCESS, type SentRun, sendRun, type Watching, watchAllFailures } from './test-run.ts'

interface Props {
  readonly watching: Watching | undefined
}

const isUsed = (state: Channel['state']): boolean => state !== 'pending' && state !== 'disabled'

export function NotifyStep({ watching }: Props) {
  const { app, again, open } = useView()
  const { fault, attempt } = useAttempt()
  const watchAll = () => attempt(() => watchAllFailures(app)).then(again)
  const { channels = [], watches = [], hasEmail } = watching ?? {}
  const create = () => open((close) => <ChannelDialog {...{ hasEmail, close }} done={() => void watchAll()} />)
  const names = channels.map(({ name, state }) => (isUsed(state) ? name : `${name} (${state})`))
  const channelText =
    names.length === 0 ? 'No channel yet: alerts are only shown here.' : `Channels: ${names.join(', ')}.`
  const using = watches.filter(covers).map(({ name }) => name)
  return (
    <>
      <p class="muted">A channel takes notifications: e-mail, chat, a webhook or your phone.</p>
      <div role="status">
        <p class="muted">
          {watching === undefined ? '\u00a0' : channelText}
          {using.length > 0 && ` Watched by ${using.join(', ')}.`}
        </p>
        {channels.some(({ state }) => state === 'pending') && (
          <p class="muted">Open the link in the e-mail to confirm the address.</p>
        )}
      </div>
      {fault}
      <button type="button" class="button" onClick={create}>
        Create channel
      </button>
    </>
  )
}

export function FailureStep({ watching, secret }: Props & { readonly secret: string | undefined }) {
  const { app, again } = useView()
  const [sent, setSent] = useState<SentRun>()
  const { fault, attempt } = useAttempt()
  const send = (hasFailed: boolean) =>
    attempt(async () => {
      if (watching?.watches.some(covers) !== true) await watchAllFailures(app)
      setSent(await sendRun(app, hasFailed, secret))
    }).then(again)
  const isFiring = watching?.alerts.some(({ process, state }) => process === PROCESS && state === 'firing') ?? false
  return (
    <>
      <p class="muted">Fails on purpose, as your own job would: the alert fires, and every channel is notified.</p>
      <div class="button-row">
        <button type="button" class="button button-main" onClick={() => void send(true)}>
          Send a failing test run
        </button>
        {(sent?.hasFailed ?? isFiring) && (
          <button type="button" class="button" onClick={() => void send(false)}>
            Send a completed run
          </button>
        )}
      </div>
      {fault}
      <div role="status">
        <ol class="arrivals">{sent && watching && <Progress run={sent} watching={watching} />}</ol>
      </div>
    </>
  )
}

function Progress({ run, watching }: { run: SentRun; watching: Watching }) {
  const { channels, watches, alerts } = watching
  const momentOf = ({ since, resolved_at }: Alert) => parseTime((run.hasFailed ? since : resolved_at) ?? '')
  const alert = alerts.find((known) => known.process === PROCESS && momentOf(known) >= run.atMs)
  const notified = new Set(watches.find(({ id }) => id === alert?.watch.id)?.channels)
  return (
    <>
      <li>
        <time>{formatClock(run.atMs + CLOCK_MS)}</time>
        <span>{run.hasFailed ? 'A failing run was sent.' : 'A completed run was sent: it resolves the alert.'}</span>
      </li>
      {alert === undefined ? (
        <li>
          <i class="pulse" />
          <span>Waiting for the alert, up to 30 seconds …</span>
        </li>
      ) : (
        <li>
          <time>{formatClock(momentOf(alert))}</time>
          <a href={formatRoute('watches')}>
            {run.hasFailed ? 'Alert' : 'Resolved'}: {alert.summary}
          </a>
        </li>
      )}
      {alert !== undefined &&
        channels.map((channel) => (
          <Delivery key={channel.id} channel={channel} run={run} isNotified={notified.has(channel.id)} />
        ))}
    </>
  )
}

interface DeliveryProps {
  readonly channel: Channel
  readonly run: SentRun
  readonly isNotified: boolean
}

function Delivery({ channel: { name, last, state }, run, isNotified }: DeliveryProps) {
  if (last === null || parseTime(last.at) < run.atMs) {
    if (!run.hasFailed || !isNotified || !isUsed(state)) return null
    return (
      <li>
        <i class="pulse" />
        <span>Notifying {name} …</span>
      </li>
    )
  }
  const result = last.ok ? `Notification delivered to ${name}` : `${name} could not be notified`
  return (
    <li>
      <time>{formatClock(parseTime(last.at))}</time>
      <span class={last.ok ? 'good' : 'bad'}>
        {result}: {last.detail}
      </span>
    </li>
  )
}
