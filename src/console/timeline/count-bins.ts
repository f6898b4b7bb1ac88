// The numbers of runs per interval of time: of the store's summary, or of runs that are loaded.
import type { SummaryRow, TimingState } from '../../wire/timings.ts'
import { parseTime } from '../kit/format-time.ts'
import { isTrouble, type Run, type StateFilter } from './run.ts'

export interface Bin {
  readonly fromMs: number
  readonly toMs: number
  readonly runs: number
  /** Of these, failed or never finished. */
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

/** `rows` of one process, in intervals of `stepMs`; only those of `state` count. */
export function binsOfRows(rows: readonly SummaryRow[], stepMs: number, state: StateFilter | undefined): Bin[] {
  const isRed = state === undefined || state === 'trouble' || state === 'failed' || state === 'abandoned'
  return rows.flatMap((row) => {
    const fromMs = parseTime(row.at ?? '')
    const runs = countRuns(row, state)
    const troubles = isRed ? Math.min(runs, countTroubles(row)) : 0
    const running = state === undefined || state === 'running' ? row.running : 0
    return runs === 0 ? [] : [{ fromMs, toMs: fromMs + stepMs, runs, troubles, running }]
  })
}

/** By their starts. */
export function binsOfRuns(runs: readonly Run[], fromMs: number, stepMs: number): Bin[] {
  const bins = new Map<number, { runs: number; troubles: number; running: number }>()
  for (const run of runs) {
    const place = Math.max(0, Math.floor((run.startMs - fromMs) / stepMs))
    const held = bins.get(place) ?? { runs: 0, troubles: 0, running: 0 }
    bins.set(place, held)
    held.runs++
    if (isTrouble(run)) held.troubles++
    if (run.state === 'running') held.running++
  }
  return [...bins].map(([place, counts]) => ({
    fromMs: fromMs + place * stepMs,
    toMs: fromMs + (place + 1) * stepMs,
    ...counts,
  }))
}
