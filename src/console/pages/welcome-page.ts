// The Welcome page: the key (shown only once), snippets to paste, the first event when it arrives, and the first alert.
// Viewers see the snippets and what arrives.
import type { ExceptionText } from '../../wire/exceptions.ts'
import type { IssuedKey, KeyAnswer } from '../../wire/keys.ts'
import type { MetricPoint } from '../../wire/metrics.ts'
import type { Timing, TimingPage } from '../../wire/timings.ts'
import { copyButton } from '../kit/copy-button.ts'
import { secretBox } from '../kit/dialog.ts'
import { button, fill, h, note } from '../kit/dom.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'
import { formatClock, parseTime, timeElement } from '../kit/format-time.ts'
import { icon } from '../kit/icons.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createAttempt } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { writeSnippets } from './snippets.ts'
import { createTestRun } from './test-run.ts'

const EVERY_MS = 1_000
const SHOWN = 8

interface Arrival {
  readonly at: string
  readonly text: string
}

export function openWelcomePage(app: App): Page {
  const since = new Date(app.nowMs() - 60_000).toISOString()
  const arrivals = h('ol.arrivals')
  const waiting = h('div.waiting', h('i.pulse'), h('p', 'Waiting for the first event…'))
  const arrived = h('div', { role: 'status' }, waiting)
  let hasArrived = false

  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => findArrivals(app, since, signal),
    show(found) {
      fill(arrivals, ...found.slice(0, SHOWN).map(arrivalItem))
      if (hasArrived || found.length === 0) return
      hasArrived = true
      fill(arrived, firstEvent())
    },
    fail() {}, // retried
  })

  const mayChange = app.may('member')
  let secret = app.firstKey?.secret
  const tabs = h('div', requests(app, secret))
  const key = keyCard(app, (made) => {
    secret = made.secret
    fill(tabs, requests(app, secret))
  })
  const test = createTestRun(app, () => secret)

  return {
    element: h(
      'div.page.page-narrow',
      pageHeader(
        'Welcome to Stint',
        mayChange
          ? 'From the first event to the first alert in five steps.'
          : 'How events are sent, and how they arrive.',
      ),
      h(
        'ol.steps',
        mayChange ? step('Keep your key', key) : step('Get a key', askForKey(app)),
        step('Send something', tabs),
        step('See it arrive', arrived, arrivals),
        mayChange && step('Be notified', ...test.notify),
        mayChange && step('See a failure arrive', ...test.failure),
      ),
    ),
    show() {
      poll.now()
      if (mayChange) test.start()
    },
    close() {
      poll.stop()
      test.stop()
    },
  }
}

const step = (title: string, ...content: readonly HTMLElement[]) => h('li.step.card', h('h2', title), ...content)

const askForKey = ({ account }: App) => note(`Ask a member or an owner of ${account.name} for a key.`)

/** Without a key to show, another one can be created: a reload may have come before the key was copied. */
function keyCard({ api, firstKey }: App, created: (key: IssuedKey) => void): HTMLElement {
  if (firstKey !== undefined) return keyReveal(firstKey)
  const { fault, attempt } = createAttempt()
  const create = () =>
    attempt(async () => {
      const { key } = await api.send<KeyAnswer>('POST', 'api/keys', { name: 'first steps', scopes: ['write'] })
      created(key)
      fill(card, keyReveal(key))
    })
  const card = h(
    'div',
    note('A key is shown only once, and only its hash is stored. If you have not saved yours, create another one.'),
    button('Create a key', () => void create()),
    fault,
  )
  return card
}

/** Shows a secret, which is never shown again. */
export function keyReveal({ secret }: IssuedKey): HTMLElement {
  const where = note('Shown only this once. Keep it in a secret store or an environment variable, not in your code.')
  return secretBox('Your API key', secret, 'Copy key', where)
}

function requests(app: App, secret = 'YOUR_API_KEY'): HTMLElement {
  const address = { baseUrl: app.baseUrl, keyHeader: app.keyHeader, secret }
  const snippets = writeSnippets(address)
  return createTabs(
    'Languages',
    snippets.map(({ name, hint, text }) => {
      let shown = text
      const code = h('code', shown)
      const showToken = (token: string) => {
        shown = writeSnippets({ ...address, token }).find((snippet) => snippet.name === name)!.text
        fill(code, shown)
      }
      return {
        label: name,
        content: h(
          'div.snippet',
          h(
            'div.snippet-head',
            note(hint),
            copyButton('Copy', () => shown),
          ),
          h('pre', { tabindex: 0, 'aria-label': `${name} example` }, code),
          name === 'ping' && app.may('member') && pingKey(app, showToken),
        ),
      }
    }),
  )
}

