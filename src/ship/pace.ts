// How often a store is written to while few events arrive.
import type { Pace } from '../store/sink.ts'

/** In ms of any clock that never goes back. */
export function createPace({ atOnce, everyMs }: Pace) {
  /** When `atOnce` writes may follow each other again. */
  let fullAtMs = Number.NEGATIVE_INFINITY
  return {
    /** The ms until the next write is due; 0 = now. */
    waitMs: (nowMs: number): number => Math.max(0, fullAtMs - (atOnce - 1) * everyMs - nowMs),
    /** A write was made. However many came before, the next one is due in `everyMs`. */
    spend(nowMs: number): void {
      fullAtMs = Math.min(Math.max(fullAtMs, nowMs) + everyMs, nowMs + atOnce * everyMs)
    },
  }
}
