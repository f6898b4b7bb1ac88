// One row per process from everything Home knows of it, and which rows a view shows in which order.
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { lengthMs, type Run } from '../timeline/run.ts'
import { type Judgement, judgeProcess, VERDICTS, type Verdict } from './judge-process.ts'
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
  readonly groups: readonly ExceptionGroup[]
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

/** The last run's duration as a multiple of the usual one; 0 where either is unknown. */
const slowness = ({ last, usualMs }: HomeRow, nowMs: number): number =>
  last === undefined || !usualMs ? 0 : (lengthMs(last, nowMs) ?? 0) / usualMs
