// How many runs ran at once and how they ended, per interval of time: of the store's summary, or of loaded runs.
import type { SummaryRow, TimingState } from '../../wire/timings.ts'
import { parseTime } from '../kit/format-time.ts'
import { isTrouble, type Run, type StateFilter } from './run.ts'

type Span = { readonly fromMs: number; readonly toMs: number }

/** A run of no length counts at its moment. */
const INSTANT_MS = 0.001

export interface Bin extends Span {
  /** How many ran at the same moment, at most; unknown of one state. */
  readonly atOnce?: number
  /** That, or else the number of runs. */
  readonly height: number
  /** Runs that ended here, or have no end. */
  readonly runs: number
  /** How many of `runs` failed or never finished. */
  readonly troubles: number
  readonly running: number
}

export const countOf = (row: SummaryRow, state: TimingState): number =>
  state === 'completed' ? row.count : (row[state] ?? 0)

/** The runs of a row; `state`: only those in that state. */
export function countRuns(row: SummaryRow, state: StateFilter | undefined): number {
  if (state !== undefined && state !== 'trouble') return countOf(row, state)
  const troubles = countTroubles(row)
  return state === 'trouble' ? troubles : row.count + troubles + row.running + row.orphan
}

export const countTroubles = (row: SummaryRow): number => row.failed + row.abandoned

/** The runs of rows that completed, failed or never finished, and those of them that did not complete. */
export function countEnded(rows: readonly SummaryRow[]): { readonly bad: number; readonly all: number } {
  const bad = rows.reduce((sum, row) => sum + countTroubles(row), 0)
  return { bad, all: rows.reduce((sum, { count }) => sum + count, bad) }
}

/** `rows` of one process, in intervals of `stepMs`; only those of `state` count. */
export function binsOfRows(rows: readonly SummaryRow[], stepMs: number, state: StateFilter | undefined): Bin[] {
  const isRed = state === undefined || state === 'trouble' || state === 'failed' || state === 'abandoned'
  return rows.flatMap((row) => {
    const fromMs = parseTime(row.at ?? '')
    const runs = countRuns(row, state)
    const troubles = isRed ? Math.min(runs, countTroubles(row)) : 0
    const running = state === undefined || state === 'running' ? row.running : 0
    const atOnce = state === undefined ? row.at_once : undefined
    const height = atOnce ?? runs
    const counts = { ...(atOnce !== undefined && { atOnce }), height, runs, troubles, running }
    return height === 0 ? [] : [{ fromMs, toMs: fromMs + stepMs, ...counts }]
  })
}

/** As the summary counts them: see `as_of` in http/README.md. */
export function binsOfRuns(runs: readonly Run[], { fromMs, toMs }: Span, stepMs: number): Bin[] {
  const placeOf = (ms: number) => Math.floor((ms - fromMs) / stepMs)
  const places = Math.ceil((toMs - fromMs) / stepMs)
  const counts = Array.from({ length: places }, () => ({ height: 0, runs: 0, troubles: 0, running: 0 }))
  const moments: [ms: number, step: 1 | -1][] = []
  for (const run of runs) {
    const began = Math.max(run.startMs, fromMs)
    const settled = run.state === 'running' ? began : Math.max(run.endMs, fromMs)
    const bin = counts[placeOf(settled)]
    if (bin === undefined) continue
    bin.runs++
    if (isTrouble(run)) bin.troubles++
    if (run.state === 'running') bin.running++
    moments.push([began, 1], [run.state === 'running' ? toMs : Math.max(settled, began + INSTANT_MS), -1])
  }
  moments.sort(([a, up], [b, down]) => a - b || up - down)
  let [level, place] = [0, 0]
  for (const [ms, step] of moments) {
    for (; place < Math.min(places, placeOf(ms)); place++) counts[place + 1] && raise(place + 1)
    level += step
    if (step === 1) raise(place)
  }
  return counts.flatMap((bin, i) =>
    bin.height === 0
      ? []
      : [{ fromMs: fromMs + i * stepMs, toMs: fromMs + (i + 1) * stepMs, atOnce: bin.height, ...bin }],
  )

  function raise(at: number): void {
    counts[at]!.height = Math.max(counts[at]!.height, level)
  }
}
