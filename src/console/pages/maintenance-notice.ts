// Says that notifications are held back.
import type { Maintenance } from '../../wire/maintenance.ts'
import { h, nameText } from '../kit/dom.ts'
import { momentElement } from '../kit/format-time.ts'

/** Says on Watches that notifications are held back; nothing without an active maintenance. */
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
