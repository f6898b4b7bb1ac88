// The Audit log page: who did what in the account, for its owners, filtered by action and person.
import type { AuditEntry, AuditPage } from '../../wire/audit.ts'
import { AUDIT_ACTIONS } from '../../wire/audit-actions.ts'
import { createDataTable } from '../kit/data-table.ts'
import { button, h, note } from '../kit/dom.ts'
import { createField, createSelectField } from '../kit/form.ts'
import { formatAgo, parseTime, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createRegion } from '../kit/region.ts'

const ROWS = 100
const RANGES = { '-1d': 'Last day', '-7d': 'Last 7 days', '-30d': 'Last 30 days', '': 'Last 365 days' }

/** `key_created` → `Key created` */
const wordAction = (action: string): string => {
  const words = action.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function openAuditPage(app: App): Page {
  const { api } = app
  const region = createRegion()
  const actions = Object.fromEntries(AUDIT_ACTIONS.map((action) => [action, wordAction(action)]))
  const action = createSelectField('action', 'Action', { '': 'Everything', ...actions }, '')
  const actor = createField('actor', 'Person', { type: 'email', placeholder: 'ada@example.com' })
  const range = createSelectField('from', 'Time', RANGES, '-30d')
  const more = button('Show more', () => void load(true))
  let entries: AuditEntry[] = []
  let next: string | null = null
  let isClosed = false
  let asked = 0

  const table = createDataTable<AuditEntry & { readonly row: number }>({
    caption: 'Audit log',
    keyOf: ({ row }) => String(row),
    nowMs: app.nowMs,
    columns: [
      { label: 'When', isTight: true, cell: ({ at }) => timeElement(at, formatAgo(parseTime(at), app.nowMs())) },
      { label: 'Who', cell: ({ actor: who, key }) => who ?? (key === null ? 'unknown' : h('code', key)) },
      { label: 'Action', cell: ({ action: done }) => wordAction(done) },
      {
        label: 'What',
        isMinor: true,
        cell: ({ target, detail }) => [target, detail].filter((text) => text !== null).join(' · '),
      },
      { label: 'Address', isExtra: true, cell: ({ address }) => h('code', address) },
    ],
  })
  const card = h('div', h('div.card.card-table', table.element), more)

  async function load(isMore: boolean): Promise<void> {
    const mine = ++asked
    try {
      const page = await api.get<AuditPage>('api/audit', {
        limit: ROWS,
        action: action.input.value || undefined,
        actor: actor.input.value.trim() || undefined,
        from: range.input.value || undefined,
        cursor: isMore && next !== null ? next : undefined,
      })
      if (isClosed || mine !== asked) return
      entries = isMore ? [...entries, ...page.entries] : page.entries
      next = page.next
      more.hidden = next === null
      table.show(entries.map((entry, row) => ({ ...entry, row: entries.length - row })))
      if (entries.length > 0) region.ready(app.nowMs(), card)
      else region.empty(app.nowMs(), 'No entries', note('Nothing like this was done in that time.'))
    } catch (error) {
      if (!isClosed && mine === asked) region.fail(error, () => void load(isMore))
    }
  }
  for (const { input } of [action, actor, range]) input.addEventListener('change', () => void load(false))

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Audit log', 'Who did what in this account, newest first. Kept for 365 days.'),
      h('div.filters', action.element, actor.element, range.element),
      region.element,
    ),
    show: () => void load(false),
    close() {
      isClosed = true
    },
  }
}
