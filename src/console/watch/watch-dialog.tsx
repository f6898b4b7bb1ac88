// A watch of one process in three lines and a channel, tested in place: what it would have fired, and whether the channel
// receives something.
import { useEffect, useRef, useState } from 'preact/hooks'
import { CHANNEL_TABLE, kindOfUrl } from '../../wire/channel-kinds.ts'
import type { Channel, NewChannel } from '../../wire/channels.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { PreviewWatch } from '../../wire/watch-preview.ts'
import type { CreateWatch, WatchAnswer } from '../../wire/watches.ts'
import { Modal } from '../kit/modal.tsx'
import type { App } from '../kit/page.ts'
import { explain } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { BacktestResult, useBacktest } from './backtest.tsx'
import { allowPast, suggestLate, suggestLong } from './suggest-watch.ts'

interface Props {
  readonly app: App
  readonly row: OverviewProcess
  readonly channels: readonly Channel[]
  readonly nowMs: number
  /** A watch was made. */
  made(): void
  close(): void
}

interface Conditions {
  readonly late: boolean
  readonly every: string
  readonly grace: string
  readonly failed: boolean
  readonly long: boolean
  readonly longest: string
}

const [NEW, NOBODY] = ['new', 'nobody']

const begin = (row: OverviewProcess): Conditions => {
  const late = suggestLate(row)
  const rest = { longest: suggestLong(row), long: false, failed: !row.notified.failed }
  return { late: late !== undefined, every: late?.every ?? '1d', grace: late?.grace ?? '1h', ...rest }
}

function toWatch(process: string, chosen: Conditions): PreviewWatch | undefined {
  const { late, every, grace, failed, long, longest } = chosen
  if (!late && !failed && !(long && longest !== '')) return undefined
  return {
    process,
    ...(late && { late: { every: every.trim(), ...(grace.trim() !== '' && { grace: grace.trim() }) } }),
    ...(failed && { failed: { after: 1, exceptions: true } }),
    ...(long && longest !== '' && { long: longest.trim() }),
  }
}

const toChannel = (address: string): object => {
  const text = address.trim()
  const isMail = !/^https?:/i.test(text) && text.includes('@')
  if (isMail) return { name: text.slice(0, 100), kind: 'email', to: text }
  return { name: CHANNEL_TABLE[kindOfUrl(text)].label, url: text }
}

export function WatchDialog({ app, row, channels, nowMs, made, close }: Props) {
  const { process } = row
  const usable = channels.filter(({ state }) => state !== 'disabled')
  const [chosen, setChosen] = useState(() => begin(row))
  const [channel, setChannel] = useState(usable[0]?.id ?? NEW)
  const [address, setAddress] = useState('')
  const [fault, setFault] = useState('')
  const [isSending, setSending] = useState(false)
  const [result, setResult] = useState<{ readonly text: string; readonly secret?: string | undefined }>()
  const watch = toWatch(process, chosen)
  const test = useBacktest(app, watch)
  useAllowance(chosen, test.preview, setChosen)
  const change = (changes: Partial<Conditions>) => setChosen({ ...chosen, ...changes })

  async function create(event: Event): Promise<void> {
    event.preventDefault()
    if (isSending) return
    if (watch === undefined) return setFault('Choose at least one condition.')
    if (channel === NEW && address.trim() === '')
      return setFault('Enter where to send notifications, or choose nobody.')
    setSending(true)
    setFault('')
    try {
      const found = await findChannel()
      const channelIds = found === undefined ? [] : [found.id]
      const body: CreateWatch = { name: process.slice(0, 100), ...watch, channels: channelIds }
      await app.api.send<WatchAnswer>('POST', 'api/watches', body)
      made()
      setResult({ text: found === undefined ? 'It notifies nobody.' : `Test: ${found.said}`, secret: found?.secret })
    } catch (error) {
      const { title, detail } = explain(error)
      setFault(`${title}. ${detail}`)
    }
    setSending(false)
  }
  async function findChannel(): Promise<{ id: string; said: string; secret?: string | undefined } | undefined> {
    if (channel === NOBODY) return undefined
    if (channel === NEW) {
      const answer = await app.api.send<NewChannel>('POST', 'api/channels?test=true', toChannel(address))
      setChannel(answer.channel.id) // it stays if the watch is refused
      return { id: answer.channel.id, said: answer.test?.detail ?? 'sent', secret: answer.channel.secret }
    }
    const sent = await app.api.send('POST', `api/channels/${channel}/test`).then(
      () => 'delivered.',
      (error) => explain(error).detail,
    )
    return { id: channel, said: sent }
  }

  if (result !== undefined)
    return (
      <Modal title={`${process} is watched`} close={close}>
        <p role="status">{result.text}</p>
        {result.secret !== undefined && (
          <p class="dialog-text">
            <span>Your receiver verifies notifications with this secret. It is not shown again.</span>
            <code class="secret-text">{result.secret}</code>
          </p>
        )}
        <div class="form-buttons">
          <button type="button" class="button button-main" onClick={close}>
            Done
          </button>
        </div>
      </Modal>
    )
  return (
    <Modal title={`Watch ${process}`} class="watch-dialog" close={close}>
      <form class="form" noValidate onSubmit={(event) => void create(event)}>
        <fieldset class="checks">
          <legend>Notify when it</legend>
          <Line label="does not start every" isOn={chosen.late} toggle={(late) => change({ late })}>
            <Span label="Interval" value={chosen.every} set={(every) => change({ every, late: true })} />
            plus
            <Span label="Grace" value={chosen.grace} set={(grace) => change({ grace, late: true })} />
            grace
          </Line>
          <Line label="fails or raises an exception" isOn={chosen.failed} toggle={(failed) => change({ failed })} />
          <Line label="takes longer than" isOn={chosen.long} toggle={(long) => change({ long })}>
            <Span label="Longest" value={chosen.longest} set={(longest) => change({ longest, long: true })} />
          </Line>
        </fieldset>
        <BacktestResult test={test} nowMs={nowMs} />
        <ChannelChoice {...{ channels: usable, channel, address, setChannel, setAddress }} />
        {fault !== '' && (
          <p class="field-fault" role="alert">
            {fault}
          </p>
        )}
        <div class="form-buttons">
          <button type="submit" class="button button-main" aria-disabled={isSending}>
            {channel === NOBODY ? 'Create watch' : 'Create and send test'}
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
        <p class="sub">
          <a href={formatRoute('watches', { 'watch-process': process })}>More conditions</a>: a cron expression, a
          metric, a reminder.
        </p>
      </form>
    </Modal>
  )
}

