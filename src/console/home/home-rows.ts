// Builds Home's rows, one per process, and selects and sorts them for a view.
import type { Alert } from '../../wire/alerts.ts'
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { parseTime } from '../kit/format-time.ts'
import { headline } from '../pages/exception-headline.ts'
import { LATE_MS } from '../timeline/geometry.ts'
import { isOver, type Run } from '../timeline/run.ts'
import { isOverdue, usualMsFor } from '../timeline/usual.ts'
import type { Latest } from './latest-feed.ts'
import { compareWeek, type WeekRatio } from './week-feed.ts'

export interface HomeRow extends Omit<Judgement, 'why'> {
  readonly process: string
  readonly metas: readonly (string | null)[]
  /** Newest first. */
  readonly runs: readonly Run[]
  readonly lastSeenMs: number
  /** Counts of the last 24 hours. */
  readonly failed: number
  readonly unfinished: number
  readonly exceptions: number
  /** The first line of the exception that belongs to the trouble that is shown. */
  readonly why: string | undefined
  readonly week: WeekRatio | undefined
}

/** Counts and exceptions of the last 24 hours. */
export interface DayFigures {
  readonly totals: readonly SummaryRow[]
  /** Most recent first. */
  readonly groups: readonly ExceptionGroup[]
  /** More groups exist, so exception counts are lower bounds. */
  readonly hasMoreGroups: boolean
  /** Resolved and ignored groups, which are not counted. */
  readonly hiddenGroups: number
}

export function toRows(
  { byProcess }: Latest,
  entries: readonly ProcessEntry[],
  day: DayFigures | undefined,
  alerts: readonly Alert[],
  before: readonly SummaryRow[],
  silent: ReadonlySet<string>,
  nowMs: number,
): HomeRow[] {
  const known = new Map(entries.map((entry) => [entry.process, entry]))
  const totals = new Map(day?.totals.map((row) => [row.process, row]))
  const groups = Map.groupBy(day?.groups ?? [], ({ process }) => process)
  const earlier = new Map(before.map((row) => [row.process, row]))
  const watched = new Set(alerts.map(({ process }) => process))
  return [...new Set([...byProcess.keys(), ...known.keys(), ...silent])].map((process) => {
    const runs = byProcess.get(process) ?? []
    const total = totals.get(process)
    const entry = known.get(process)
    const own = groups.get(process) ?? []
    const raised = own.map(({ meta, last_at, example }) => ({ meta, ms: parseTime(last_at), example }))
    const judged = judgeProcess(runs, nowMs, { raised, hasAlert: watched.has(process), isSilent: silent.has(process) })
    return {
      ...judged,
      process,
      metas: entry?.metas ?? [...new Set(runs.map(({ meta }) => meta))],
      runs,
      lastSeenMs: Math.max(runs[0]?.startMs ?? 0, entry === undefined ? 0 : Date.parse(entry.last_at)),
      failed: total?.failed ?? 0,
      unfinished: total?.abandoned ?? 0,
      exceptions: own.reduce((sum, { count }) => sum + count, 0),
      why: judged.why && headline(judged.why.example),
      week: compareWeek(total, earlier.get(process)),
    }
  })
}

export const SORTS = ['trouble', 'name', 'recent', 'slow', 'failures'] as const
export type Sort = (typeof SORTS)[number]

export interface HomeView {
  /** Part of a name, in lower case. */
  readonly search: string
  readonly sort: Sort
  readonly verdict: Verdict | undefined
}

export function selectRows(rows: readonly HomeRow[], { search, sort, verdict }: HomeView): HomeRow[] {
  const isFound = ({ process, metas }: HomeRow) =>
    [process, ...metas].some((text) => text?.toLocaleLowerCase().includes(search) ?? false)
  return rows
    .filter((row) => (verdict === undefined || row.verdict === verdict) && (search === '' || isFound(row)))
    .toSorted((a, b) => ORDER[sort](a, b) || a.process.localeCompare(b.process))
}

type Order = (a: HomeRow, b: HomeRow) => number
const isRed = (verdict: Verdict): boolean =>
  verdict === 'failed' || verdict === 'unfinished' || verdict === 'exceptions'
const rank = ({ verdict }: HomeRow): number => VERDICTS.indexOf(verdict)

