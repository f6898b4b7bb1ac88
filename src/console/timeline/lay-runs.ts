// Runs of one process → lanes without overlaps: each run goes into the topmost lane that is free at its start. A tree
// of minima over the lanes' ends finds that lane in logarithmic time.
import { isLoneEnd, type Run } from './run.ts'

/** Oldest first; no two overlap. */
export type Lane = readonly Run[]

/** Room to keep free after a run's end, so that runs of little or no duration can be seen and clicked. */
type PadOf = (run: Run) => number

/** `padOf` in ms. */
export function layLanes(runs: readonly Run[], padOf: PadOf): Lane[] {
  const lanes: Run[][] = []
  const ends = createEnds(runs.length)
  for (const run of runs.toSorted((a, b) => a.startMs - b.startMs)) {
    const place = ends.take(run.startMs - (isLoneEnd(run) ? padOf(run) / 2 : 0), run.endMs + padOf(run))
    const lane = lanes[place]
    if (lane === undefined) lanes[place] = [run]
    else lane.push(run)
  }
  return lanes
}

/** The time from which each of `size` lanes is free; each node of the tree holds the minimum of its two children. */
function createEnds(size: number) {
  let leaves = 1
  while (leaves < size) leaves *= 2
  const least = new Float64Array(2 * leaves).fill(Number.NEGATIVE_INFINITY)
  return {
    /** The topmost lane that is free at `start`, now taken until `end`. */
    take(start: number, end: number): number {
      let node = 1
      while (node < leaves) node = least[2 * node]! <= start ? 2 * node : 2 * node + 1
      const lane = node - leaves
      least[node] = end
      for (node >>= 1; node >= 1; node >>= 1) least[node] = Math.min(least[2 * node]!, least[2 * node + 1]!)
      return lane
    },
  }
}
