// Exceptions → ticks on the lanes of the runs that they belong to: by uid where one was sent, else to the runs of the same process and meta
// that were open then. One that fits no run is shown at the top of its process.
import type { Layout } from './geometry.ts'
import type { Run } from './run.ts'

export interface ExceptionMark {
  readonly atMs: number
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
}

export interface Tick {
  readonly atMs: number
  /** From the top of all lanes. */
  readonly topPx: number
  readonly heightPx: number
}

/** Requests overtake each other: an exception with a uid may come this much after its run's end. */
export const LATE_MS = 60_000

/** Whether an exception belongs to a run (DESIGN.md 6). */
export function belongsTo({ atMs, process, meta, uid }: ExceptionMark, run: Run): boolean {
  if (process !== run.process || meta !== run.meta || atMs < run.startMs) return false
  return uid === null ? atMs <= run.endMs : uid === run.uid && atMs <= run.endMs + LATE_MS
}

export function placeExceptions({ bands, lanePx }: Layout, exceptions: readonly ExceptionMark[]): Tick[] {
  const byProcess = Map.groupBy(exceptions, ({ process }) => process)
  return bands.flatMap(({ process, lanes, lanesPx, bottomPx, isStrip }) =>
    (byProcess.get(process) ?? []).map((exception) => {
      const { atMs } = exception
      if (isStrip) return { atMs, topPx: lanesPx, heightPx: bottomPx - lanesPx }
      const lane = lanes.findIndex((runs) => runs.some((run) => belongsTo(exception, run)))
      return { atMs, topPx: lanesPx + Math.max(0, lane) * lanePx, heightPx: lanePx }
    }),
  )
}
