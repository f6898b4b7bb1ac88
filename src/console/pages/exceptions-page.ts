// The Exceptions page: groups by fingerprint, or a single group if the URL names one.
import type { ExceptionGroup, ExceptionGroups } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { createProcessFilter } from '../kit/ask-processes.ts'
import { createDataTable, subLine } from '../kit/data-table.ts'
import { fill, h, note, setText, svg } from '../kit/dom.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { agoElement } from '../kit/format-time.ts'
import { toLine } from '../kit/line-chart.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.ts'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { bucketsOf, chooseEvery, readRange } from '../kit/time-range.ts'
import { createGroupView, headline } from './exception-group.ts'

const EVERY_MS = 5_000
const BARS_MAX = 40
const GROUPS_MAX = 200
const DEFAULT_RANGE = '-24h'

interface Found {
  readonly groups: readonly ExceptionGroup[]
  readonly hasMore: boolean
  readonly processes: readonly ProcessEntry[]
}

export function openExceptionsPage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let question = ''
  const rangeOf = () => readRange(params, nowMs(), DEFAULT_RANGE)
  const change = (changes: Params) => app.go('exceptions', changeParams(params, changes))
  const picker = createRangePicker(change)
  const filter = createProcessFilter(change)
  const chosen = () => ({ process: params.get('process') || undefined, meta: params.get('meta') ?? undefined })
  const filters = h('div.filters', { role: 'group', 'aria-label': 'Filter' }, ...filter.elements)
  const region = createRegion()
  const total = h('p.muted', { role: 'status' })
  const view = createGroupView(app)
  const place = h('div.stack')

  const table = createDataTable<ExceptionGroup>({
    caption: 'Groups of exceptions',
    keyOf: ({ fingerprint, process }) => `${fingerprint} ${process}`,
    signatureOf: (group) => JSON.stringify([group.count, group.last_at, group.counts]) + Math.floor(nowMs() / 10_000),
    toExport: ({ fingerprint, process, count, first_at, last_at, example }) => ({
      ...{ fingerprint, process, count, first_at, last_at, example },
    }),
    columns: [
      {
        label: 'Exception',
        cell: ({ fingerprint, process, example }) => [
          h(
            'a.strong.clip',
            {
              title: headline(example),
              href: formatRoute('exceptions', changeParams(params, { group: fingerprint, process })),
            },
            headline(example),
          ),
          subLine(process),
        ],
      },
      { label: 'When', isExtra: true, cell: (group) => countsLine(group) },
      { label: 'Count', isNumber: true, cell: ({ count }) => formatCount(count) },
      {
        label: 'First',
        isExtra: true,
        cell: ({ first_at }) => agoElement(first_at, nowMs()),
      },
      { label: 'Last', cell: ({ last_at }) => agoElement(last_at, nowMs()) },
    ],
  })
  const card = h('div.card.card-table', table.element)
  function countsLine({ counts = [], count }: ExceptionGroup): Node {
    const range = rangeOf()
    const buckets = bucketsOf(range, chooseEvery(range, BARS_MAX))
    return sparkline(
      toLine('', counts, buckets, (row) => row.count).values,
      `${plural(count, 'exception')} over the range`,
    )
  }

  const poll = createPoll<Found>({
    version: () => app.changes.version(),
    everyMs: () => (rangeOf().isLive ? EVERY_MS : 0),
    async ask(signal) {
      const range = rangeOf()
      const query = {
        ...range.query,
        ...chosen(),
        every: chooseEvery(range, BARS_MAX),
        limit: GROUPS_MAX,
      }
      const [{ groups, next }, processes] = await Promise.all([
        api.get<ExceptionGroups>('api/exceptions/groups', query, signal),
        app.askProcesses(signal),
      ])
      return { groups, hasMore: next !== null, processes: processes.filter(({ kinds }) => kinds.includes('exception')) }
    },
    show({ groups, hasMore, processes }) {
      filter.show(processes, chosen())
      table.show(groups)
      const count = groups.reduce((sum, group) => sum + group.count, 0)
      setText(
        total,
        groups.length === 0
          ? ''
          : `${plural(count, 'exception')} in ${hasMore ? 'the newest ' : ''}${plural(groups.length, 'group')}${hasMore ? '; older groups are not shown: choose a shorter range or a process' : ''}`,
      )
      if (groups.length > 0) return region.ready(nowMs(), total, card)
      region.empty(nowMs(), 'No exceptions in this range', note('Good news, or the range is too short.'))
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  const list = [h('div.toolbar', picker.element, filters), region.element]

  return {
    element: h('div.page', pageHeader('Exceptions', 'Similar exceptions are grouped.'), place),
    show(next) {
      params = next
      const group = params.get('group')
      if (group !== null) {
        poll.pause()
        fill(place, view.element)
        return view.show(params)
      }
      view.pause()
      fill(place, ...list)
      const range = rangeOf()
      picker.show(range, nowMs())
      const asks = params.toString()
      if (asks !== question) region.loading()
      question = asks
      poll.now()
    },
    close() {
      poll.stop()
      view.close()
    },
  }
}

const WIDTH = 120
const HEIGHT = 28
const TOP = 3

/** Counts over time as word-sized bars; null is a gap. `label` is for screen readers. */
function sparkline(values: readonly (number | null)[], label: string): SVGSVGElement {
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length)
  const bars = values.flatMap((value, i) => {
    const height = ((value ?? 0) / most) * (HEIGHT - TOP)
    return value ? [svg('rect', { x: i * step, y: HEIGHT - height, width: Math.max(1, step - 1), height })] : []
  })
  return svg(
    'svg.sparkline',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    svg('path', { d: `M0 ${HEIGHT - 0.5}H${WIDTH}` }),
    ...bars,
  )
}
