// How a run compares with the usual duration of its process and meta.
import { isOverdue as isOver } from '../../process/judge-meta.ts'
import { usualOf } from '../../process/usual.ts'
import type { Run } from './run.ts'

/** By the runs that ended before `run` began, ms; undefined below five. `runs`: of its process, in any order. */
export function usualMsFor(run: Run, runs: readonly Run[]): number | undefined {
  const settled = runs
    .filter(({ id, meta, timing }) => id !== run.id && meta === run.meta && timing.duration_ms !== null)
    .map(({ startMs, endMs, state }) => ({
      ...{ startedUs: startMs * 1000, endedUs: endMs * 1000, failed: state === 'failed' },
    }))
    .sort((a, b) => a.endedUs - b.endedUs)
  const usualUs = usualOf(settled, run.startMs * 1000)
  return usualUs === undefined ? undefined : usualUs / 1000
}

export const isOverdue = ({ state, startMs }: Run, usualMs: number | undefined, nowMs: number): boolean =>
  state === 'running' && usualMs !== undefined && isOver((nowMs - startMs) * 1000, usualMs * 1000)

const ALIKE = 1.2

/** `1.9× slower`, `3× faster`, `as usual` within a fifth. */
export function describeRatio(ms: number, usual: number, alike = 'as usual'): string {
  if (usual <= 0 || ms <= 0) return alike
  const ratio = ms / usual
  if (ratio < ALIKE && ratio > 1 / ALIKE) return alike
  const [times, word] = ratio > 1 ? [ratio, 'slower'] : [1 / ratio, 'faster']
  return `${times < 9.95 ? times.toFixed(1).replace(/\.0$/, '') : Math.round(times).toLocaleString()}× ${word}`
}
