// Processes: each with what it did today and how it is getting on.
import type { ExceptionGroup, ProcessEntry, SummaryRow } from '../kit/answers.ts'
import { askProcesses } from '../kit/ask-processes.ts'
import { createDataTable, subLine } from '../kit/data-table.ts'
import { h } from '../kit/dom.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime, startOfDay, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { formatRoute } from '../kit/route.ts'
import { bucketsOf, toLine } from '../kit/series.ts'
import { sparkline } from '../kit/sparkline.ts'
import { readRange } from '../kit/time-range.ts'

const EVERY_MS = 10_000
const TREND = { from: '-24h', every: '1h' } as const

interface Row {
  readonly entry: ProcessEntry
  readonly today: SummaryRow | undefined
  readonly trend: readonly SummaryRow[]
  readonly exceptions: number
}

export function openProcessesPage(app: App): Page {
  const { api, nowMs } = app
  const region = createRegion()
  const none = () => h('span', { class: 'muted' }, '–')
  const number = (n: number) => (n === 0 ? none() : formatCount(n))

  const table = createDataTable<Row>({
    caption: 'Processes',
    keyOf: ({ entry }) => entry.process,
    signatureOf: (row) => JSON.stringify(row) + Math.floor(nowMs() / 10_000),
    columns: [
      {
        label: 'Process',
        cell: ({ entry: { process, metas } }) => [
          h(
            'a',
            { class: 'strong clip', title: process, href: formatRoute('runs', { process, from: '-24h' }) },
            process,
          ),
          subLine(tellMetas(metas)),
        ],
      },
      {
        label: 'Last seen',
        cell: ({ entry: { last_at } }) => timeElement(last_at, formatAgo(parseTime(last_at), nowMs())),
      },
      { label: 'Runs today', isNumber: true, isMinor: true, cell: ({ today }) => number(today?.count ?? 0) },
      {
        label: 'Running',
        isNumber: true,
        isMinor: true,
        cell: ({ today }) =>
          today?.running
            ? h(
                'span',
                { class: 'state state-running' },
                h('i', { class: 'mark mark-running' }),
                formatCount(today.running),
              )
            : none(),
      },
      { label: 'p95 over 24 h', isExtra: true, cell: ({ trend }) => trendOf(trend) },
      { label: 'p95 today', isNumber: true, isExtra: true, cell: ({ today }) => formatDuration(today?.p95_ms ?? null) },
      { label: 'Failures today', isNumber: true, cell: (row) => failures(row) },
    ],
  })
  const card = h('div', { class: 'card card-table' }, table.element)

  function trendOf(trend: readonly SummaryRow[]): Node {
    const buckets = bucketsOf(readRange(new URLSearchParams({ from: TREND.from }), nowMs()), TREND.every)
    const values = toLine('', trend, buckets, (row) => row.p95_ms).values
    const known = values.filter((value) => value !== null)
    if (known.length === 0) return none()
    return sparkline(
      'line',
      values,
      `p95 by the hour, from ${formatDuration(known[0]!)} to ${formatDuration(known.at(-1)!)}`,
    )
  }
  function failures({ entry: { process }, today, exceptions }: Row): Node {
    const unfinished = (today?.abandoned ?? 0) + (today?.orphan ?? 0)
    if (unfinished + exceptions === 0) return none()
    const from = new Date(startOfDay(nowMs())).toISOString()
    const to = new Date(nowMs()).toISOString()
    return h(
      'span',
      { class: 'failures' },
      exceptions > 0 && h('a', { href: formatRoute('exceptions', { process }) }, plural(exceptions, 'exception')),
      unfinished > 0 &&
        h(
          'a',
          {
            href: formatRoute('runs', {
              process,
              from,
              to,
              ...(today?.abandoned ? { state: 'abandoned' } : { state: 'orphan' }),
            }),
          },
          `${formatCount(unfinished)} unpaired`,
        ),
    )
  }

  const poll = createPoll<Row[]>({
    everyMs: () => EVERY_MS,
    async ask(signal) {
      const from = new Date(startOfDay(nowMs())).toISOString()
      const [processes, today, trend, { groups }] = await Promise.all([
        askProcesses(api, signal),
        api.get<{ rows: SummaryRow[] }>('api/timings/summary', { from }, signal),
        api.get<{ rows: SummaryRow[] }>('api/timings/summary', TREND, signal),
        api.get<{ groups: ExceptionGroup[] }>('api/exceptions/groups', { from, limit: 1000 }, signal),
      ])
      const trendBy = Map.groupBy(trend.rows, ({ process }) => process)
      return processes.map((entry) => ({
        entry,
        today: today.rows.find(({ process }) => process === entry.process),
        trend: trendBy.get(entry.process) ?? [],
        exceptions: groups.reduce((sum, group) => sum + (group.process === entry.process ? group.count : 0), 0),
      }))
    },
    show(rows) {
      table.show(rows)
      if (rows.length > 0) return region.ready(nowMs(), card)
      const first = h('a', { class: 'button button-main', href: formatRoute('welcome') }, 'Send the first event')
      region.empty(
        nowMs(),
        'No process yet',
        h('p', { class: 'muted' }, 'A process is there as soon as something is sent in its name.'),
        first,
      )
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  region.loading()
  return {
    element: h(
      'div',
      { class: 'page' },
      pageHeader('Processes', 'Everything that sent something in the last 30 days.'),
      region.element,
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

function tellMetas(metas: readonly (string | null)[]): string {
  const named = metas.filter((meta) => meta !== null)
  if (named.length === 0) return 'without meta'
  return named.length > 3
    ? `${named.slice(0, 3).join(', ')} and ${plural(named.length - 3, 'more', 'more')}`
    : named.join(', ')
}
