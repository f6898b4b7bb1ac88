// Runs: the live timeline, how long they took, and all of them as a table. The address holds the whole view; what is chosen here changes it.
import type { ProcessEntry, SummaryRow } from '../kit/answers.ts'
import { askProcesses } from '../kit/ask-processes.ts'
import { h } from '../kit/dom.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.ts'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { chooseEvery, fixRange, readRange } from '../kit/time-range.ts'
import type { Run } from '../timeline/run.ts'
import { createRunFeed, type RunsFound } from '../timeline/run-feed.ts'
import { createTimeline } from '../timeline/timeline.ts'
import { createRunChart } from './run-chart.ts'
import { createRunFilters, createStateChips, readRunQuery } from './run-filters.ts'
import { createRunPanel } from './run-panel.ts'
import { createRunTable } from './run-table.ts'

const RUNS_EVERY_MS = 2_000
const FIGURES_EVERY_MS = 10_000
const POINTS_MAX = 60

interface Figures {
  readonly totals: readonly SummaryRow[]
  readonly rows: readonly SummaryRow[]
}

export function openRunsPage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let processes: readonly ProcessEntry[] = []
  let found: RunsFound | undefined
  let figures: Figures | undefined
  let question = ''

  const change = (changes: Params) => app.go('runs', changeParams(params, { page: undefined, ...changes }))
  const choose = (run: Run) => app.go('runs', changeParams(params, { run: run.id }))
  const zoom = (fromMs: number, toMs: number) => change(fixRange(fromMs, toMs))
  const rangeOf = () => readRange(params, nowMs())

  const picker = createRangePicker(change)
  const filters = createRunFilters(change)
  const chips = createStateChips(change)
  const timeline = createTimeline({ nowMs, choose, zoom })
  const chart = createRunChart(change, zoom)
  const table = createRunTable({
    nowMs,
    choose,
    turnTo: (page) => app.go('runs', changeParams(params, { page: String(page) })),
  })
  const panel = createRunPanel(app, {
    close: () => app.go('runs', changeParams(params, { run: undefined })),
    choose: (id) => app.go('runs', changeParams(params, { run: id })),
  })
  const region = createRegion()
  const lower = h('div', { class: 'stack' }, chart.element, table.element)
  const feed = createRunFeed(api, nowMs)

  const runsPoll = createPoll<RunsFound>({
    everyMs: () => (rangeOf().isLive ? RUNS_EVERY_MS : 0),
    ask: (signal) => feed.refresh(rangeOf(), readRunQuery(params), signal, showRuns),
    show: showRuns,
    fail: (error) => region.fail(error, () => runsPoll.now()),
  })
  const figuresPoll = createPoll<Figures>({
    everyMs: () => (rangeOf().isLive ? FIGURES_EVERY_MS : 0),
    async ask(signal) {
      const range = rangeOf()
      const { process, meta, uid } = readRunQuery(params)
      const query = { ...range.query, process, meta, uid }
      const ask = (more: Params) =>
        api.get<{ rows: SummaryRow[] }>('api/timings/summary', { ...query, ...more }, signal)
      const [totals, series] = await Promise.all([ask({}), ask({ every: chooseEvery(range, POINTS_MAX) })])
      return { totals: totals.rows, rows: series.rows }
    },
    show(answer) {
      figures = answer
      showFigures()
    },
    fail() {}, // the runs beside it are asked for too and say what is wrong; these figures stay as they were
  })
  const processPoll = createPoll({
    everyMs: () => 30_000,
    ask: (signal) => askProcesses(api, signal),
    show(answer) {
      processes = answer
      filters.show(readRunQuery(params), processes)
    },
    fail() {}, // without it there is less to choose from, and the rest of the page tells the failure
  })

  function showFigures(): void {
    if (figures === undefined) return
    const range = rangeOf()
    const { process, state } = readRunQuery(params)
    chips.show(state, figures.totals)
    chart.show({
      ...figures,
      range,
      every: chooseEvery(range, POINTS_MAX),
      process,
      stat: params.get('stat'),
      nowMs: nowMs(),
    })
  }

  function showRuns(answer: RunsFound): void {
    found = answer
    const { fromMs, toMs, isLive } = rangeOf()
    const { runs } = answer
    const chosenId = params.get('run') ?? undefined
    lower.hidden = runs.length === 0
    if (runs.length === 0) {
      showNone(isLive)
      return
    }
    timeline.show(runs, { fromMs, toMs, isLive, chosenId })
    table.show(answer, Number(params.get('page') ?? 1) || 1, chosenId)
    region.ready(nowMs(), timeline.element)
  }

  function showNone(isLive: boolean): void {
    const text = isLive ? 'They appear here within two seconds after they start.' : 'Nothing ran in this range.'
    const wider = h(
      'a',
      { class: 'button', href: formatRoute('runs', changeParams(params, { from: '-7d', to: undefined })) },
      'Look at 7 days',
    )
    const first = h('a', { class: 'button', href: formatRoute('welcome') }, 'How to send one')
    region.empty(
      nowMs(),
      'No runs here',
      h('p', { class: 'muted' }, text),
      h('div', { class: 'button-row' }, wider, first),
    )
  }

  return {
    element: h(
      'div',
      { class: 'page with-panel' },
      h(
        'div',
        { class: 'stack' },
        pageHeader('Runs', 'Every start and its end, as they happen.'),
        h('div', { class: 'toolbar' }, picker.element, filters.element),
        h(
          'div',
          { class: 'card' },
          chips.element,
          region.element,
          h('p', { class: 'hint muted' }, 'Drag across to zoom, click a run to look into it.'),
        ),
        lower,
      ),
      panel.element,
    ),
    show(next) {
      params = next
      const query = readRunQuery(params)
      const range = rangeOf()
      const asks = JSON.stringify([range.query, query])
      picker.show(range, nowMs())
      filters.show(query, processes)
      chips.show(query.state, figures?.totals)
      panel.show(params.get('run') ?? undefined)
      if (question === '') processPoll.now()
      if (asks === question) {
        if (found !== undefined) showRuns(found)
        showFigures()
        return
      }
      question = asks
      region.loading()
      runsPoll.now()
      figuresPoll.now()
    },
    close() {
      for (const poll of [runsPoll, figuresPoll, processPoll]) poll.stop()
      timeline.close()
      chart.close()
      panel.close()
    },
  }
}
