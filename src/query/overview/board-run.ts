// A run as the overview holds it: a timing with its times as numbers, in µs.
import type { JudgedRun } from '../../process/judge-meta.ts'
import type { OverviewRun, OverviewRunState } from '../../wire/overview.ts'
import type { Timing } from '../../wire/timings.ts'

export interface BoardRun extends JudgedRun {
  readonly id: string
  readonly process: string
  readonly meta: string | null
  /** Its start; of an end without one that end. RFC 3339 with nine digits. */
  readonly at: string
  readonly startUs: number
  readonly endUs: number
  readonly isBare: boolean
  readonly ms: number | null
  readonly hasException: boolean
}

export function toBoardRun(timing: Timing): BoardRun {
  const { process, meta, uid, state, started_at, ended_at, duration_ms: ms, exceptions } = timing
  const at = started_at ?? ended_at!
  const startUs = Date.parse(at) * 1000
  const endUs =
    state === 'running' ? Number.POSITIVE_INFINITY : ended_at === null ? startUs : Date.parse(ended_at) * 1000
  return {
    ...{ id: JSON.stringify([at, process, meta, uid]), process, meta, uid, state, at, startUs, endUs, ms },
    ...{ isBare: started_at === null, hasException: (exceptions ?? 0) > 0 },
  }
}

/** Newest first; runs with the same start by id, so that the order is stable. */
export const byNewest = (a: BoardRun, b: BoardRun): number => b.startUs - a.startUs || (a.id < b.id ? 1 : -1)

export function answerRun({ at, state, ms, meta, uid, hasException }: BoardRun): OverviewRun {
  const shown: OverviewRunState = state === 'completed' && hasException ? 'exceptions' : state
  return [at, shown, ms, meta, uid]
}
