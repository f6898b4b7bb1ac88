// The Runs page: the timeline, the durations of one process, and the table. The address holds the whole view.
import type { OverviewProcess } from '../../wire/overview.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { lineOf } from '../exceptions/line-of.ts'
import { getPages } from '../kit/api.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { page, type Question } from '../kit/page.tsx'
import { RangeHeader } from '../kit/page-header.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { fixRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { DurationChart } from '../process/duration-chart.tsx'
import { AS_SEEN, askTimeline, type Timeline as TimelineAnswer } from '../timeline/ask-timeline.ts'
import { belongsTo, type ExceptionMark } from '../timeline/belongs-to.ts'
import { countRuns } from '../timeline/count-bins.ts'
import { RUN_PX } from '../timeline/make-bands.ts'
import { parseRunId, type Run, type Seen } from '../timeline/run.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { isOverdue, usualMsOf } from '../timeline/usual.ts'
import { askLater } from './ask-later.ts'
import { askPage, type RunPage } from './ask-page.ts'
import { askRun, type RunContext } from './ask-run.ts'
import { NoRuns } from './no-runs.tsx'
import { readRunView } from './read-run-query.ts'
import { PAGE, RunFilters, RunStates } from './run-filters.tsx'
import { RunPanel } from './run-panel.tsx'
import { RunTable } from './run-table.tsx'

const EVERY_MS = 2_000
const SLOWLY_MS = 30_000
const USUAL_EVERY_MS = 600_000
/** Processes whose usual duration is asked for. */
const USUAL_MAX = 20
const EXCEPTIONS_MAX = 200
const FRAME_PX = 460

/** An exception with the line that its run shows in the table. */
interface Raised extends ExceptionMark {
  readonly text: string
}

interface Chosen {
  readonly id: string
  readonly context: RunContext | null
}

interface RunsAnswer {
  readonly timeline: TimelineAnswer
  readonly page: RunPage
  readonly later: ReadonlyMap<string, Run>
  readonly processes: readonly ProcessEntry[]
  readonly raised: { readonly atMs: number; readonly list: readonly Raised[] }
  readonly usual: { readonly atMs: number; readonly byProcess: ReadonlyMap<string, OverviewProcess> }
  readonly chosen: Chosen | undefined
  /** The run beside it. */
  readonly beside: Chosen | undefined
}

const NOTHING_RAISED: RunsAnswer['raised'] = { atMs: Number.NEGATIVE_INFINITY, list: [] }
const NO_USUAL: RunsAnswer['usual'] = { atMs: Number.NEGATIVE_INFINITY, byProcess: new Map() }

const keyOf = (params: URLSearchParams): string =>
  changeParams(params, { run: undefined, beside: undefined, page: undefined }).toString()

async function ask({ app, params, get, held, early, signal }: Question<RunsAnswer>): Promise<RunsAnswer> {
  const nowMs = app.nowMs()
  const { range, query, page, runId, besideId, isUnfolded } = readRunView(params, nowMs)
  const bars = Math.floor(Math.max(240, innerWidth - FRAME_PX) / RUN_PX)
  const askChosen = async (id: string | undefined, before: Chosen | undefined): Promise<Chosen | undefined> => {
    if (id === undefined) return undefined
    const isOver = before?.id === id && before.context?.run.state !== 'running'
    return isOver ? before : { id, context: (await askRun(app, get, id)) ?? null }
  }
  const [timeline, runPage, later, processes] = await Promise.all([
    askTimeline(get, range, query, { bars, isUnfolded }, nowMs, held?.timeline),
    askPage(get, range, query, page, nowMs, held?.page),
    askLater(get, range, query),
    app.askProcesses(signal),
  ])
  const { raised = NOTHING_RAISED, usual = NO_USUAL, chosen, beside } = held ?? {}
  const answer = { timeline, page: runPage, later, processes }
  early({ ...answer, raised, usual, chosen, beside })
  const [raisedNow, usualNow, chosenNow, besideNow] = await Promise.all([
    askRaised(),
    askUsual(),
    askChosen(runId, chosen),
    askChosen(runId && besideId, beside),
  ])
  return { ...answer, raised: raisedNow, usual: usualNow, chosen: chosenNow, beside: besideNow }

  async function askRaised(): Promise<RunsAnswer['raised']> {
    const shown = [...runPage.trouble, ...runPage.runs]
    if (shown.every((run) => run.exceptions === 0)) return { atMs: nowMs, list: [] }
    const isSame = held?.page.runs[0]?.id === shown[0]?.id && held?.page.page === runPage.page
    if (held !== undefined && isSame && nowMs - held.raised.atMs < SLOWLY_MS) return held.raised
    const from = new Date(Math.min(...shown.map(({ startMs }) => startMs))).toISOString()
    const asks = { from, to: range.query.to, process: query.process, meta: query.meta, limit: EXCEPTIONS_MAX }
    const { exceptions } = await get('api/exceptions', asks)
    const list = exceptions.map(({ at, process, meta, uid = null, headline }) => ({
      atMs: parseTime(at),
      process,
      meta,
      uid,
      text: lineOf({ headline }),
    }))
    return { atMs: nowMs, list }
  }
  /** Only while something runs: nothing else can be overdue. */
  async function askUsual(): Promise<RunsAnswer['usual']> {
    const running = timeline.runs.filter(({ state }) => state === 'running').map((run) => run.process)
    const names = [...new Set(running)].slice(0, USUAL_MAX)
    const isKnown = names.every((name) => held?.usual.byProcess.has(name))
    if (held !== undefined && isKnown && nowMs - held.usual.atMs < USUAL_EVERY_MS) return held.usual
    const answers = await Promise.all(names.map((process) => get('api/overview', { process })))
    const rows = answers.flatMap(({ processes }) => processes)
    return { atMs: nowMs, byProcess: new Map(rows.map((row) => [row.process, row])) }
  }
}

