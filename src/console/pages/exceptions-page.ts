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
const YEAR = '-365d'
const FIRST_EVERY_MS = 600_000

const keyOf = ({ fingerprint, process }: ExceptionGroup): string => `${fingerprint} ${process}`

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
  const search = h('input', {
    id: 'exception-search',
    type: 'search',
    autocomplete: 'off',
    placeholder: 'Any part of a text',
    oninput: () => app.go('exceptions', changeParams(params, { q: search.value || undefined }), 'replace'),
  })
  const searchField = h('div.field', h('label', { for: 'exception-search' }, 'Search'), search)
  const filters = h('div.filters', { role: 'group', 'aria-label': 'Filter' }, ...filter.elements, searchField)
  let found: Found | undefined
  /** The first time of each group in the last year, by `keyOf`. */
  let firsts = new Map<string, string>()
  const region = createRegion()
  const total = h('p.muted', { role: 'status' })
  const view = createGroupView(app)
  const place = h('div.stack')

  const table = createDataTable<ExceptionGroup>({
    caption: 'Groups of exceptions',
    keyOf,
    signatureOf: (group) =>
      JSON.stringify([firstOf(group), group.count, group.last_at, group.counts]) + Math.floor(nowMs() / 10_000),
    toExport: (group) => {
      const { fingerprint, process, count, last_at, example } = group
      return { fingerprint, process, count, first_at: firstOf(group), last_at, example }
    },
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
        label: 'First seen',
        isExtra: true,
        cell: (group) => agoElement(firstOf(group), nowMs()),
      },
      { label: 'Last seen', cell: ({ last_at }) => agoElement(last_at, nowMs()) },
    ],
  })
  const firstOf = (group: ExceptionGroup) => firsts.get(keyOf(group)) ?? group.first_at
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
    show(answer) {
      found = answer
      show(answer)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  const firstPoll = createPoll<ExceptionGroups>({
    everyMs: () => FIRST_EVERY_MS,
    ask: (signal) => api.get('api/exceptions/groups', { from: YEAR, ...chosen(), limit: GROUPS_MAX }, signal),
    show({ groups }) {
      firsts = new Map(groups.map((group) => [keyOf(group), group.first_at]))
      if (found !== undefined) show(found)
    },
    fail() {}, // then the first time in the range is shown
  })

  function show({ groups: all, hasMore, processes }: Found): void {
    filter.show(processes, chosen())
    const words = (params.get('q') ?? '').toLocaleLowerCase().split(/\s+/)
    const groups = all.filter(({ example, process }) => {
      const text = `${example} ${process}`.toLocaleLowerCase()
      return words.every((word) => text.includes(word))
    })
    table.show(groups)
    const count = groups.reduce((sum, group) => sum + group.count, 0)
    setText(
      total,
      groups.length === 0
        ? ''
        : `${plural(count, 'exception')} in ${hasMore ? 'the newest ' : ''}${plural(groups.length, 'group')}${hasMore ? '; older groups are not shown: choose a shorter range or a process' : ''}`,
    )
    if (groups.length > 0) region.ready(nowMs(), total, card)
    else if (all.length > 0)
      region.empty(nowMs(), 'No text contains this', note('The newest text of each group is searched.'))
    else region.empty(nowMs(), 'No exceptions in this range', note('Good news, or the range is too short.'))
  }
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
      if (document.activeElement !== search) search.value = params.get('q') ?? ''
      const asks = changeParams(params, { q: undefined }).toString()
      if (asks === question && found !== undefined) return show(found)
      region.loading()
      question = asks
      poll.now()
      firstPoll.now()
    },
    close() {
      poll.stop()
      firstPoll.stop()
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
