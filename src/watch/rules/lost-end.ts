// Handles an open run whose end may have been lost in a blind stretch. When the next run is due, it becomes clear whether the run is still running: a
// later start indicates a lost end, silence a run that hangs.
import { type Blind, lastBlind } from './episode.ts'
import type { Run } from './runs.ts'

const MIN_RUNS = 5
/** Runs end between half the shortest and twice the longest duration seen. */
const MARGIN = 2
/** The next run is overdue after this many times the longest interval seen. */
const PATIENCE = 1.5

/**
 * For the runs of one process and meta: the time (µs) from which an open run that exceeds its limit at `exceededUs` counts as too long. Later than
 * `exceededUs` if its end may have been lost before, Infinity if another run has started since.
 */
export function createLostEnds(
  runs: readonly Run[],
  blind: readonly Blind[],
): (run: Run, limitUs: number, exceededUs: number) => number {
  return (run, limitUs, exceededUs) => {
    const { state, startedUs } = run
    if (state === 'completed' || state === 'failed') return exceededUs
    if (lastBlind(blind, startedUs, exceededUs) === undefined) return exceededUs
    const { shortestUs, longestUs, gapUs } = learn(runs, startedUs)
    const toUs = Math.min(exceededUs, startedUs + longestUs * MARGIN)
    const lost = lastBlind(blind, startedUs + shortestUs / MARGIN, toUs)
    if (lost === undefined) return exceededUs
    if (runs.some((it) => it.startedUs > Math.max(startedUs, lost.fromUs))) return Number.POSITIVE_INFINITY
    return lost.toUs + Math.max(limitUs, gapUs * PATIENCE)
  }
}

/** Derived from the runs settled before that time. With too few completed ones a run may end at any time. */
function learn(runs: readonly Run[], beforeUs: number) {
  const past = runs.filter(({ settledUs }) => settledUs <= beforeUs)
  const durations = past.filter(({ state }) => state === 'completed').map((run) => run.settledUs - run.startedUs)
  const starts = [...past.map(({ startedUs }) => startedUs), beforeUs].sort((a, b) => a - b)
  const gaps = starts.slice(1).map((us, i) => us - starts[i]!)
  const isKnown = durations.length >= MIN_RUNS
  return {
    shortestUs: isKnown ? Math.min(...durations) : 0,
    longestUs: isKnown ? Math.max(...durations) : Number.POSITIVE_INFINITY,
    gapUs: Math.max(0, ...gaps),
  }
}
