// The Runs page: live timeline, durations and table. The URL holds the whole view; every choice on the page changes the
// URL.
import type { ExceptionText } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { LatestTimings, Summary, SummaryRow, Timing } from '../../wire/timings.ts'
import { h, note, setText } from '../kit/dom.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { createCrosshair } from '../kit/line-chart.ts'
import type { App, Page } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRangePicker } from '../kit/range-picker.ts'
import { createRegion } from '../kit/region.ts'
import { changeParams, formatRoute, type Params } from '../kit/route.ts'
import { chooseEvery, describeEvery, fixRange, readRange } from '../kit/time-range.ts'
import { headline } from '../pages/exception-headline.ts'
import { belongsTo, type ExceptionMark } from '../timeline/geometry.ts'
import type { OlderRuns } from '../timeline/picture.ts'
import { type Run, toRun } from '../timeline/run.ts'
import { createRunFeed, type RunsFound } from '../timeline/run-feed.ts'
import { createTimeline } from '../timeline/timeline.ts'
import { usualMsFor } from '../timeline/usual.ts'
import { countOlder, countRuns } from './count-older.ts'
import { createRunChart } from './run-chart.ts'
import { createLoadProgress, createRunFilters, createRunStates, readRunQuery } from './run-filters.ts'
import { createRunHeader } from './run-header.ts'
import { createRunPanel } from './run-panel.ts'
import { createRunTable } from './run-table.ts'

const RUNS_EVERY_MS = 2_000
const FIGURES_EVERY_MS = 30_000
const USUAL_EVERY_MS = 600_000
const POINTS_MAX = 60
/** Limits the ticks on the timeline: each comes with its text. */
const EXCEPTIONS_MAX = 200
const USUAL = { from: '-30d', each: 21 } as const

interface Raised extends ExceptionMark {
  readonly text: string
}

interface Figures {
  readonly totals: readonly SummaryRow[]
  readonly rows: readonly SummaryRow[]
}

