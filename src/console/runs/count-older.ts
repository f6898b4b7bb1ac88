// The figures per interval → the counts of runs that are not loaded.
import type { SummaryRow } from '../../wire/timings.ts'
import { parseTime } from '../kit/format-time.ts'
import { everyMs } from '../kit/time-range.ts'
import type { OlderCount, OlderRuns } from '../timeline/picture.ts'
import type { StateFilter } from '../timeline/run.ts'
import { countOf } from './run-filters.ts'

/** The runs of a row; `state`: only those in that state. */
export function countRuns(row: SummaryRow, state: StateFilter | undefined): number {
  if (state !== undefined && state !== 'trouble') return countOf(row, state)
  const troubles = countOf(row, 'failed') + row.abandoned
  return state === 'trouble' ? troubles : row.count + troubles + row.running + row.orphan
}

/** `rows` are in intervals of `every`; only those of `state` count. */
export function countOlder(
  rows: readonly SummaryRow[],
  untilMs: number,
  every: string,
  state: StateFilter | undefined,
): OlderRuns {
  const counts = new Map<string, OlderCount[]>()
  for (const row of rows) {
    const atMs = parseTime(row.at ?? '')
    if (!(atMs < untilMs)) continue
    const runs = countRuns(row, state)
    const isRed = state === undefined || state === 'trouble' || state === 'failed' || state === 'abandoned'
    const held = counts.get(row.process) ?? []
    held.push({ atMs, runs, troubles: isRed ? Math.min(runs, countRuns(row, 'trouble')) : 0 })
    counts.set(row.process, held)
  }
  return { untilMs, everyMs: everyMs(every), counts }
}
