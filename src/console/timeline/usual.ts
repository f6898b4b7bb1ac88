// The usual duration of a process: the median of its last 20 completed runs, undefined below five runs.
import type { Run } from './run.ts'

const LATEST = 20
const FEWEST = 5
/** A run in progress is overdue once it takes this many times the usual duration … */
export const OVERDUE_TIMES = 2
/** … and at least this much longer: twice 3 ms is no reason for concern. */
const OVERDUE_LEAST_MS = 1_000

/** In ms; undefined below five completed runs. `runs`: newest first, in any state. */
export function usualMs(runs: readonly Pick<Run, 'state' | 'timing'>[]): number | undefined {
  const lengths: number[] = []
  for (const { state, timing } of runs) {
    if (state !== 'completed' || timing.duration_ms === null) continue
    lengths.push(timing.duration_ms)
    if (lengths.length === LATEST) break
  }
  return lengths.length < FEWEST ? undefined : quantile(lengths, 0.5)
}

/** The usual duration of runs with the same meta, or of all runs if there are too few of those. */
export const usualMsFor = (run: Run, runs: readonly Run[]): number | undefined =>
  usualMs(runs.filter(({ id, meta }) => id !== run.id && meta === run.meta)) ??
  usualMs(runs.filter(({ id }) => id !== run.id))

/** Linear interpolation at q·(n−1), as everywhere in Stint. `values`: in any order, not empty. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = q * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  return low + (high - low) * (place - Math.floor(place))
}

export const isOverdue = ({ state, startMs }: Run, usual: number | undefined, nowMs: number): boolean => {
  const takenMs = nowMs - startMs
  return (
    state === 'running' && usual !== undefined && takenMs > OVERDUE_TIMES * usual && takenMs - usual >= OVERDUE_LEAST_MS
  )
}

const ALIKE = 1.2

/** `1.9× slower`, `3× faster`, `as usual` within a fifth. */
export function describeRatio(ms: number, usual: number, alike = 'as usual'): string {
  if (usual <= 0 || ms <= 0) return alike
  const ratio = ms / usual
  if (ratio < ALIKE && ratio > 1 / ALIKE) return alike
  const [times, word] = ratio > 1 ? [ratio, 'slower'] : [1 / ratio, 'faster']
  return `${times < 9.95 ? times.toFixed(1).replace(/\.0$/, '') : Math.round(times).toLocaleString()}× ${word}`
}
