// The latest timings: at most `each` per process, and with `byMeta` also the last one of each process and meta that is
// over, however many other metas have run since. Where `maxRows` is too few, each process keeps its newest, then the
// last of its metas, and then all lose their oldest alike: rows come in that order.
import { comparePlaces } from './order.ts'
import type { TimingRow, TimingState } from './source.ts'

export const OVER: readonly TimingState[] = ['completed', 'failed', 'abandoned']

/** Rows are kept by rank: a timing's place in its process, from 1; the last that is over of a meta has at most this. */
export const LAST_OVER_RANK = 2

/** `ofProcess`: the newest of one process each, in order; `lastOver`: the last that is over of each of their metas. */
export function chooseLatest(
  ofProcess: readonly (readonly TimingRow[])[],
  lastOver: readonly TimingRow[],
  maxRows: number,
): TimingRow[] {
  const nameOf = ({ place }: TimingRow) => `${place.ns} ${place.tie}`
  const ranked = new Map<string, { readonly timing: TimingRow; readonly rank: number }>()
  for (const timings of ofProcess)
    for (const [i, timing] of timings.entries()) ranked.set(nameOf(timing), { timing, rank: i + 1 })
  for (const timing of lastOver) {
    const rank = Math.min(LAST_OVER_RANK, ranked.get(nameOf(timing))?.rank ?? LAST_OVER_RANK)
    ranked.set(nameOf(timing), { timing, rank })
  }
  return [...ranked.values()]
    .sort((a, b) => a.rank - b.rank || comparePlaces(a.timing.place, b.timing.place))
    .slice(0, maxRows)
    .map(({ timing }) => timing)
}
