// The Maintenance page: windows in which notifications are held back, once or repeating. Watches are judged as ever.

import type { Maintenance, Maintenances } from '../../wire/maintenance.ts'
import { describeNextDue } from '../../wire/next-due.ts'
import { actionColumn, createDataTable, rowAction } from '../kit/data-table.ts'
import { createAsk } from '../kit/dialog.ts'
import { button, h, nameText, note } from '../kit/dom.ts'
import { createField, createSelectField, offerFields, readInputs } from '../kit/form.ts'
import { formatMoment, momentElement, parseTime, readMoment, writeMoment, zoneName } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'

const EVERY_MS = 10_000
const HOUR_MS = 3_600_000

export function openMaintenancePage(app: App): Page {
  const { api, nowMs } = app
  const mayChange = app.may('member')
  const region = createRegion()
  const table = createDataTable<Maintenance>({
    caption: 'Maintenance',
    signatureOf: (window) => JSON.stringify([window, stateOf(window, nowMs())]),
    columns: [
      {
        label: 'State',
        isTight: true,
        cell: (window) => {
          const state = stateOf(window, nowMs())
          return h('span', { class: `badge badge-${state === 'active' ? 'warn' : 'off'}` }, state)
        },
      },
      { label: 'Process', cell: ({ process }) => h('strong', nameText(process)) },
      { label: 'When', cell: (window) => describeWhen(window, nowMs()) },
      actionColumn(mayChange, (window) => [
        window.active && rowAction('End now', window.process, () => askForEnd(window)),
        rowAction('Edit', window.process, () => askForMaintenance(window)),
        rowAction('Delete', window.process, () => askForDeletion(window)),
      ]),
    ],
  })
  const card = h('div.card.card-table', table.element)
  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<Maintenances>('api/maintenance', {}, signal),
    show({ maintenance }) {
      table.show(maintenance)
      if (maintenance.length > 0) return region.ready(nowMs(), card)
      region.empty(nowMs(), 'No maintenance', note('Plan one before you stop something that is watched.'))
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  const ask = createAsk(app, () => poll.now())

  function askForMaintenance(given?: Maintenance): void {
    const text = (at: string | null | undefined) => (at == null ? '' : writeMoment(parseTime(at)))
    const zone = `In ${zoneName(nowMs())}`
    const required = { required: true }
    const moment = { type: 'datetime-local', step: 1 }
    const tz = given?.repeat?.tz ?? (given ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone)
    const end = given === undefined ? writeMoment(nowMs() + HOUR_MS) : text(given.to)
    const process = createField(
      'process',
      'Process',
      { ...required, maxlength: 250, value: given?.process ?? '' },
      'Exact, or with * for any text; * alone is every process.',
    )
    const kind = createSelectField('', 'Happens', KINDS, given?.repeat == null ? 'once' : 'repeat')
    const from = createField('from', 'From', { ...moment, value: text(given?.from) }, `${zone}. Empty: now.`)
    const to = createField('to', 'Until', { ...moment, ...required, value: end }, `${zone}.`)
    const cron = createField('repeat/cron', 'Begins at (cron expression)', {
      ...required,
      maxlength: 200,
      placeholder: '0 2 * * 0',
      value: given?.repeat?.cron ?? '',
    })
    const zoneField = createField('repeat/tz', 'Time zone', { maxlength: 100, value: tz })
    const length = createField('repeat/length', 'Lasts', { ...required, value: given?.repeat?.length ?? '2h' })
    const isOnce = () => kind.input.value === 'once'
    // set by the API, or by "End now"; the form does not show them
    const limits = given?.repeat == null ? undefined : given
    const showKind = () => {
      offerFields(isOnce(), from, to)
      offerFields(!isOnce(), cron, zoneField, length)
    }
    kind.input.addEventListener('change', showKind)
    showKind()
    const at = (value: string) => (value === '' ? null : new Date(readMoment(value)).toISOString())
    const fields = [process, kind, from, to, cron, zoneField, length]
    const once = () => ({ from: at(from.input.value) ?? new Date(nowMs()).toISOString(), to: at(to.input.value) })
    const read = () => ({
      ...{ from: limits?.from ?? null, to: limits?.to ?? null, repeat: null },
      ...readInputs(fields.map(({ input }) => input)),
      ...(isOnce() && once()),
    })
    ask({
      title: given === undefined ? 'Plan maintenance' : 'Edit maintenance',
      text: ['Notifications are held back. What still fires at the end is notified then.'],
      fields,
      content: [h('div.field-pair', ...fields.map(({ element }) => element))],
      submitLabel: given === undefined ? 'Plan maintenance' : 'Save maintenance',
      send: given === undefined ? ['POST', 'api/maintenance', read] : ['PATCH', `api/maintenance/${given.id}`, read],
      done: 'Maintenance saved.',
    })
  }

  /** One that repeats continues with the next time. */
  function askForEnd({ id, process, repeat, until }: Maintenance): void {
    const isLast = repeat === null || until === null // its stretches may have no break between them
    const change = () => (isLast ? { to: new Date(nowMs()).toISOString() } : { from: until })
    ask({
      title: `End the maintenance of ${process} now?`,
      text: [`What still fires is notified at once.${isLast ? '' : ' It repeats at the next time.'}`],
      submitLabel: 'End now',
      send: ['PATCH', `api/maintenance/${id}`, change],
      done: 'Maintenance ended.',
    })
  }

  function askForDeletion({ id, process, active }: Maintenance): void {
    ask({
      title: `Delete the maintenance of ${process}?`,
      text: [active ? 'It ends: what still fires is notified at once.' : 'Notifications are no longer held back then.'],
      submitLabel: 'Delete maintenance',
      danger: true,
      send: ['DELETE', `api/maintenance/${id}`],
      done: 'Maintenance deleted.',
    })
  }

  region.loading()
  const plan = button('Plan maintenance', () => askForMaintenance(), { class: 'button button-main' })
  const lead = 'Notifications are held back in these windows; watches are judged as ever.'
  return {
    element: h('div.page', pageHeader('Maintenance', lead, mayChange && plan), region.element),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

const KINDS = { once: 'once', repeat: 'repeatedly' }

function stateOf({ active, to, repeat }: Maintenance, nowMs: number): string {
  if (active) return 'active'
  if (to !== null && parseTime(to) <= nowMs) return 'over'
  return repeat === null ? 'planned' : 'repeating'
}

function describeWhen({ from, to, repeat, until, next_due }: Maintenance, nowMs: number): (HTMLElement | string)[] {
  const bound = (word: string, at: string | null) =>
    at === null ? '' : `${word} ${formatMoment(parseTime(at), nowMs)}`
  if (repeat === null) return [`${bound('', from)} ${bound('until', to)}`.trim()]
  const due = describeNextDue(repeat, next_due) ?? ''
  const limits = [bound('from', from), bound('until', to), due].filter((text) => text !== '').join(', ')
  return [
    h('code', repeat.cron),
    ` ${repeat.tz ?? 'UTC'}, for ${repeat.length}`,
    h('span.sub', until === null ? limits : `now until ${formatMoment(parseTime(until), nowMs)}`),
  ]
}

/** Says on Home and on Watches that notifications are held back; nothing without an active maintenance. */
export function maintenanceNotice(all: readonly Maintenance[], nowMs: number): HTMLElement | false {
  const active = all.filter((window) => window.active)
  if (active.length === 0) return false
  const items = active.map(({ process, until }, i) => [
    i > 0 && ', ',
    process === '*' ? 'every process' : nameText(process),
    ...(until === null ? [] : [' until ', momentElement(until, nowMs)]),
  ])
  return h(
    'p.banner.banner-warn',
    { role: 'status' },
    h('a', { href: '#/maintenance' }, 'Maintenance'),
    ': notifications are held back for ',
    ...items.flat(),
    '.',
  )
}