/** The address of a ping holds a key, which may do nothing else. */
function pingKey({ api }: App, created: (secret: string) => void): HTMLElement {
  const { fault, attempt } = createAttempt()
  const create = () =>
    attempt(async () => {
      const { key } = await api.send<KeyAnswer>('POST', 'api/keys', { name: 'first ping', scopes: ['ping'] })
      created(key.secret)
      fill(box, note('The token is shown only once. It can send pings, and nothing else.'))
    })
  const box = h(
    'div',
    button('Create a ping address', () => void create()),
    fault,
  )
  return box
}

const firstEvent = () =>
  h(
    'div.arrived',
    icon('check'),
    h(
      'div',
      h('p.empty-title', 'Your first event has arrived.'),
      note('Everything you send appears on the timeline within two seconds.'),
    ),
    h('a.button.button-main', { href: formatRoute('runs', { from: '-15m' }) }, 'Open the timeline'),
  )

const arrivalItem = ({ at, text }: Arrival) => h('li', timeElement(at, formatClock(parseTime(at))), h('span', text))

/** Events since `from`, newest first. */
async function findArrivals({ api }: App, from: string, signal: AbortSignal): Promise<Arrival[]> {
  const query = { from, limit: SHOWN }
  const [{ timings }, { points }, { exceptions }] = await Promise.all([
    api.get<TimingPage>('api/timings', query, signal),
    api.get<{ points: MetricPoint[] }>('api/metrics', query, signal),
    api.get<{ exceptions: ExceptionText[] }>('api/exceptions', query, signal),
  ])
  const nameOf = ({ process, meta }: { process: string; meta: string | null }) =>
    meta === null ? process : `${process} · ${meta}`
  return [
    ...timings.map((timing) => ({
      at: timing.ended_at ?? timing.started_at ?? '',
      text: `${nameOf(timing)}: ${tellTiming(timing)}`,
    })),
    ...points.map((point) => ({
      at: point.at,
      text: `${nameOf(point)}: metric ${point.name} = ${formatValue(point.value)}`,
    })),
    ...exceptions.map((found) => ({
      at: found.at,
      text: `${nameOf(found)}: exception ${found.exception.split('\n', 1)[0]?.slice(0, 200)}`,
    })),
  ].toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

function tellTiming({ state, duration_ms }: Timing): string {
  if (state === 'completed') return `took ${formatDuration(duration_ms)}`
  return {
    failed: `failed after ${formatDuration(duration_ms)}`,
    running: 'started',
    abandoned: 'started',
    orphan: 'ended without a start',
  }[state]
}

// Tabs following the ARIA Authoring Practices: one of them is in the tab order, arrow keys move between them.
interface Tab {
  readonly label: string
  readonly content: HTMLElement
}

let tabLists = 0

function createTabs(label: string, tabs: readonly Tab[]): HTMLElement {
  const list = ++tabLists
  const panels = tabs.map(({ content }, i) =>
    h('div', { role: 'tabpanel', id: `panel-${list}-${i}`, 'aria-labelledby': `tab-${list}-${i}` }, content),
  )
  const buttons = tabs.map(({ label }, i) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${list}-${i}`,
        'aria-controls': `panel-${list}-${i}`,
        onclick: () => choose(i),
      },
      label,
    ),
  )
  function choose(chosen: number): void {
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === chosen))
      button.tabIndex = i === chosen ? 0 : -1
    })
    panels.forEach((panel, i) => {
      panel.hidden = i !== chosen
    })
  }
  function onKey(event: KeyboardEvent): void {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined || at < 0) return
    event.preventDefault()
    const next = (to + tabs.length) % tabs.length
    choose(next)
    buttons[next]?.focus()
  }
  choose(0)
  return h('div.tabs', h('div', { role: 'tablist', 'aria-label': label, onkeydown: onKey }, ...buttons), ...panels)
}
