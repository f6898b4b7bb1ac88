// The Exceptions page: groups by fingerprint, or a single group if the URL names one.
import type { ExceptionGroup, ExceptionGroups } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { openGroupPage } from '../exceptions/group-page.tsx'
import { createProcessFilter } from '../kit/ask-processes.ts'
import { actionColumn, createDataTable } from '../kit/data-table.ts'
import { fill, h, nameText, note, setText, svg } from '../kit/dom.ts'
import { createChoice, labelled } from '../kit/form.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { agoElement } from '../kit/format-time.ts'
import { toLine } from '../kit/line-chart.tsx'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.tsx'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { bucketsOf, chooseEvery, readRange } from '../kit/time-range.ts'
import { headline } from './exception-headline.ts'
import { createChangeStatus, createExports, STATUS_CHOICES, statusActions, statusBadge } from './group-status.ts'

const EVERY_MS = 5_000
const BARS_MAX = 40
const GROUPS_MAX = 200
const DEFAULT_RANGE = '-24h'
const TYPING_MS = 300

const keyOf = ({ fingerprint, process }: ExceptionGroup): string => `${fingerprint} ${process}`

interface Found {
  readonly groups: readonly ExceptionGroup[]
  readonly hasMore: boolean
  readonly hidden: ExceptionGroups['hidden']
  readonly processes: readonly ProcessEntry[]
}

/** The list, or the group that the address names. */
export function openExceptionsPage(app: App): Page {
  const element = h('div')
  let shown: Page | undefined
  let isGroup: boolean | undefined
  return {
    element,
    show(params) {
      if (params.has('group') !== isGroup) {
        shown?.close()
        isGroup = params.has('group')
        shown = isGroup ? openGroupPage(app) : openGroupList(app)
        fill(element, shown.element)
      }
      shown?.show(params)
    },
    close: () => shown?.close(),
  }
}

