// Firing alerts and failing channels: links to the runs, and facts for Home's sentence. Hidden without alerts,
// and if the session may not read them.
import type { Alert, AlertPage, Unjudged } from '../../wire/alerts.ts'
import type { Channel, Channels } from '../../wire/channels.ts'
import type { Maintenances } from '../../wire/maintenance.ts'
import { ApiError } from '../kit/api.ts'
import { rowAction } from '../kit/data-table.ts'
import { fill, h, nameText } from '../kit/dom.ts'
import { formatCount } from '../kit/format-number.ts'
import type { App } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { explain } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { maintenanceNotice } from '../pages/maintenance-page.ts'

const ALERTS_SHOWN = 5
const ALERTS_MAX = 1_000

export interface Watched {
  readonly alerts: readonly Alert[]
  readonly unjudged: readonly Unjudged[]
  readonly failingChannels: number
  readonly maintenance: HTMLElement | false
}
const NOTHING: Watched = { alerts: [], unjudged: [], failingChannels: 0, maintenance: false }

/** Loads when started, then every `everyMs`. `changed` is called after every answer. */
export function createWatchedFeed({ api, nowMs, may, announce }: App, everyMs: number, changed: () => void) {
  const list = h('ul')
  const element = h('section.firing', { 'aria-label': 'Firing alerts', hidden: true }, list)
  let shown = ''
  let watched: Watched | undefined
  let hasFailed = false

  const poll = createPoll<Watched>({
    everyMs: () => everyMs,
    async ask(signal) {
      const [{ alerts, unjudged }, { channels }, { maintenance }] = await Promise.all([
        api.get<AlertPage>('api/alerts', { state: 'firing', limit: ALERTS_MAX }, signal),
        api.get<Channels>('api/channels', {}, signal),
        api.get<Maintenances>('api/maintenance', {}, signal),
      ])
      const failingChannels = channels.filter(isFailing).length
      return { alerts, unjudged, failingChannels, maintenance: maintenanceNotice(maintenance, nowMs()) }
    },
    show,
    fail(error) {
      // The table of processes reports any other failure; the alerts stay as they are.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return show(NOTHING)
      hasFailed = true
      changed()
    },
  })

  function show(answer: Watched): void {
    watched = answer
    hasFailed = false
    const { alerts } = answer
    const more = alerts.length - ALERTS_SHOWN
    const signature = JSON.stringify([
      alerts.slice(0, ALERTS_SHOWN).map(({ id, summary, acknowledged }) => [id, summary, acknowledged?.by]),
      more,
    ])
    if (signature !== shown) {
      element.hidden = alerts.length === 0
      const rest = more > 0 && h('li', h('a', { href: formatRoute('watches') }, `${formatCount(more)} more`))
      fill(list, ...alerts.slice(0, ALERTS_SHOWN).map(toItem), rest)
    }
    shown = signature
    changed()
  }

  async function acknowledge({ id }: Alert): Promise<void> {
    await api.send('POST', `api/alerts/${id}/ack`).then(
      () => announce('Alert acknowledged.'),
      (error) => announce(explain(error).detail), // it may have ended: the list shows that
    )
    poll.now()
  }

  /** Who is on it; its link opens the run. The watch is named if others fire for the process, too. */
  const toItem = (alert: Alert, _: number, shown: readonly Alert[]) => {
    const { summary, acknowledged, path, process, watch } = alert
    const isOneOfSeveral = shown.some((other) => other.process === process && other.watch.id !== watch.id)
    return h(
      'li',
      acknowledged === null
        ? h('span.badge.badge-bad', 'firing')
        : h('span.badge.badge-warn', { title: `by ${acknowledged.by}` }, 'acknowledged'),
      ' ',
      h('a', { href: path.replace(/^\/#/, '#') }, nameText(summary)),
      isOneOfSeveral && h('span.muted', ' · ', nameText(watch.name)),
      acknowledged !== null && h('span.muted', ' by ', nameText(acknowledged.by)),
      ' ',
      acknowledged === null && may('member') && rowAction('Acknowledge', summary, () => void acknowledge(alert)),
    )
  }

  return {
    element,
    /** undefined until the first answer. */
    watched: () => watched,
    /** The last question failed: what is shown may be out of date. */
    hasFailed: () => hasFailed,
    start: () => poll.now(),
    close: () => poll.stop(),
  }
}

const isFailing = ({ state, last }: Channel): boolean =>
  state === 'disabled' || state === 'failing' || last?.ok === false
