// The latest timings: at most `each` per process, and with `byMeta` also the last one of each process and meta that is
// over, however many other metas have run since. Where `maxRows` is too few, each process keeps its newest, then the
// last of its metas, and then all lose their oldest alike: rows come in that order.
import { comparePlaces } from './order.ts'
import type { LatestSelection, Timing, TimingState } from './source.ts'

export const OVER: readonly TimingState[] = ['completed', 'failed', 'abandoned']

/** In this order rows are kept. `nth` is the timing's place in its process from 1. */
const SECOND = 2

/** `ofProcess`: the newest of one process each, in order; `lastOver`: the last that is over of each of their metas. */
export function chooseLatest(
  ofProcess: readonly (readonly Timing[])[],
  lastOver: readonly Timing[],
  { each, maxRows }: Pick<LatestSelection, 'each' | 'maxRows'>,
): Timing[] {
  const nameOf = ({ place }: Timing) => `${place.ns} ${place.tie}`
  const ranks = new Map<string, { timing: Timing; rank: number }>()
  for (const timings of ofProcess)
    for (const [i, timing] of timings.slice(0, each).entries()) ranks.set(nameOf(timing), { timing, rank: i + 1 })
  for (const timing of lastOver)
    if ((ranks.get(nameOf(timing))?.rank ?? Number.POSITIVE_INFINITY) > SECOND)
      ranks.set(nameOf(timing), { timing, rank: SECOND })
  return [...ranks.values()]
    .sort((a, b) => a.rank - b.rank || comparePlaces(a.timing.place, b.timing.place))
    .slice(0, maxRows)
    .map(({ timing }) => timing)
}
