// The Metrics page: chosen metrics of one process, aggregated by interval; metas can be compared in one chart.
import type { MetricRow } from '../../wire/metrics.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { metaLabel, metaOptions, processOptions } from '../kit/ask-processes.ts'
import { button, fill, h, note } from '../kit/dom.ts'
import { createChoice } from '../kit/form.ts'
import { formatBytes, formatCompact, formatDuration, formatValue, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { createLineChart, toLine } from '../kit/line-chart.tsx'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.tsx'
import { createRegion } from '../kit/region.ts'
import { changeParams, type Params } from '../kit/route.ts'
import { bucketsOf, chooseEvery, describeEvery, fixRange, presetFor, readRange } from '../kit/time-range.ts'

const EVERY_MS = 5_000
const LEAST_RANGE_MS = 50 * 60_000
const POINTS_MAX = 90
const METAS_MAX = 6
const CHARTS_MAX = 6
const INTERVALS = ['10s', '1m', '5m', '15m', '1h', '1d'] as const
const STATS = ['mean', 'min', 'max', 'sum', 'last', 'count'] as const
type Stat = (typeof STATS)[number]
const STAT_TEXT: Readonly<Record<Stat, string>> = {
  mean: 'Mean',
  min: 'Min',
  max: 'Max',
  sum: 'Sum',
  last: 'Last',
  count: 'Count',
}

type Chart = ReturnType<typeof createLineChart>

interface Found {
  readonly processes: readonly ProcessEntry[]
  readonly process: string | undefined
  readonly every: string
  /** A single group unless metas are compared. */
  readonly groups: readonly { readonly label: string; readonly rows: readonly MetricRow[] }[]
}

export function openMetricsPage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let question = ''
  let found: Found | undefined
  let answeredMs = 0
  let charts = new Map<string, Chart>()

  /** A range that reaches back to the newest value, unless the URL names one. */
  let fallback = '-1h'
  const rangeOf = () => readRange(params, nowMs(), fallback)
  const change = (changes: Params) => app.go('metrics', changeParams(params, changes))
  const zoom = (fromMs: number, toMs: number) => change(fixRange(fromMs, toMs))
  const picker = createRangePicker(change)
  const process = createChoice<string | undefined>('Process', (value) =>
    change({ process: value, meta: undefined, names: undefined, by: undefined }),
  )
  const meta = createChoice<string | undefined>('Meta', (value) =>
    value === COMPARE ? change({ by: 'meta', meta: undefined }) : change({ by: undefined, meta: value }),
  )
  const every = createChoice<string | undefined>('Interval', (value) => change({ every: value }))
  const stat = createChoice<Stat>('Statistic', (value) => change({ stat: value === 'mean' ? undefined : value }))
  const names = h('div.chips', { role: 'group', 'aria-label': 'Names' })
  const region = createRegion()

  const poll = createPoll<Found>({
    version: app.changes.version,
    everyMs: () => (rangeOf().isLive ? EVERY_MS : 0),
    ask,
    show(answer) {
      found = answer
      answeredMs = nowMs()
      show()
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  async function ask(signal: AbortSignal): Promise<Found> {
    const processes = (await app.askProcesses(signal)).filter(({ kinds }) => kinds.includes('metric'))
    const newest = processes.toSorted((a, b) => (a.last_at < b.last_at ? 1 : -1))[0]
    const chosen = params.get('process') ?? newest?.process
    const entry = processes.find(({ process }) => process === chosen)
    if (entry !== undefined) fallback = presetFor(Math.max(nowMs() - parseTime(entry.last_at), LEAST_RANGE_MS))
    const range = rangeOf()
    const every = INTERVALS.find((known) => known === params.get('every')) ?? chooseEvery(range, POINTS_MAX)
    if (chosen === undefined) return { processes, process: undefined, every, groups: [] }
    const askRows = async (meta: string | undefined) =>
      (await api.get<{ rows: MetricRow[] }>('api/metrics', { ...range.query, process: chosen, meta, every }, signal))
        .rows
    const group = async (label: string, meta: string | undefined) => ({ label, rows: await askRows(meta) })
    if (params.get('by') !== 'meta')
      return { processes, process: chosen, every, groups: [await group(chosen, params.get('meta') ?? undefined)] }
    const metas = entry?.metas ?? []
    const groups = await Promise.all(metas.slice(0, METAS_MAX).map((meta) => group(metaLabel(meta), meta ?? '')))
    return { processes, process: chosen, every, groups }
  }

  function show(): void {
    if (found === undefined) return
    showControls(found)
    const all = [...new Set(found.groups.flatMap(({ rows }) => rows.map(({ name }) => name)))].toSorted((a, b) =>
      a.localeCompare(b),
    )
    const asked = params.getAll('name').filter((name) => all.includes(name))
    const shown = asked.length > 0 ? asked : all.slice(0, CHARTS_MAX)
    fill(names, ...all.map((name) => nameChip(name, shown)))
    if (found.process === undefined)
      showNone('No metrics yet', 'Send some with POST /v1/metrics: each name becomes a chart.')
    else if (all.length === 0) showNone('No metrics in this range', 'Choose a longer range or another process.')
    else showCharts(found, shown)
  }

  function showNone(title: string, text: string): void {
    region.empty(answeredMs, title, note(text))
  }

  function showControls({ processes, process: chosen }: Found): void {
    const isCompared = params.get('by') === 'meta'
    process.show(processOptions(processes, chosen, 'No process').slice(chosen === undefined ? 0 : 1), chosen)
    const metas = metaOptions(processes, chosen, params.get('meta') ?? undefined)
    const compare =
      metas.length > 2
        ? [{ value: COMPARE, label: metas.length - 1 > METAS_MAX ? `Compare the first ${METAS_MAX}` : 'Compare all' }]
        : []
    meta.show(
      [...metas.slice(0, 1), ...compare, ...metas.slice(1)],
      isCompared ? COMPARE : (params.get('meta') ?? undefined),
    )
    every.show(
      [{ value: undefined, label: 'Automatic' }, ...INTERVALS.map((value) => ({ value, label: value }))],
      INTERVALS.find((known) => known === params.get('every')),
    )
    stat.show(
      STATS.map((value) => ({ value, label: STAT_TEXT[value] })),
      statOf(),
    )
  }
  const statOf = (): Stat => STATS.find((known) => known === params.get('stat')) ?? 'mean'

  function nameChip(name: string, shown: readonly string[]): HTMLElement {
    const isShown = shown.includes(name)
    const next = isShown ? shown.filter((other) => other !== name) : [...shown, name]
    const toggle = () => {
      const changed = new URLSearchParams(params)
      changed.delete('name')
      for (const one of next) changed.append('name', one)
      app.go('metrics', changed)
    }
    return button(name, toggle, { class: 'chip', 'aria-pressed': String(isShown) })
  }

  function showCharts({ groups, every, process }: Found, shown: readonly string[]): void {
    const range = rangeOf()
    picker.show(range, nowMs())
    const atMs = bucketsOf(range, every)
    const stat = statOf()
    const kept = new Map<string, Chart>()
    for (const name of shown) {
      const key = `${process} ${name}`
      const chart =
        charts.get(key) ??
        createLineChart({
          title: name,
          formatValue: formatterOf(name),
          zoom,
        })
      kept.set(key, chart)
      const of = groups.map(({ label, rows }) => ({ label, rows: rows.filter((row) => row.name === name) }))
      const lines = of.map(({ label, rows }) =>
        toLine(groups.length > 1 ? label : STAT_TEXT[stat], rows, atMs, (row) => row[stat]),
      )
      chart.show(
        { atMs, lines, fromMs: range.fromMs, toMs: range.toMs },
        describe(
          of.flatMap(({ rows }) => rows),
          stat,
          every,
          stat === 'count' ? formatValue : formatterOf(name),
        ),
        nowMs(),
      )
    }
    for (const [key, chart] of charts) if (!kept.has(key)) chart.close()
    charts = kept
    region.ready(answeredMs, names, chartGrid([...kept.values()]))
  }
  const grid = h('div.charts')
  function chartGrid(shown: readonly Chart[]): HTMLElement {
    fill(grid, ...shown.map(({ element }) => cardOf(element)))
    return grid
  }
  const cards = new WeakMap<HTMLElement, HTMLElement>()
  function cardOf(element: HTMLElement): HTMLElement {
    const card = cards.get(element) ?? h('div.card', element)
    cards.set(element, card)
    return card
  }

  return {
    element: h(
      'div.page',
      pageHeader('Metrics'),
      h(
        'div.toolbar',
        picker.element,
        h(
          'div.filters',
          { role: 'group', 'aria-label': 'Filter' },
          process.element,
          meta.element,
          every.element,
          stat.element,
        ),
      ),
      region.element,
    ),
    show(next) {
      params = next
      const range = rangeOf()
      picker.show(range, nowMs())
      const asks = JSON.stringify([range.query, ...['process', 'meta', 'by', 'every'].map((name) => params.get(name))])
      if (asks === question) return show()
      question = asks
      region.loading()
      poll.now()
    },
    close() {
      poll.stop()
      for (const chart of charts.values()) chart.close()
    },
  }
}

/** Chosen by the unit at the end of a metric's name, such as `load_ms`, `seconds` or `heap bytes`. */
function formatterOf(name: string): (value: number) => string {
  const unit = /(?:^|[^a-z])(ms|milliseconds|s|secs?|seconds|bytes|percent|pct)$/i.exec(name)?.[1]?.toLowerCase()
  if (unit === 'ms' || unit === 'milliseconds')
    return (value) => (value < 0 ? formatValue(value) : formatDuration(value))
  if (unit === 'bytes') return (value) => (value < 0 ? formatValue(value) : formatBytes(value))
  if (unit === 'percent' || unit === 'pct') return (value) => `${formatValue(value)} %`
  if (unit !== undefined) return (value) => (value < 0 ? formatValue(value) : formatDuration(value * 1000))
  return (value) => (Math.abs(value) >= 1e5 ? formatCompact(value) : formatValue(value))
}

/** Never a real meta: control characters are stripped from those. */
const COMPARE = '\u0000compare'

function describe(rows: readonly MetricRow[], stat: Stat, every: string, format: (value: number) => string): string {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  if (count === 0) return 'No values in this range.'
  const least = rows.reduce((least, row) => Math.min(least, row.min), Number.POSITIVE_INFINITY)
  const most = rows.reduce((most, row) => Math.max(most, row.max), Number.NEGATIVE_INFINITY)
  const values = `${plural(count, 'value')} from ${format(least)} to ${format(most)}`
  return `${STAT_TEXT[stat]} in ${describeEvery(every)}. ${values}.`
}
