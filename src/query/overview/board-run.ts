// A run as the overview holds it: a timing with its times as numbers.
import type { OverviewRun, OverviewRunState } from '../../wire/overview.ts'
import type { Timing } from '../../wire/timings.ts'

export interface BoardRun {
  readonly id: string
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  readonly state: Timing['state']
  /** Its start; of an end without one that end. RFC 3339 with nine digits. */
  readonly at: string
  readonly startMs: number
  /** Infinity while it runs; `startMs` when it never finished or has no start. */
  readonly endMs: number
  readonly ms: number | null
  /** null: unknown. */
  readonly exceptions: number | null
}

export function toBoardRun(timing: Timing): BoardRun {
  const { process, meta, uid, state, started_at, ended_at, duration_ms: ms, exceptions } = timing
  const at = started_at ?? ended_at!
  const startMs = Date.parse(at)
  const endMs = state === 'running' ? Number.POSITIVE_INFINITY : ended_at === null ? startMs : Date.parse(ended_at)
  return { id: JSON.stringify([at, process, meta, uid]), process, meta, uid, state, at, startMs, endMs, ms, exceptions }
}

export const isOver = ({ state }: BoardRun): boolean => state !== 'running' && state !== 'orphan'
/** Newest first; runs with the same start by id, so that the order is stable. */
export const byNewest = (a: BoardRun, b: BoardRun): number => b.startMs - a.startMs || (a.id < b.id ? 1 : -1)

export function answerRun({ at, state, ms, meta, uid, exceptions }: BoardRun): OverviewRun {
  const shown: OverviewRunState = state === 'completed' && (exceptions ?? 0) > 0 ? 'exceptions' : state
  return [at, shown, ms, meta, uid]
}