export function openRunsPage(app: App): Page {
  const { api, nowMs } = app
  let params = new URLSearchParams()
  let processes: readonly ProcessEntry[] = []
  let found: RunsFound | undefined
  let answeredMs = 0
  let figures: Figures | undefined
  let exceptions: readonly Raised[] = []
  let older: OlderRuns | undefined
  let latest = new Map<string, Run[]>()
  let question = ''

  const change = (changes: Params) => app.go('runs', changeParams(params, { page: undefined, ...changes }))
  const choose = (run: Run) => app.go('runs', changeParams(params, { run: run.id }))
  const chooseProcess = (process: string) => change({ process, meta: undefined })
  const zoom = (fromMs: number, toMs: number, process?: string) =>
    change({ ...fixRange(fromMs, Math.min(toMs, nowMs())), ...(process !== undefined && { process }) })
  const rangeOf = () => readRange(params, nowMs())
  const isLive = () => rangeOf().isLive

  const crosshair = createCrosshair()
  const header = createRunHeader()
  const picker = createRangePicker(change)
  const filters = createRunFilters(change)
  const chips = createRunStates(change)
  const timeline = createTimeline({ crosshair, nowMs, choose, chooseProcess, zoom })
  const chart = createRunChart({ api, crosshair, change, choose, zoom })
  const progress = createLoadProgress()
  const table = createRunTable({
    nowMs,
    choose,
    whyOf: (run) => exceptions.find((raised) => belongsTo(raised, run, found?.runs ?? []))?.text,
    turnTo: (page) => app.go('runs', changeParams(params, { page: String(page) })),
  })
  const panel = createRunPanel(app, {
    close: () => app.go('runs', changeParams(params, { run: undefined })),
    choose: (id) => app.go('runs', changeParams(params, { run: id })),
  })
  const region = createRegion()
  const hint = h('p.sub', 'Drag to zoom in. Click a run to open it, or a name to see only that process.')
  const unloaded = h('p.sub', { hidden: true })
  const lower = h('div.stack', { hidden: true }, table.element, chart.element)
  const feed = createRunFeed(api, nowMs, () => app.changes.late())

  const runsPoll = createPoll<RunsFound>({
    version: app.changes.version,
    everyMs: () => (isLive() ? RUNS_EVERY_MS : 0),
    ask: (signal) => feed.refresh(rangeOf(), readRunQuery(params), signal, showNew),
    show: showNew,
    fail: (error) => region.fail(error, () => runsPoll.now()),
  })
  const figuresPoll = createPoll<Figures>({
    version: app.changes.version,
    everyMs: () => (isLive() ? FIGURES_EVERY_MS : 0),
    async ask(signal) {
      const range = rangeOf()
      const { process, meta, uid } = readRunQuery(params)
      const query = { ...range.query, process, meta, uid }
      const ask = (more: Params) => api.get<Summary>('api/timings/summary', { ...query, ...more }, signal)
      const [totals, series] = await Promise.all([ask({}), ask({ every: chooseEvery(range, POINTS_MAX) })])
      return { totals: totals.rows, rows: series.rows }
    },
    show(answer) {
      figures = answer
      showFigures()
      if (found === undefined) return
      showProgress(found)
      showOlder(found)
      showTimeline(found)
    },
    fail() {}, // the poll of the runs reports the failure; the figures stay as they are
  })
  const exceptionPoll = createPoll<readonly Raised[]>({
    version: app.changes.version,
    everyMs: () => (isLive() ? FIGURES_EVERY_MS : 0),
    async ask(signal) {
      if (found?.runs.every((run) => run.exceptions === 0)) return []
      const { process, meta } = readRunQuery(params)
      const query = { ...rangeOf().query, process, meta, limit: EXCEPTIONS_MAX }
      const answer = await api.get<{ exceptions: ExceptionText[] }>('api/exceptions', query, signal)
      return answer.exceptions.map(({ at, process, meta, uid = null, exception }) => ({
        ...{ atMs: parseTime(at), process, meta, uid, text: headline(exception) },
      }))
    },
    show(answer) {
      exceptions = answer
      if (found === undefined) return
      showTimeline(found)
      showTable(found)
    },
    fail() {}, // the poll of the runs reports the failure
  })
  /** Loaded only while something is running: nothing else can be overdue. */
  const usualPoll = createPoll<readonly Timing[]>({
    everyMs: () => USUAL_EVERY_MS,
    async ask(signal) {
      if (found?.runs.some(({ state }) => state === 'running') !== true) return []
      const { process } = readRunQuery(params)
      return (await api.get<LatestTimings>('api/timings/latest', { ...USUAL, process }, signal)).timings
    },
    show(timings) {
      latest = Map.groupBy(timings.map(toRun), ({ process }) => process)
      if (found !== undefined) showTimeline(found)
    },
    fail() {}, // without it no run is marked as overdue
  })
  const processPoll = createPoll({
    everyMs: () => 300_000,
    ask: (signal) => app.askProcesses(signal),
    show(answer) {
      processes = answer
      filters.show(readRunQuery(params), processes)
    },
    fail() {}, // the filters offer less; the poll of the runs reports the failure
  })

  function showFigures(): void {
    if (figures === undefined) return
    const range = rangeOf()
    const { process, meta, uid, state } = readRunQuery(params)
    chips.show(state, figures.totals)
    chart.show({
      ...figures,
      runs: found?.isPartial === false && state === undefined ? found.runs : undefined,
      range,
      every: chooseEvery(range, POINTS_MAX),
      filter: { process, meta, uid },
      stat: params.get('stat'),
      compares: params.get('compare') !== null,
      nowMs: nowMs(),
    })
  }

  function showTimeline({ runs }: RunsFound): void {
    const { fromMs, toMs, isLive } = rangeOf()
    const chosenId = params.get('run') ?? undefined
    const usualMs = (run: Run) => usualMsFor(run, latest.get(run.process) ?? [])
    timeline.show(runs, { fromMs, toMs, isLive, chosenId, exceptions, older, usualMs })
  }

  function showProgress({ runs, isPartial }: RunsFound): void {
    const { state } = readRunQuery(params)
    const total = figures?.totals.reduce((sum, row) => sum + countRuns(row, state), 0)
    progress.show(isPartial ? { loaded: runs.length, total: state === 'trouble' ? undefined : total } : undefined)
  }

  function showNew(answer: RunsFound): void {
    answeredMs = nowMs()
    showRuns(answer)
  }

  function showRuns(answer: RunsFound): void {
    const isFirst = found?.isPartial !== false
    const hasNews = answer !== found
    found = answer
    showProgress(answer)
    lower.hidden = answer.runs.length === 0
    if (isFirst && !answer.isPartial) {
      usualPoll.now()
      exceptionPoll.now()
    }
    if (answer.runs.length === 0) {
      showNone()
      return
    }
    showOlder(answer)
    showTimeline(answer)
    showTable(answer)
    if (hasNews) showFigures()
    region.ready(answeredMs, timeline.element, hint, unloaded)
    if (answer.isPartial) region.loading()
  }

  function showTable(answer: RunsFound): void {
    const page = Number(params.get('page') ?? 1) || 1
    table.show(answer, page, params.get('run') ?? undefined, readRunQuery(params).state === 'running')
  }

  function showOlder({ cutMs, isCut }: RunsFound): void {
    const every = chooseEvery(rangeOf(), POINTS_MAX)
    older =
      isCut && cutMs !== undefined
        ? countOlder(figures?.rows ?? [], cutMs, every, readRunQuery(params).state)
        : undefined
    unloaded.hidden = older === undefined
    hint.hidden = older !== undefined
    if (older === undefined) return
    const when = formatMoment(older.untilMs, nowMs())
    setText(
      unloaded,
      `Runs before ${when} are not loaded: the shaded part shows their numbers, ` +
        `in ${describeEvery(every)}. Click it to zoom in.`,
    )
  }

  function showNone(): void {
    const text = isLive() ? 'New runs appear here within two seconds after they start.' : 'Nothing ran in this range.'
    const wider = h(
      'a.button',
      { href: formatRoute('runs', changeParams(params, { from: '-7d', to: undefined })) },
      'Show 7 days',
    )
    const first = h('a.button', { href: formatRoute('welcome') }, 'How to send one')
    region.empty(answeredMs, 'No runs here', note(text), h('div.button-row', wider, first))
  }

  return {
    element: h(
      'div.page.with-panel',
      h(
        'div.stack',
        header.element,
        h('div.toolbar', picker.element, filters.element),
        h('div.card', chips.element, region.element, progress.element),
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
      header.show(query.process, params)
      if (question === '') processPoll.now()
      if (asks === question) {
        if (found !== undefined) showRuns(found)
        showFigures()
        return
      }
      question = asks
      found = undefined
      figures = undefined
      exceptions = []
      region.loading()
      runsPoll.now()
      figuresPoll.now()
    },
    close() {
      for (const poll of [runsPoll, figuresPoll, exceptionPoll, usualPoll, processPoll]) poll.stop()
      timeline.close()
      chart.close()
      panel.close()
    },
  }
}
