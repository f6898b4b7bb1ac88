// How a run compares with the usual duration of its process and meta, which the server says.
import { limitOf, OVERDUE_TIMES } from '../../process/usual.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatTimes } from '../kit/format-number.ts'
import type { Run } from './run.ts'

/** ms; undefined if it is not known. `process`: that of the run, with its metas. */
export const usualMsOf = ({ meta }: Run, process: OverviewProcess | undefined): number | undefined =>
  process?.by_meta?.find((one) => one.meta === meta)?.usual_ms ?? undefined

export const isOverdue = ({ state, startMs }: Run, usualMs: number | undefined, nowMs: number): boolean =>
  state === 'running' && usualMs !== undefined && (nowMs - startMs) * 1000 > limitOf(OVERDUE_TIMES, usualMs * 1000)

const ALIKE = 1.2

/** `1.9× slower`, `3× faster`, `as usual` within a fifth. */
export function describeRatio(ms: number, usual: number, alike = 'as usual'): string {
  if (usual <= 0 || ms <= 0) return alike
  const ratio = ms / usual
  if (ratio < ALIKE && ratio > 1 / ALIKE) return alike
  const [times, word] = ratio > 1 ? [ratio, 'slower'] : [1 / ratio, 'faster']
  return `${formatTimes(times)}× ${word}`
}
