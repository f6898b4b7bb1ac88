// The Watches page: alerts, watches and notification channels.

import type { Alert, AlertPage, Unjudged } from '../../wire/alerts.ts'
import { CHANNEL_TABLE } from '../../wire/channel-kinds.ts'
import type { Channel, Channels } from '../../wire/channels.ts'
import type { Maintenance, Maintenances } from '../../wire/maintenance.ts'
import { describeNextDue } from '../../wire/next-due.ts'
import type { Watch, Watches } from '../../wire/watches.ts'
import { getPages, ROWS_MAX } from '../kit/api.ts'
import { actionColumn, createDataTable, rowAction } from '../kit/data-table.ts'
import { createAsk } from '../kit/dialog.ts'
import { button, type Child, h, nameText, note } from '../kit/dom.ts'
import { agoElement, momentElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { createAlertTable, unjudgedList } from './alert-table.ts'
import { addressOf, askForChannel } from './channel-form.ts'
import { maintenanceNotice } from './maintenance-notice.ts'
import { askForWatch, askHowLongToPause, isForGood, type Known } from './watch-form.ts'

const EVERY_MS = 10_000
const ALERTS_SHOWN = 50
const HEARD_EVERY_MS = 60_000

interface Answers {
  readonly watches: readonly Watch[]
  readonly channels: readonly Channel[]
  readonly alerts: readonly Alert[]
  readonly unjudged: readonly Unjudged[]
  readonly maintenance: readonly Maintenance[]
  /** Null: there are no older alerts. */
  readonly next: string | null
}

export function openWatchesPage(app: App): Page {
  const { api } = app
  const mayChange = app.may('member')
  const region = createRegion()
  let known: Known = { channels: [], watches: [] }
  let prefill: string | undefined
  /** The watch that a notification links to, until its row has been shown. */
  let linked: string | undefined
  let chosen: string | undefined
  /** Processes of the last 30 days. */
  let heard: ReadonlySet<string> | undefined
  /** A process that only `late` would report: the name may be mistyped. */
  const isUnheard = ({ process, late }: Watch) =>
    heard !== undefined && late === null && !process.includes('*') && !heard.has(process)

  const alertsTable = createAlertTable({
    nowMs: app.nowMs,
    isChosen: ({ watch }) => watch.id === chosen,
    mayChange,
    act: (method, path, done) => void act(method, path, done),
  })
  const watchesTable = createDataTable<Watch>({
    caption: 'Watches',
    isChosen: ({ id }) => id === chosen,
    signatureOf: (watch) => JSON.stringify([watch, isUnheard(watch)]),
    columns: [
      {
        label: 'State',
        isTight: true,
        cell: ({ state, paused_until }) => [
          badge(state, STATE_BADGES[state]),
          state === 'paused' && paused_until !== null && pausedText(paused_until),
        ],
      },
      {
        label: 'Watch',
        cell: (watch) => [
          h('strong', watch.name),
          watch.process.includes('*')
            ? h('span.sub', watch.process)
            : h('a.sub.clip', { href: formatRoute('process', { process: watch.process }) }, nameText(watch.process)),
          h('span.sub.on-phone', `when it ${describeConditions(watch)}`),
          isUnheard(watch) && h('span.sub.warn', 'nothing received in 30 days'),
        ],
      },
      { label: 'Fires when', isMinor: true, cell: (watch) => describeConditions(watch) },
      {
        label: 'Notifies',
        isExtra: true,
        cell: (watch) => watch.channels.map(channelName).join(', ') || h('span.when', 'nobody'),
      },
      actionColumn(mayChange, (watch) => [
        rowAction('Edit', watch.name, () => askForWatch(app, known, watch, () => poll.now())),
        watch.state === 'paused'
          ? rowAction('Resume', watch.name, () => resume(watch))
          : rowAction('Pause', watch.name, () => askHowLongToPause(app, watch, () => poll.now())),
        rowAction('Delete', watch.name, () => askForDeletion('watch', `api/watches/${watch.id}`, watch.name)),
      ]),
    ],
  })
  const channelsTable = createDataTable<Channel>({
    caption: 'Channels',
    nowMs: app.nowMs,
    columns: [
      { label: 'State', isTight: true, cell: ({ state }) => badge(state, CHANNEL_BADGES[state]) },
      {
        label: 'Channel',
        cell: (channel) => [h('strong', channel.name), h('span.sub', describeChannel(channel))],
      },
      {
        label: 'Last delivery',
        isMinor: true,
        cell: ({ last }) => (last === null ? 'Not tested yet' : [last.detail, ' · ', ago(last.at)]),
      },
      actionColumn(mayChange, ({ id, name, ...rest }) => [
        rest.state === 'pending' && rowAction('Send the link again', name, () => enable(id, 'Confirmation link sent.')),
        rest.state === 'disabled' && rowAction('Enable', name, () => enable(id, 'Enabled; e-mail may need its link.')),
        rowAction('Send test', name, () => act('POST', `api/channels/${id}/test`, 'Test notification delivered.')),
        rowAction('Edit', name, () => askForChannel(app, () => poll.now(), { id, name, ...rest })),
        rowAction('Delete', name, () => askForDeletion('channel', `api/channels/${id}`, name)),
      ]),
    ],
  })
  const card = (title: string, table: { readonly element: HTMLElement }, ...more: readonly Child[]) =>
    h('section', h('h2', title), h('div.card.card-table', table.element, ...more))
  const older = note(`All that fire are listed, and of the others those among the newest ${ALERTS_SHOWN}.`)

  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: async (signal): Promise<Answers> => {
      const [watches, channels, newest, firing, planned] = await Promise.all([
        api.get<Watches>('api/watches', {}, signal),
        api.get<Channels>('api/channels', {}, signal),
        api.get<AlertPage>('api/alerts', { limit: ALERTS_SHOWN }, signal),
        getPages<Alert>(api, 'api/alerts', 'alerts', { state: 'firing' }, signal),
        api.get<Maintenances>('api/maintenance', {}, signal),
      ])
      const { maintenance } = planned
      const alerts = [...new Map([...newest.alerts, ...firing.rows].map((alert) => [alert.id, alert])).values()]
      return { ...watches, ...channels, ...newest, alerts, maintenance }
    },
    show({ watches, channels, alerts, unjudged, maintenance, next }) {
      known = { channels, watches }
      alertsTable.show(alerts.toSorted((a, b) => Number(b.state === 'firing') - Number(a.state === 'firing')))
      older.hidden = next === null
      watchesTable.show(watches)
      channelsTable.show(channels)
      const parts = [
        maintenanceNotice(maintenance, app.nowMs()),
        unjudged.length > 0 && unjudgedList(unjudged, app.nowMs()),
        alerts.length > 0 && card('Alerts', alertsTable, older),
        watches.length > 0 && card('Watches', watchesTable),
        channels.length > 0 && card('Channels', channelsTable),
      ]
      if (parts.some(Boolean)) region.ready(app.nowMs(), ...parts)
      else
        region.empty(
          app.nowMs(),
          'Nothing is watched',
          note('Create a channel, then a watch: you are notified when a process is late, slow, hangs or fails.'),
        )
      if (linked !== undefined) {
        watchesTable.element.querySelector('tr.chosen')?.scrollIntoView({ block: 'center' })
        if (!watches.some(({ id }) => id === linked)) app.announce('The watch of this link was deleted.')
        linked = undefined
      }
      if (prefill === undefined) return
      createWatch(prefill)
      prefill = undefined
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  const heardPoll = createPoll({
    everyMs: () => HEARD_EVERY_MS,
    ask: (signal) => app.askProcesses(signal),
    show(entries) {
      heard = entries.length < ROWS_MAX ? new Set(entries.map(({ process }) => process)) : undefined
      watchesTable.show(known.watches)
    },
    fail() {}, // without it no watch says so
  })

  const ask = createAsk(app, () => poll.now())
  const ago = (at: string): Child => agoElement(at, app.nowMs())
  const channelName = (id: string) => known.channels.find((channel) => channel.id === id)?.name ?? id

  const enable = (id: string, done: string) => act('PATCH', `api/channels/${id}`, done, { enabled: true })
  const resume = ({ id }: Watch) => act('PATCH', `api/watches/${id}`, 'Watch resumed.', { paused_until: null })
  const pausedText = (until: string): Child =>
    isForGood(until) ? h('span.sub', 'until resumed') : h('span.sub', 'until ', momentElement(until, app.nowMs()))

  async function act(method: 'POST' | 'PATCH' | 'DELETE', path: string, done: string, body?: object): Promise<void> {
    try {
      await api.send(method, path, body)
      app.announce(done)
    } catch (error) {
      region.fail(error, () => poll.now())
    }
    poll.now()
  }

  function askForDeletion(what: string, path: string, name: string): void {
    ask({
      title: `Delete ${name}?`,
      text: [`The ${what} is deleted for good${what === 'watch' ? '; its alerts end' : ''}.`],
      submitLabel: `Delete ${what}`,
      danger: true,
      send: ['DELETE', path],
      done: `${name} deleted.`,
    })
  }

  const createWatch = (process = '') => askForWatch(app, known, { process }, () => poll.now())
  const createChannel = () => askForChannel(app, () => poll.now())

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader(
        'Watches',
        undefined,
        h('a.button', { href: formatRoute('maintenance') }, 'Maintenance'),
        mayChange && button('Create channel', createChannel),
        mayChange && button('Create watch', () => createWatch(), { class: 'button button-main' }),
      ),
      region.element,
    ),
    show(params) {
      prefill = params.get('watch-process') ?? undefined
      chosen = params.get('watch') ?? undefined
      linked = chosen
      poll.now()
      heardPoll.now()
    },
    close() {
      poll.stop()
      heardPoll.stop()
    },
  }
}

