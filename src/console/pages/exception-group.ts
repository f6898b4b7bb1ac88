// One group of exceptions: their shared pattern, occurrences over time, and the newest texts as sent.
import type { ExceptionGroup, ExceptionGroups, ExceptionText } from '../../wire/exceptions.ts'
import { countTicks } from '../kit/axis-values.ts'
import { copyIcon } from '../kit/copy-button.ts'
import { fact, fill, h, nameText, note } from '../kit/dom.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatAgo, formatMoment, momentElement, parseTime, timeElement } from '../kit/format-time.ts'
import { createLineChart, toLine } from '../kit/line-chart.tsx'
import type { App } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.tsx'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { bucketsOf, chooseEvery, describeEvery, fixRange, readRange } from '../kit/time-range.ts'
import { EMPTY_TEXT } from './exception-headline.ts'
import { createChangeStatus, createExports, statusActions, statusBadge } from './group-status.ts'

const EVERY_MS = 5_000
const POINTS_MAX = 60
const TEXTS = 10
const RANGE = '-24h'

interface Found {
  readonly group: ExceptionGroup | undefined
  readonly texts: readonly ExceptionText[]
}

export function createGroupView(app: App) {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  const rangeOf = () => readRange(params, nowMs(), RANGE)
  const back = h('a.back', 'All groups')
  const picker = createRangePicker((changes) => app.go('exceptions', changeParams(params, changes)))
  const region = createRegion()
  const chart = createLineChart({
    title: 'Occurrences',
    formatValue: formatCount,
    look: 'bars',
    ticksOf: countTicks,
    zoom: (fromMs, toMs) => app.go('exceptions', changeParams(params, fixRange(fromMs, toMs))),
  })
  const head = h('div')
  const texts = h('div.texts')
  const chartCard = h('div.card', chart.element)
  const exports = createExports(app)
  const textCard = h('div.card', h('h2', 'Newest texts'), texts, exports.element)
  const status = h('div.toolbar')
  const act = createChangeStatus(app, region, () => poll.now())

  const poll = createPoll<Found>({
    version: app.changes.version,
    everyMs: () => (rangeOf().isLive ? EVERY_MS : 0),
    async ask(signal) {
      const range = rangeOf()
      const query = {
        ...range.query,
        fingerprint: params.get('group') ?? '',
        process: params.get('process') || undefined,
        meta: params.get('meta') ?? undefined,
      }
      const [{ groups }, { exceptions }] = await Promise.all([
        api.get<ExceptionGroups>('api/exceptions/groups', { ...query, every: chooseEvery(range, POINTS_MAX) }, signal),
        api.get<{ exceptions: ExceptionText[] }>('api/exceptions', { ...query, limit: TEXTS }, signal),
      ])
      return { group: groups[0], texts: exceptions }
    },
    show({ group, texts: newest }) {
      if (group === undefined)
        return region.empty(nowMs(), 'No exception of this group in this range', note('Choose a longer range.'))
      fill(head, headOf(group, rangeParams(params), nowMs()))
      fill(
        status,
        ...statusBadge(group, nowMs()),
        app.may('member') && h('div.button-row', ...statusActions(group, act)),
      )
      const { from, to } = rangeOf().query
      exports.show({ from, to, fingerprint: group.fingerprint, process: group.process })
      showChart(group)
      fill(texts, ...newest.map((text) => textItem(text, nowMs())))
      region.ready(nowMs(), status, head, chartCard, textCard)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  function showChart({ counts = [], count }: ExceptionGroup): void {
    const range = rangeOf()
    const every = chooseEvery(range, POINTS_MAX)
    const atMs = bucketsOf(range, every)
    const line = toLine('Exceptions', counts, atMs, (row) => row.count)
    const values = line.values.map((value) => value ?? 0)
    chart.show(
      { atMs, lines: [{ ...line, values }], fromMs: range.fromMs, toMs: range.toMs },
      `${plural(count, 'exception')}, in ${describeEvery(every)}.`,
      nowMs(),
    )
  }

  return {
    element: h('div.stack', h('p', back), h('div.toolbar', picker.element), region.element),
    show(next: URLSearchParams) {
      if (next.get('group') !== params.get('group')) region.reset()
      params = next
      picker.show(rangeOf(), nowMs())
      back.setAttribute(
        'href',
        formatRoute('exceptions', changeParams(params, { group: undefined, process: undefined })),
      )
      region.loading()
      poll.now()
    },
    pause: () => poll.pause(),
    close() {
      poll.stop()
      chart.close()
    },
  }
}

function headOf(
  { process, count, first_at, last_at, fingerprint, normalized }: ExceptionGroup,
  range: Params,
  nowMs: number,
): HTMLElement {
  const when = (at: string) => [momentElement(at, nowMs), h('span.sub', formatAgo(parseTime(at), nowMs))]
  return h(
    'div.card',
    h(
      'dl.facts.facts-row',
      fact('Process', h('a', { href: formatRoute('runs', { process, ...range }) }, nameText(process))),
      fact('Count', formatCount(count)),
      fact('First seen', ...when(first_at)),
      fact('Last seen', ...when(last_at)),
      fact(
        'Fingerprint',
        h('code', fingerprint),
        ' ',
        copyIcon('Copy fingerprint', () => fingerprint),
      ),
    ),
    normalized !== undefined && h('h2', 'Shared pattern'),
    normalized !== undefined && note('The fingerprint is a hash of this text; parts that vary are placeholders.'),
    normalized !== undefined &&
      h(
        'pre.normalized',
        { tabindex: 0, 'aria-label': 'Normalised text' },
        ...markPlaceholders(normalized || EMPTY_TEXT),
      ),
  )
}

/** The range from the URL, for links to the Runs page. */
const rangeParams = (params: URLSearchParams): Params => ({
  from: params.get('from') ?? RANGE,
  to: params.get('to') ?? undefined,
})

const PLACEHOLDER = /(<(?:uuid|date|address|number|string)>)/

const markPlaceholders = (text: string) =>
  text.split(PLACEHOLDER).map((part) => (PLACEHOLDER.test(part) ? h('mark', part) : part))

const textItem = ({ at, process, meta, exception }: ExceptionText, nowMs: number) => {
  const aroundMs = parseTime(at)
  const around = fixRange(aroundMs - 300_000, Math.min(nowMs, aroundMs + 300_000))
  return h(
    'article',
    h(
      'p.texts-head',
      timeElement(at, formatMoment(aroundMs, nowMs)),
      h('span.muted', meta ?? ''),
      h('a', { href: formatRoute('runs', { process, ...around }) }, 'Runs at that time'),
    ),
    h('pre', { tabindex: 0, 'aria-label': 'Exception as it was sent' }, exception || EMPTY_TEXT),
  )
}