function openGroupList(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let question = ''
  const rangeOf = () => readRange(params, nowMs(), DEFAULT_RANGE)
  const change = (changes: Params, how?: 'replace') => app.go('exceptions', changeParams(params, changes), how)
  let typing: ReturnType<typeof setTimeout> | undefined
  const picker = createRangePicker((changes) => change(changes))
  const filter = createProcessFilter((changes) => change(changes))
  const chosen = () => ({ process: params.get('process') || undefined, meta: params.get('meta') ?? undefined })
  const search = h('input', {
    type: 'search',
    autocomplete: 'off',
    maxlength: 200,
    placeholder: 'Words of a text',
    oninput: () => {
      clearTimeout(typing)
      typing = setTimeout(() => change({ q: search.value.trim() || undefined }, 'replace'), TYPING_MS)
    },
  })
  const status = createChoice<string | undefined>('Status', (value) => change({ status: value }))
  const filters = h(
    'div.filters',
    { role: 'group', 'aria-label': 'Filter' },
    ...filter.elements,
    status.element,
    labelled('Search', search),
  )
  let found: Found | undefined
  let answeredMs = 0
  const region = createRegion()
  const total = h('p.muted', { role: 'status' })

  const table = createDataTable<ExceptionGroup>({
    caption: 'Groups of exceptions',
    keyOf,
    signatureOf: (group) => JSON.stringify(group) + params + Math.floor(nowMs() / 10_000),
    columns: [
      {
        label: 'Exception',
        cell: (group) => [
          h(
            'a.strong.clip',
            {
              title: headline(group.example),
              href: formatRoute(
                'exceptions',
                changeParams(params, { group: group.fingerprint, process: group.process }),
              ),
            },
            headline(group.example),
          ),
          h(
            'a.sub.clip',
            { href: formatRoute('process', { process: group.process }), title: group.process },
            nameText(group.process),
          ),
          ...statusBadge(group, nowMs()),
        ],
      },
      { label: 'When', isExtra: true, cell: (group) => countsLine(group) },
      { label: 'Count', isNumber: true, cell: ({ count }) => formatCount(count) },
      {
        label: 'First seen',
        isExtra: true,
        cell: ({ first_at }) => agoElement(first_at, nowMs()),
      },
      { label: 'Last seen', isMinor: true, cell: ({ last_at }) => agoElement(last_at, nowMs()) },
      actionColumn(app.may('member'), (group) => statusActions(group, act)),
    ],
  })
  const exports = createExports(app)
  const hiddenNote = h('p.muted')
  const card = h('div', h('div.card.card-table', table.element), exports.element)
  const act = createChangeStatus(app, region, () => poll.now())
  function countsLine({ counts = [], count }: ExceptionGroup): Node {
    const range = rangeOf()
    const buckets = bucketsOf(range, chooseEvery(range, BARS_MAX))
    return sparkline(
      toLine('', counts, buckets, (row) => row.count).values,
      `${plural(count, 'exception')} over the range`,
    )
  }

  const poll = createPoll<Found>({
    version: app.changes.version,
    everyMs: () => (rangeOf().isLive ? EVERY_MS : 0),
    async ask(signal) {
      const range = rangeOf()
      const query = {
        ...range.query,
        ...chosen(),
        text: params.get('q') || undefined,
        status: params.get('status') || undefined,
        every: chooseEvery(range, BARS_MAX),
        limit: GROUPS_MAX,
      }
      const [{ groups, next, hidden }, processes] = await Promise.all([
        api.get<ExceptionGroups>('api/exceptions/groups', query, signal),
        app.askProcesses(signal),
      ])
      return {
        groups,
        hidden,
        hasMore: next !== null,
        processes: processes.filter(({ kinds }) => kinds.includes('exception')),
      }
    },
    show(answer) {
      found = answer
      answeredMs = nowMs()
      show(answer)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  function show({ groups, hasMore, hidden, processes }: Found): void {
    filter.show(processes, chosen())
    status.show(STATUS_CHOICES, params.get('status') || undefined)
    const { resolved = 0, ignored = 0 } = hidden ?? {}
    const parts = [
      resolved > 0 && `${formatCount(resolved)} resolved`,
      ignored > 0 && `${formatCount(ignored)} ignored`,
    ]
    const hiddenText = parts.filter((part) => part !== false).join(' and ')
    hiddenNote.hidden = hiddenText === ''
    fill(
      hiddenNote,
      `${hiddenText} ${resolved + ignored === 1 ? 'group is' : 'groups are'} not shown. `,
      h('a', { href: formatRoute('exceptions', changeParams(params, { status: 'all' })) }, 'Show all'),
    )
    const { from, to } = rangeOf().query
    exports.show({ from, to, ...chosen(), text: params.get('q') || undefined })
    table.show(groups)
    const count = groups.reduce((sum, group) => sum + group.count, 0)
    setText(
      total,
      groups.length === 0
        ? ''
        : `${plural(count, 'exception')} in ${hasMore ? 'the newest ' : ''}${plural(groups.length, 'group')}` +
            (hasMore ? '; older groups are not shown: choose a shorter range or a process' : ''),
    )
    if (groups.length > 0) region.ready(answeredMs, total, hiddenNote, card)
    else if (params.get('q')) region.empty(answeredMs, 'No text in this range contains these words', hiddenNote)
    else if (params.get('status') || hiddenText !== '')
      region.empty(answeredMs, 'No such groups in this range', hiddenNote)
    else region.empty(answeredMs, 'No exceptions in this range', note('Good news, or the range is too short.'))
  }
  const list = [h('div.toolbar', picker.element, filters), region.element]

  return {
    element: h('div.page', pageHeader('Exceptions'), ...list),
    show(next) {
      params = next
      const range = rangeOf()
      picker.show(range, nowMs())
      if (document.activeElement !== search) search.value = params.get('q') ?? ''
      const asks = changeParams(params, {}).toString()
      if (asks === question && found !== undefined) return show(found)
      region.loading()
      question = asks
      poll.now()
    },
    close() {
      poll.stop()
      clearTimeout(typing)
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
