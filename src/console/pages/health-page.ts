// The Health page: delivery of accepted events to the stores, and dead letters.
import type { DeadLetter } from '../../wire/dead-letters.ts'
import type { Health } from '../../wire/operations.ts'
import { actionColumn, createDataTable, rowAction, subLine } from '../kit/data-table.ts'
import { createAsk, type Question } from '../kit/dialog.ts'
import { button, fact, fill, h, note, setText } from '../kit/dom.ts'
import { createField } from '../kit/form.ts'
import { formatBytes, formatCount, plural } from '../kit/format-number.ts'
import { agoElement, momentElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion, emptyState } from '../kit/region.ts'

const EVERY_MS = 3_000
const PAGE = 50

const NAMES = { points: 'Marks and metrics', exceptions: 'Exceptions' } as const
const STATES = {
  idle: ['badge-good', 'up to date'],
  shipping: ['badge-good', 'delivering'],
  retrying: ['badge-warn', 'retrying'],
  parked: ['badge-bad', 'paused'],
} as const

interface DeadPage {
  readonly dead: readonly DeadLetter[]
  readonly next: string | null
}

export function openHealthPage(app: App): Page {
  const { api, nowMs } = app
  /** Operators see and change the rejected events of all accounts. */
  const isOperator = app.account.operator && app.may('owner')
  const ofAll = isOperator ? '?all=true' : ''
  const parameters = { limit: PAGE, ...(isOperator && { all: 'true' }) }
  const region = createRegion()
  const more = button('Show older', () => void loadMore())
  const summary = h('p.muted', { role: 'status' })
  let older: DeadLetter[] = []
  let next: string | null = null

  const table = createDataTable<DeadLetter>({
    caption: 'Rejected events',
    columns: [
      {
        label: 'Event',
        cell: ({ kind, process, meta, account }) => [
          h('strong.clip', { title: process ?? '' }, process ?? '–'),
          subLine([kind, meta, account].filter((part) => part != null && part !== '').join(' · ')),
        ],
      },
      {
        label: 'Reason',
        cell: ({ reason, event }) => [h('span.wrap', reason), eventDetails(event ?? {})],
      },
      {
        label: 'Rejected',
        isExtra: true,
        cell: ({ buried_at }) => momentElement(buried_at, nowMs()),
      },
      actionColumn(app.may('member'), actions),
    ],
  })

  const bury = button('Give up held events…', askToBury)
  const none = emptyState('No rejected events', note('Every event is in its store or on its way there.'))
  const letters = h(
    'div.card.card-table',
    h('h2', 'Rejected events'),
    note('Events that a store rejected permanently (dead letters), with the reason.'),
    table.element,
    none,
    more,
  )

  const poll = createPoll<readonly [Health, DeadPage]>({
    everyMs: () => EVERY_MS,
    ask: (signal) =>
      Promise.all([api.get<Health>('api/health', {}, signal), api.get<DeadPage>('api/dead', parameters, signal)]),
    show([health, page]) {
      setText(summary, describeDead(health.dead))
      if (older.length === 0) next = page.next
      const held = new Set(page.dead.map(({ id }) => id))
      const all = [...page.dead, ...older.filter(({ id }) => !held.has(id))]
      table.show(all)
      table.element.hidden = all.length === 0
      none.hidden = all.length > 0
      more.hidden = next === null
      const warnings = health.warnings.map(({ detail }) => note(detail))
      const isHeld = Object.values(health.destinations).some(({ state }) => state === 'parked')
      bury.hidden = !isOperator || !isHeld
      region.ready(nowMs(), ...warnings, deliveryCards(health, nowMs()), bury, summary, letters)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  async function loadMore(): Promise<void> {
    if (next === null) return
    try {
      const page = await api.get<DeadPage>('api/dead', { ...parameters, cursor: next })
      older = [...older, ...page.dead]
      next = page.next
      poll.now()
    } catch (error) {
      region.fail(error, () => void loadMore())
    }
  }

  function actions(letter: DeadLetter): HTMLElement[] {
    const about = `${letter.kind} of ${letter.process}`
    return [
      rowAction('Replay', about, () => askForReplay(letter)),
      rowAction('Delete', about, () => askForDrop(letter)),
    ]
  }
  const askAbout = ({ id }: DeadLetter, question: Question) =>
    createAsk(app, () => {
      older = older.filter((letter) => letter.id !== id)
      poll.now()
    })(question)
  function askForReplay(letter: DeadLetter): void {
    askAbout(letter, {
      title: 'Replay this event?',
      text: [
        'It is sent to its store again with its original time. If the store rejects it again, it returns to this list.',
      ],
      submitLabel: 'Replay event',
      send: ['POST', `api/dead/${encodeURIComponent(letter.id)}/replay${ofAll}`],
      done: 'Event queued for delivery.',
    })
  }
  function askForDrop(letter: DeadLetter): void {
    askAbout(letter, {
      title: 'Delete this event?',
      text: [`A ${letter.kind} of ${letter.process} is deleted permanently. This cannot be undone.`],
      submitLabel: 'Delete event',
      danger: true,
      send: ['DELETE', `api/dead/${encodeURIComponent(letter.id)}${ofAll}`],
      done: 'Event deleted.',
    })
  }

  function askToBury(): void {
    const reason = createField('reason', 'Reason', { required: true, maxlength: 500 })
    createAsk(app, () => poll.now())({
      title: 'Give up the events that the store refuses?',
      text: [
        'Delivery is paused by a foreign field type or a broken table. Events accepted until now that the store ' +
          'refuses become rejected events with this reason, of all accounts. You can replay them after the repair.',
      ],
      fields: [reason],
      submitLabel: 'Give up events',
      danger: true,
      send: ['POST', 'api/dead/held', () => ({ reason: reason.input.value })],
      done: 'Held events are being moved to the rejected events.',
    })
  }

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Health', 'Accepted events are kept on this machine’s disk until their store has them.'),
      region.element,
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

function deliveryCards({ spools, destinations }: Health, nowMs: number): HTMLElement {
  const cards = (['points', 'exceptions'] as const).map((name) => {
    const { records, bytes, oldest_s } = spools[name]
    const { store, state, reason, since } = destinations[name]
    const [tone, said] = STATES[state]
    return h(
      'div.card',
      h('header.card-header', h('h2', NAMES[name]), h('span', { class: `badge ${tone}` }, said)),
      h(
        'dl.facts.facts-row',
        h('div', h('dt', 'Waiting'), h('dd.figure', formatCount(records))),
        h('div', h('dt', 'On disk'), h('dd.figure', formatBytes(bytes))),
        h('div', h('dt', 'Oldest'), h('dd.figure', records === 0 ? '–' : `${formatCount(Math.round(oldest_s))} s`)),
        fact('Store', store),
        fact('Since', agoElement(since, nowMs)),
      ),
      reason !== undefined && h('p.banner.banner-warn.wrap', reason),
    )
  })
  return h('div.columns', ...cards)
}

function describeDead({ own, total }: Health['dead']): string {
  const all = total === undefined ? '' : ` All accounts: ${formatCount(total)}.`
  return `${own === 0 ? 'No rejected events' : plural(own, 'rejected event')}.${all}`
}

function eventDetails(event: object): HTMLElement {
  const text = h('pre', { tabindex: 0, 'aria-label': 'Event' })
  const details = h('details', h('summary', 'Event'), text)
  details.addEventListener('toggle', () => fill(text, JSON.stringify(event, null, 2)))
  return details
}