const ORDER: Readonly<Record<Sort, Order>> = {
  trouble: (a, b) => rank(a) - rank(b) || b.lastSeenMs - a.lastSeenMs,
  name: () => 0,
  recent: (a, b) => b.lastSeenMs - a.lastSeenMs,
  slow: (a, b) => (b.week?.ratio ?? 0) - (a.week?.ratio ?? 0),
  failures: (a, b) => b.failed + b.unfinished - (a.failed + a.unfinished) || b.exceptions - a.exceptions,
}

// The state of a process, derived from its newest runs, its exceptions and its alerts. Each meta is judged by its last
// settled run: a failure counts until a run of the same meta completes, even while the next run is in progress. The
// worst meta decides.
/** Worst first. `silent`: no start for longer than usual, as the server says. `firing`: only an alert says so. `fine`: the last run completed. `quiet`: no run with a start. */
export const VERDICTS = [
  'failed',
  'unfinished',
  'silent',
  'exceptions',
  'firing',
  'overdue',
  'running',
  'fine',
  'quiet',
] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Judgement {
  readonly verdict: Verdict
  /** The run that decides the verdict, which the row shows; otherwise the newest with a start, or the newest. */
  readonly last: Run | undefined
  /** The newest run, if the row shows another one. */
  readonly newer: Run | undefined
  /** The usual duration for `last`, ms; undefined below five completed runs. */
  readonly usualMs: number | undefined
  /** The exception of the trouble that is shown. */
  readonly why: Raised | undefined
}

/** The newest exception of a group. */
export interface Raised {
  readonly meta: string | null
  readonly ms: number
  readonly example: string
}

/** The unresolved exceptions of the last 24 hours, newest first, and whether an alert fires. */
export interface Signals {
  readonly raised: readonly Raised[]
  readonly hasAlert: boolean
  readonly isSilent?: boolean
}
const NO_SIGNALS: Signals = { raised: [], hasAlert: false }

/** `runs` of one process, newest first. */
export function judgeProcess(runs: readonly Run[], nowMs: number, signals: Signals = NO_SIGNALS): Judgement {
  const newest = runs.find(({ state }) => state !== 'orphan') ?? runs[0]
  const metas = [...Map.groupBy(runs, ({ meta }) => meta).values()]
  const judged = [...metas.map((same) => judgeMeta(same, runs, nowMs)), judgeSignals(runs, signals)]
  const worst = VERDICTS.flatMap((known) => judged.find(({ verdict }) => verdict === known) ?? [])[0]!
  const last = worst.run ?? newest
  const isOfRun = ({ meta, ms }: Raised) =>
    worst.run?.meta === meta && ms >= worst.run.startMs && ms <= worst.run.endMs + LATE_MS
  return {
    verdict: worst.verdict,
    last,
    newer: last === newest ? undefined : newest,
    usualMs: last && usualMsFor(last, runs),
    why: worst.why ?? (isRed(worst.verdict) ? signals.raised.find(isOfRun) : undefined),
  }
}

interface Found {
  readonly verdict: Verdict
  readonly run?: Run
  readonly why?: Raised
}

/** An exception counts until a run of the same meta completes. */
function judgeSignals(runs: readonly Run[], { raised, hasAlert, isSilent = false }: Signals): Found {
  if (isSilent) return { verdict: 'silent' }
  const isDone = ({ meta, ms }: Raised) =>
    runs.some((run) => run.state === 'completed' && run.meta === meta && run.endMs >= ms)
  const why = raised.find((one) => !isDone(one))
  if (why !== undefined) return { verdict: 'exceptions', why }
  return { verdict: hasAlert ? 'firing' : 'quiet' }
}

function judgeMeta(same: readonly Run[], all: readonly Run[], nowMs: number): Found {
  const settled = same.find(isOver)
  if (settled?.state === 'failed') return { verdict: 'failed', run: settled }
  if (settled?.state === 'abandoned') return { verdict: 'unfinished', run: settled }
  if (settled !== undefined && (settled.exceptions ?? 0) > 0) return { verdict: 'exceptions', run: settled }
  const running = same.filter(({ state }) => state === 'running')
  const raising = running.find(({ exceptions }) => (exceptions ?? 0) > 0)
  if (raising !== undefined) return { verdict: 'exceptions', run: raising }
  const overdue = running.findLast((run) => isOverdue(run, usualMsFor(run, all), nowMs))
  if (overdue !== undefined) return { verdict: 'overdue', run: overdue }
  if (running[0] !== undefined) return { verdict: 'running', run: running[0] }
  return { verdict: settled === undefined ? 'quiet' : 'fine' }
}