const CHANNEL_BADGES = {
  untested: 'off',
  delivered: 'good',
  failing: 'bad',
  pending: 'warn',
  disabled: 'warn',
} as const

const STATE_BADGES = { ok: 'good', firing: 'bad', paused: 'off', unknown: 'warn' } as const

const badge = (text: string, kind: 'good' | 'bad' | 'warn' | 'off') => h('span', { class: `badge badge-${kind}` }, text)

/** `runs longer than 1 min, or fails`. */
export function describeConditions({ late, long, failed, metric, slow, next_due }: Watch): string {
  const due = describeNextDue(late, next_due)
  const parts = [
    late &&
      `is late (${late.every === undefined ? late.cron : `every ${spell(late.every)}`}${due === undefined ? '' : `, ${due}`})`,
    long && `runs longer than ${spell(long)}`,
    failed && ((failed.after ?? 1) > 1 ? `fails ${failed.after} times in a row` : 'fails'),
    failed?.exceptions && 'raises an exception',
    slow && `takes ${slow}× the usual time`,
    metric && `${metric.name} is ${metric.above === undefined ? `below ${metric.below}` : `above ${metric.above}`}`,
  ].filter((text) => typeof text === 'string')
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, or ${parts.at(-1)}`
}

/** `1m` → `1 min`. */
const spell = (span: string): string =>
  span.replace(/^(\d+)([smhd])$/, (_, n, unit) => `${n} ${unit === 'm' ? 'min' : unit}`)

/** `Slack · https://hooks.slack.com/… · after 15 min · only late, failed`. */
const describeChannel = (channel: Channel): string =>
  [
    CHANNEL_TABLE[channel.kind].label,
    addressOf(channel),
    channel.delay && `after ${spell(channel.delay)}`,
    channel.conditions && `only ${channel.conditions.join(', ')}`,
    channel.only_firing && 'not when resolved',
  ]
    .filter(Boolean)
    .join(' · ')
