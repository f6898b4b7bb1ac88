// Firing alerts, as links to the Watches page. Hidden without alerts, and if the session may not read them.
import type { Alert, AlertPage } from '../../wire/alerts.ts'
import { type Api, ApiError } from '../kit/api.ts'
import { fill, h, nameText } from '../kit/dom.ts'
import { createPoll } from '../kit/poll.ts'
import { formatRoute } from '../kit/route.ts'

const ALERTS_MAX = 5
const NOTHING: AlertPage = { alerts: [], next: null }

/** Loads when started, then every `everyMs`. */
export function createFiringList(api: Api, everyMs: number) {
  const list = h('ul')
  const element = h('section.firing', { 'aria-label': 'Firing alerts', hidden: true }, list)
  let shown = ''

  const poll = createPoll<AlertPage>({
    everyMs: () => everyMs,
    ask: (signal) => api.get<AlertPage>('api/alerts', { state: 'firing', limit: ALERTS_MAX }, signal),
    show,
    fail(error) {
      // The table of processes reports any other failure; the alerts stay as they are.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) show(NOTHING)
    },
  })

  function show({ alerts, next }: AlertPage): void {
    const signature = JSON.stringify([alerts.map(({ id, summary }) => [id, summary]), next !== null])
    if (signature === shown) return
    shown = signature
    element.hidden = alerts.length === 0
    fill(list, ...alerts.map(toItem), next !== null && h('li', watchesLink('More alerts')))
  }

  return { element, start: () => poll.now(), close: () => poll.stop() }
}

const watchesLink = (content: string | Node) => h('a', { href: formatRoute('watches') }, content)
const toItem = ({ summary }: Alert) => h('li', h('span.badge.badge-bad', 'firing'), ' ', watchesLink(nameText(summary)))
