// Alerts as a table: who is on it, why it ended, and the run that it is about.
import type { Alert, EndedBy, Unjudged } from '../../wire/alerts.ts'
import type { Condition } from '../../wire/conditions.ts'
import { actionColumn, createDataTable, type DataTable, rowAction } from '../kit/data-table.ts'
import { type Child, h, nameText } from '../kit/dom.ts'
import { agoElement } from '../kit/format-time.ts'
import { formatRoute } from '../kit/route.ts'

const CONDITION_TEXT = {
  late: 'is late',
  long: 'is running too long',
  failed: 'failed',
  slow: 'was slower than usual',
} as const

/** In few words: process, meta and time are beside it, the time in the reader's zone. Of a metric, what the server says. */
function describeAlert(condition: Condition, summary: string): string {
  if (condition === 'metric') return summary
  return condition === 'failed' && summary.includes('exception') ? 'raised an exception' : CONDITION_TEXT[condition]
}

interface AlertTableOptions {
  nowMs(): number
  /** Whether this person may acknowledge and resolve. */
  readonly mayChange: boolean
  isChosen(alert: Alert): boolean
  act(method: 'POST' | 'DELETE', path: string, done: string): void
}

const ENDED_TEXT = {
  event: 'by itself',
  changed: 'its watch was changed',
  deleted: 'its watch was deleted',
  person: 'by hand',
  expired: 'nothing arrived any more',
} as const satisfies Record<EndedBy, string>

export function createAlertTable({ nowMs, mayChange, isChosen, act }: AlertTableOptions): DataTable<Alert> {
  const ago = (at: string): Child => agoElement(at, nowMs())
  const taken = ({ by, at }: NonNullable<Alert['acknowledged']>): Child[] => [
    ' · acknowledged by ',
    nameText(by),
    ' ',
    ago(at),
  ]
  return createDataTable<Alert>({
    caption: 'Alerts',
    isLong: true,
    isChosen,
    nowMs,
    columns: [
      {
        label: 'State',
        isTight: true,
        cell: ({ state, acknowledged }) => {
          if (state === 'resolved') return h('span.badge.badge-off', 'resolved')
          if (acknowledged === null) return h('span.badge.badge-bad', 'firing')
          return h('span.badge.badge-warn', 'acknowledged')
        },
      },
      {
        label: 'Alert',
        cell: ({ process, meta, summary, watch, path, state, acknowledged, ...alert }) => [
          h(
            'span',
            { title: summary },
            h('a.strong', { href: formatRoute('process', { process }) }, nameText(process)),
            ' ',
            h('a', { href: path.replace(/^\/#/, '#') }, describeAlert(alert.condition, summary)),
            meta !== null && h('span.muted', ' (', nameText(meta), ')'),
          ),
          h('span.sub', nameText(watch.name), ...(state === 'firing' && acknowledged ? taken(acknowledged) : [])),
        ],
      },
      { label: 'Since', isMinor: true, cell: ({ since }) => ago(since) },
      {
        label: 'Resolved',
        isExtra: true,
        cell: ({ resolved_at, ended_by }) =>
          resolved_at === null ? '–' : [ago(resolved_at), ended_by !== null && h('span.sub', ENDED_TEXT[ended_by])],
      },
      actionColumn(mayChange, ({ id, state, acknowledged, summary }) => {
        if (state !== 'firing') return []
        const path = `api/alerts/${id}/ack`
        const undo = () => act('DELETE', path, 'The alert is no longer acknowledged.')
        return [
          acknowledged === null
            ? rowAction('Acknowledge', summary, () => act('POST', path, 'Alert acknowledged.'))
            : rowAction('Undo', `acknowledgement of ${summary}`, undo),
          rowAction('Resolve', summary, () => act('POST', `api/alerts/${id}/resolve`, 'Alert resolved.')),
        ]
      }),
    ],
  })
}

/** Checks without a result, each with the reason. */
export const unjudgedList = (unjudged: readonly Unjudged[], nowMs: number): HTMLElement =>
  h(
    'section',
    h('h2', 'Could not be judged'),
    h(
      'ul.rows.card',
      ...unjudged.map(({ watch, condition, process, since, reason }) =>
        h(
          'li',
          h(
            'span.grow',
            h('strong', nameText([watch.name, process, condition].filter(Boolean).join(' · '))),
            ` ${reason}`,
          ),
          agoElement(since, nowMs),
        ),
      ),
    ),
  )