function Heading({ answer }: { answer: RunsAnswer | undefined }) {
  const process = useView().params.get('process') || undefined
  const crumb = process !== undefined && (
    <a href={formatRoute('process', { process })}>
      <bdi>{process}</bdi>
    </a>
  )
  return (
    <RangeHeader title="Runs" crumb={crumb} ends={PAGE}>
      <RunFilters processes={answer?.processes ?? []} />
    </RangeHeader>
  )
}

function Content({ answer }: { answer: RunsAnswer }) {
  const { app, params, nowMs, change } = useView()
  const { range, query, runId, besideId } = readRunView(params, nowMs)
  const { timeline, page, later, raised, usual, chosen, beside } = answer
  const laterOf: Seen['laterOf'] = ({ id, state }) => (state === 'running' ? later.get(id) : undefined)
  const seen: Seen = { atMs: Math.min(range.toMs, nowMs), isLive: range.isLive, laterOf }
  const all = [...page.trouble, ...page.runs]
  const linkTo = ({ id }: Run) => formatRoute('runs', changeParams(params, { run: id, beside: undefined }))
  const total =
    query.state === 'trouble' ? undefined : timeline.totals.reduce((sum, row) => sum + countRuns(row, query.state), 0)
  const usualMs = (run: Run) => usualMsOf(run, usual.byProcess.get(run.process))
  const exported = async () => {
    const { rows } = await getPages(async (page) => {
      const { timings, next } = await app.api.get('api/timings', { ...range.query, ...query, ...AS_SEEN, ...page })
      return { rows: timings, next }
    })
    return rows.map(({ metrics: _, ...timing }) => timing)
  }
  return (
    <div class={runId === undefined ? 'runs-content' : 'runs-content with-panel'}>
      <div class="stack">
        <section class="card">
          <RunStates query={query} totals={timeline.totals} seen={seen} />
          {all.length === 0 && <NoRuns processes={answer.processes} />}
          {all.length > 0 && (
            <Timeline
              loaded={timeline}
              state={query.state}
              {...{ fromMs: range.fromMs, toMs: range.toMs, seen, chosenId: runId, linkTo }}
              nowMs={() => app.nowMs()}
              isOverdue={(run) => isOverdue(run, usualMs(run), seen.isLive ? app.nowMs() : seen.atMs)}
              unfold={() => change({ quiet: 'shown' })}
              zoom={(fromMs, toMs, process) =>
                change({
                  page: undefined,
                  ...fixRange(fromMs, Math.min(toMs, app.nowMs())),
                  ...(process !== undefined && { process }),
                })
              }
            />
          )}
          {all.length > 0 && (
            <p class="sub">
              Drag to zoom in. Click a run to open it, or bars to look closer. Arrow keys move between runs.
            </p>
          )}
        </section>
        {query.process !== undefined && <Durations {...{ timeline, range }} />}
        {all.length > 0 && (
          <RunTable
            {...{ shown: page, total, seen, linkTo, exported, chosenId: runId, isOne: query.process !== undefined }}
            whyOf={(run) => raised.list.find((it) => belongsTo(it, run, timeline.runs))?.text}
            turnTo={(next) => change({ page: String(next) })}
          />
        )}
      </div>
      {runId !== undefined && (
        <RunPanel
          id={runId}
          context={contextOf(runId, chosen)}
          beside={besideId === undefined ? undefined : { id: besideId, context: contextOf(besideId, beside) }}
          close={() => change({ run: undefined, beside: undefined }, 'replace')}
        />
      )}
    </div>
  )
}

/** undefined: it is being loaded. */
const contextOf = (id: string, known: Chosen | undefined): RunContext | null | undefined =>
  parseRunId(id) === undefined ? null : known?.id === id ? known.context : undefined

function Durations({ timeline, range }: { timeline: TimelineAnswer } & Pick<ReturnType<typeof readRunView>, 'range'>) {
  const { totals, series, stepMs } = timeline
  const rows = series.length > 0 ? series : []
  const total = totals[0]
  if (total === undefined || total.count === 0 || rows.length === 0) return null
  return (
    <Card title="Duration" about={<span class="muted">{describeFigures(total)}</span>}>
      <DurationChart change={null} {...{ rows, stepMs, fromMs: range.fromMs, toMs: range.toMs }} />
    </Card>
  )
}

/** Percentiles of fewer runs say nothing. */
const FEWEST = 5

const describeFigures = ({ count, p50_ms: p50, p95_ms: p95, max_ms: max }: SummaryRow): string =>
  count < FEWEST
    ? `${plural(count, 'completed run')}, longest ${formatDuration(max)}`
    : `${plural(count, 'completed run')}: median ${formatDuration(p50)}, ` +
      `p95 ${formatDuration(p95)}, longest ${formatDuration(max)}`

export const RunsPage = page<RunsAnswer>({
  name: 'runs',
  subjectOf: () => '',
  everyMs: (params) => (readRunView(params, 0).range.isLive ? EVERY_MS : 0),
  keyOf,
  ask,
  Heading,
  Content,
})

export const titleOfRuns = (params: URLSearchParams): string => {
  const process = params.get('process')
  return process === null ? 'Runs' : `Runs of ${process}`
}
