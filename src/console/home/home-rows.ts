// Builds Home's rows, one per process, and selects and sorts them for a view.
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { lengthMs, type Run } from '../timeline/run.ts'
import { isOverdue, usualMsFor } from '../timeline/usual.ts'
import type { Latest } from './latest-feed.ts'

export interface HomeRow extends Judgement {
  readonly process: string
  readonly metas: readonly (string | null)[]
  /** Newest first. */
  readonly runs: readonly Run[]
  readonly lastSeenMs: number
  /** Counts of the last 24 hours. */
  readonly failed: number
  readonly unfinished: number
  readonly exceptions: number
}

/** Counts and exceptions of the last 24 hours. */
export interface DayFigures {
  readonly totals: readonly SummaryRow[]
  /** Most recent first. */
  readonly groups: readonly ExceptionGroup[]
  /** More groups exist, so exception counts are lower bounds. */
  readonly hasMoreGroups: boolean
}

export function toRows(
  { byProcess }: Latest,
  entries: readonly ProcessEntry[],
  day: DayFigures | undefined,
  nowMs: number,
): HomeRow[] {
  const known = new Map(entries.map((entry) => [entry.process, entry]))
  const totals = new Map(day?.totals.map((row) => [row.process, row]))
  const exceptions = new Map<string, number>()
  for (const { process, count } of day?.groups ?? []) exceptions.set(process, (exceptions.get(process) ?? 0) + count)
  return [...new Set([...byProcess.keys(), ...known.keys()])].map((process) => {
    const runs = byProcess.get(process) ?? []
    const total = totals.get(process)
    const entry = known.get(process)
    return {
      ...judgeProcess(runs, nowMs),
      process,
      metas: entry?.metas ?? [...new Set(runs.map(({ meta }) => meta))],
      runs,
      lastSeenMs: Math.max(runs[0]?.startMs ?? 0, entry === undefined ? 0 : Date.parse(entry.last_at)),
      failed: total?.failed ?? 0,
      unfinished: total?.abandoned ?? 0,
      exceptions: exceptions.get(process) ?? 0,
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

export function selectRows(rows: readonly HomeRow[], { search, sort, verdict }: HomeView, nowMs: number): HomeRow[] {
  const isFound = ({ process, metas }: HomeRow) =>
    [process, ...metas].some((text) => text?.toLocaleLowerCase().includes(search) ?? false)
  return rows
    .filter((row) => (verdict === undefined || row.verdict === verdict) && (search === '' || isFound(row)))
    .toSorted((a, b) => ORDER[sort](a, b, nowMs) || a.process.localeCompare(b.process))
}

type Order = (a: HomeRow, b: HomeRow, nowMs: number) => number
const rank = ({ verdict }: HomeRow): number => VERDICTS.indexOf(verdict)

const ORDER: Readonly<Record<Sort, Order>> = {
  trouble: (a, b) => rank(a) - rank(b) || b.lastSeenMs - a.lastSeenMs,
  name: () => 0,
  recent: (a, b) => b.lastSeenMs - a.lastSeenMs,
  slow: (a, b, nowMs) => slowness(b, nowMs) - slowness(a, nowMs),
  failures: (a, b) => b.failed + b.unfinished - (a.failed + a.unfinished) || b.exceptions - a.exceptions,
}

/** The last run's duration as a multiple of the usual one; 0 if either is unknown. */
const slowness = ({ last, usualMs }: HomeRow, nowMs: number): number =>
  last === undefined || !usualMs ? 0 : (lengthMs(last, nowMs) ?? 0) / usualMs

// The state of a process, derived from its newest runs. Each meta is judged by its last settled run: a failure counts until a run of the
// same meta completes, even while the next run is in progress. The worst meta decides.
/** Worst first. `quiet`: no known run. */
export const VERDICTS = ['failed', 'unfinished', 'exceptions', 'overdue', 'running', 'fine', 'quiet'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Judgement {
  readonly verdict: Verdict
  /** The newest run with a start, otherwise the newest run. */
  readonly last: Run | undefined
  /** The usual duration for `last`, ms; undefined below five completed runs. */
  readonly usualMs: number | undefined
}

/** `runs` of one process, newest first. */
export function judgeProcess(runs: readonly Run[], nowMs: number): Judgement {
  const last = runs.find(({ state }) => state !== 'orphan') ?? runs[0]
  if (last === undefined) return { verdict: 'quiet', last, usualMs: undefined }
  const verdicts = [...Map.groupBy(runs, ({ meta }) => meta).values()].map((same) => judgeMeta(same, runs, nowMs))
  const verdict = VERDICTS.find((known) => verdicts.includes(known)) ?? 'fine'
  return { verdict, last, usualMs: usualMsFor(last, runs) }
}

function judgeMeta(same: readonly Run[], all: readonly Run[], nowMs: number): Verdict {
  const settled = same.find(({ state }) => state === 'completed' || state === 'failed' || state === 'abandoned')
  if (settled?.state === 'failed') return 'failed'
  if (settled?.state === 'abandoned') return 'unfinished'
  if ((settled?.exceptions ?? 0) > 0) return 'exceptions'
  const running = same.filter(({ state }) => state === 'running')
  if (running.some(({ exceptions }) => (exceptions ?? 0) > 0)) return 'exceptions'
  if (running.some((run) => isOverdue(run, usualMsFor(run, all), nowMs))) return 'overdue'
  return running.length > 0 ? 'running' : 'fine'
}
