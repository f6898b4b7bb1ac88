// What people decided about a group of exceptions: its badge, the buttons that change it, and the filter of the list.

import type { ChangeExceptionGroup, ExceptionGroup } from '../../wire/exceptions.ts'
import { rowAction } from '../kit/data-table.ts'
import { type Child, fill, h, nameText } from '../kit/dom.ts'
import { agoElement } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { createAttempt, type Region } from '../kit/region.ts'
import { headline } from './exception-headline.ts'

const BADGES = {
  unresolved: undefined,
  regressed: ['badge-bad', 'Resolved, and raised again since'],
  resolved: ['badge-off', 'Resolved'],
  ignored: ['badge-off', 'Ignored'],
} as const satisfies Record<ExceptionGroup['status'], readonly [string, string] | undefined>

/** With who decided it, and when; nothing for a group without a decision. */
export function statusBadge({ status, status_by, status_at }: ExceptionGroup, nowMs: number): Child[] {
  const badge = BADGES[status]
  if (badge === undefined || status_by === null || status_at === null) return []
  const by = h(
    'span.sub',
    status === 'regressed' && 'resolved ',
    'by ',
    nameText(status_by),
    ' ',
    agoElement(status_at, nowMs),
  )
  return [h(`span.badge.${badge[0]}`, { title: badge[1] }, status), by]
}

const ACTIONS = [
  ['Resolve', 'resolved'],
  ['Ignore', 'ignored'],
  ['Reopen', 'unresolved'],
] as const

type ChangeStatus = (group: ExceptionGroup, status: ChangeExceptionGroup['status']) => Promise<void>

export const statusActions = (group: ExceptionGroup, change: ChangeStatus): HTMLElement[] =>
  ACTIONS.filter(
    ([, status]) => (status === 'unresolved') === (group.status === 'resolved' || group.status === 'ignored'),
  ).map(([label, status]) => rowAction(label, headline(group.example), () => change(group, status)))

export const STATUS_CHOICES = [
  { value: undefined, label: 'Unresolved' },
  { value: 'regressed', label: 'Regressed' },
  { value: 'resolved', label: 'Resolved' },
  { value: 'ignored', label: 'Ignored' },
  { value: 'all', label: 'All' },
] as const

/** `region` shows a failure. */
export const createChangeStatus =
  ({ api, announce }: App, region: Region, reload: () => void): ChangeStatus =>
  async ({ fingerprint, process }, status) => {
    try {
      await api.send('PATCH', `api/exceptions/groups/${encodeURIComponent(fingerprint)}`, { status, process })
      announce(`Group ${status}.`)
      reload()
    } catch (error) {
      region.fail(error, reload)
    }
  }

/** Downloads whole texts. A download names no account, so the session is asked first: another tab may change it. */
export function createExports({ api }: App) {
  const { fault, attempt } = createAttempt()
  const links = h('p.muted.export')
  const link = (format: string, label: string, query: readonly [string, string][]) => {
    const href = `api/exceptions/export?${new URLSearchParams([...query, ['format', format]])}`
    const onclick = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return // the browser's own
      event.preventDefault()
      void attempt(async () => {
        await api.get('api/changes')
        h('a', { href, download: true }).click()
      })
    }
    return h('a', { href, onclick }, label)
  }
  return {
    element: h('div', links, fault),
    show(query: Readonly<Record<string, string | undefined>>) {
      const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
      fill(links, 'Export whole texts: ', link('csv', 'CSV', given), ' ', link('jsonl', 'JSON lines', given))
    },
  }
}
