// The last steps of the Welcome page: a channel and a watch that uses it, then a failing run and its notification on
// arrival.
import type { Alert, AlertPage } from '../../wire/alerts.ts'
import type { Channel, Channels } from '../../wire/channels.ts'
import type { KeyAnswer } from '../../wire/keys.ts'
import type { CreateWatch, Watch, Watches } from '../../wire/watches.ts'
import { button, type Child, fill, h, note } from '../kit/dom.ts'
import { formatClock, parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createAttempt } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { askForChannel } from './channel-form.ts'
import { reportsFailures } from './watch-form.ts'

const PROCESS = 'first steps'
const EVERY_MS = 2_000
/** The server's clock is known to the second. */
const CLOCK_MS = 2_000

interface Found {
  readonly channels: readonly Channel[]
  readonly watches: readonly Watch[]
  readonly alerts: readonly Alert[]
}

/** `secret` returns the API key of this page, if it is known. */
export function createTestRun(app: App, secret: () => string | undefined) {
  const { api } = app
  let found: Found | undefined
  let sent: { readonly atMs: number; readonly hasFailed: boolean } | undefined

  const watched = h('div', { role: 'status' }, note('\u00a0')) // room for what comes
  const outcome = h('ol.arrivals')
  const told = h('div', { role: 'status' }, outcome)
  const { fault, attempt } = createAttempt()
  const send = button('Send a failing test run', () => void act(() => sendRun(true)), { class: 'button button-main' })
  const recover = button('Send a completed run', () => void act(() => sendRun(false)), { hidden: true })
  const create = button('Create channel', () => askForChannel(app, () => void act(useAllChannels)))

  const poll = createPoll<Found>({
    everyMs: () => EVERY_MS,
    async ask(signal) {
      const [{ channels }, { watches }, { alerts }] = await Promise.all([
        api.get<Channels>('api/channels', {}, signal),
        api.get<Watches>('api/watches', {}, signal),
        api.get<AlertPage>('api/alerts', { limit: 20 }, signal),
      ])
      return { channels, watches, alerts }
    },
    show(answer) {
      found = answer
      show(answer)
    },
    fail() {}, // retried
  })

  async function act(work: () => Promise<unknown>): Promise<void> {
    await attempt(work)
    poll.now()
  }

  /** One watch of every process, which notifies all channels. */
  async function useAllChannels(): Promise<void> {
    const [{ channels }, { watches }] = await Promise.all([
      api.get<Channels>('api/channels'),
      api.get<Watches>('api/watches'),
    ])
    const ids = channels.map(({ id }) => id)
    const own = watches.find(isOurs)
    if (own !== undefined) return void (await api.send('PATCH', `api/watches/${own.id}`, { channels: ids }))
    if (watches.some(covers)) return
    const failed = { after: 1, exceptions: true }
    const body: CreateWatch = { name: 'Every failure', process: '*', failed, channels: ids }
    await api.send('POST', 'api/watches', body)
  }

  async function sendRun(hasFailed: boolean): Promise<void> {
    if (found?.watches.some(covers) !== true) await useAllChannels()
    const atMs = app.nowMs() - CLOCK_MS
    // A watch that fires already would not fire again.
    const { alerts } = await api.get<AlertPage>('api/alerts', { state: 'firing' })
    const firing = hasFailed ? alerts.filter(({ process }) => process === PROCESS) : []
    for (const { id } of firing) await api.send('POST', `api/alerts/${id}/resolve`)
    const uid = `test-${Math.round(atMs).toString(36)}`
    const known = secret()
    const made = known === undefined ? await api.send<KeyAnswer>('POST', 'api/keys', { name: 'test run' }) : undefined
    const mark = { process: PROCESS, uid }
    const events = [
      { kind: 'start', ...mark },
      ...(hasFailed ? [{ kind: 'exception', ...mark, exception: 'Error: a test of the notifications' }] : []),
      { kind: 'end', ...mark, failed: hasFailed },
    ]
    try {
      await app.sendEvents(known ?? made?.key.secret ?? '', events)
    } finally {
      if (made !== undefined) await api.send('DELETE', `api/keys/${made.key.id}`)
    }
    sent = { atMs, hasFailed }
  }

  function show(answer: Found): void {
    const { channels, watches, alerts } = answer
    const using = watches.filter(covers)
    const names = channels.map(({ name, state }) => (isUsed(state) ? name : `${name} (${state})`))
    const channelText =
      names.length === 0 ? 'No channel yet: alerts are only shown here.' : `Channels: ${names.join(', ')}.`
    const watchText = using.length > 0 && ` Watched by ${using.map(({ name }) => name).join(', ')}.`
    const isPending = channels.some(({ state }) => state === 'pending')
    fill(
      watched,
      note(channelText, watchText),
      isPending && note('Open the link in the e-mail to confirm the address.'),
    )
    recover.hidden = !(sent?.hasFailed ?? alerts.some((it) => it.process === PROCESS && it.state === 'firing'))
    if (sent !== undefined) fill(outcome, ...progressOf(sent, answer).map((line) => h('li', ...line)))
  }

  function progressOf(run: NonNullable<typeof sent>, { channels, watches, alerts }: Found): Child[][] {
    const at = (ms: number) => h('time', formatClock(ms))
    const what = run.hasFailed ? 'A failing run was sent.' : 'A completed run was sent: it resolves the alert.'
    const lines: Child[][] = [[at(run.atMs + CLOCK_MS), h('span', what)]]
    const momentOf = ({ since, resolved_at }: Alert) => parseTime((run.hasFailed ? since : resolved_at) ?? '')
    const alert = alerts.find((known) => known.process === PROCESS && momentOf(known) >= run.atMs)
    if (alert === undefined) return [...lines, [h('i.pulse'), h('span', 'Waiting for the alert, up to 30 seconds …')]]
    const title = run.hasFailed ? 'Alert' : 'Resolved'
    lines.push([at(momentOf(alert)), h('a', { href: formatRoute('watches') }, `${title}: ${alert.summary}`)])
    const notified = new Set(watches.filter(({ id }) => id === alert.watch.id).flatMap((watch) => watch.channels))
    for (const { id, name, last, state } of channels) {
      if (last === null || parseTime(last.at) < run.atMs) {
        if (run.hasFailed && notified.has(id) && isUsed(state))
          lines.push([h('i.pulse'), h('span', `Notifying ${name} …`)])
      } else {
        const result = last.ok ? `Notification delivered to ${name}` : `${name} could not be notified`
        lines.push([
          at(parseTime(last.at)),
          h('span', { class: last.ok ? 'good' : 'bad' }, `${result}: ${last.detail}`),
        ])
      }
    }
    return lines
  }

  return {
    notify: [note('A channel takes notifications: e-mail, chat, a webhook or your phone.'), watched, create],
    failure: [
      note('Fails on purpose, as your own job would: the alert fires, and every channel is notified.'),
      h('div.button-row', send, recover),
      fault,
      told,
    ],
    start: () => poll.now(),
    stop: () => poll.stop(),
  }
}

const isOurs = ({ name, process }: Watch): boolean => name === 'Every failure' && process === '*'
const covers = (watch: Watch): boolean => reportsFailures(watch, PROCESS)

const isUsed = (state: Channel['state']): boolean => state !== 'pending' && state !== 'disabled'