/** Gives the suggested grace what the past needed, until somebody has changed a value. */
function useAllowance(
  chosen: Conditions,
  preview: { readonly alerts: Parameters<typeof allowPast>[1] } | undefined,
  set: (next: Conditions) => void,
): void {
  const suggested = useRef(chosen)
  const left = useRef(2)
  useEffect(() => {
    if (preview === undefined || left.current === 0 || chosen !== suggested.current || !chosen.late) return
    const more = allowPast(chosen, preview.alerts)
    if (more === undefined) return
    left.current--
    suggested.current = { ...chosen, ...more }
    set(suggested.current)
  }, [preview])
}

interface LineProps {
  readonly label: string
  readonly isOn: boolean
  toggle(isOn: boolean): void
  readonly children?: preact.ComponentChildren
}

const Line = ({ label, isOn, toggle, children }: LineProps) => (
  <div class="watch-line">
    <label>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => toggle(currentTarget.checked)} /> {label}
    </label>
    {children}
  </div>
)

const Span = ({ label, value, set }: { label: string; value: string; set(value: string): void }) => (
  <input
    class="span-input"
    aria-label={label}
    autocomplete="off"
    placeholder="30m"
    value={value}
    onInput={({ currentTarget }) => set(currentTarget.value)}
  />
)

interface ChoiceProps {
  readonly channels: readonly Channel[]
  readonly channel: string
  readonly address: string
  setChannel(id: string): void
  setAddress(text: string): void
}

function ChannelChoice({ channels, channel, address, setChannel, setAddress }: ChoiceProps) {
  return (
    <div class="field-pair">
      <div class="field">
        <label for="watch-channel">Send notifications to</label>
        <select id="watch-channel" value={channel} onChange={({ currentTarget }) => setChannel(currentTarget.value)}>
          {channels.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <option value={NEW}>a new channel …</option>
          <option value={NOBODY}>nobody</option>
        </select>
      </div>
      {channel === NEW && (
        <div class="field">
          <label for="watch-address">URL or e-mail address</label>
          <input
            id="watch-address"
            autocomplete="off"
            placeholder="https://…"
            maxLength={2000}
            value={address}
            onInput={({ currentTarget }) => setAddress(currentTarget.value)}
          />
          <p class="field-hint">Slack, Discord, Teams, ntfy, a webhook, or an e-mail address.</p>
        </div>
      )}
      {channel === NOBODY && <p class="warn">Nobody is notified: the alert is only shown here.</p>}
    </div>
  )
}
