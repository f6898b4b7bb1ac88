// Which job became slower: the median of the last 24 hours against that of the 7 days before, from the store. The days
// before are asked once an hour; a store that refuses the whole week as too large is asked for fewer days.
import type { Summary, SummaryRow } from '../../wire/timings.ts'
import { type Api, ApiError } from '../kit/api.ts'

export const WEEK_EVERY_MS = 3_600_000
const RANGES = ['-8d', '-4d', '-2d']
const UNTIL = '-24h'
/** Fewer runs before say nothing about what is usual. */
const FEWEST_BEFORE = 3
const LEAST_DIFFERENCE_MS = 10
/** A ratio above it is marked. */
export const SLOWER = 1.2

export interface WeekRatio {
  /** Medians. */
  readonly nowMs: number
  readonly beforeMs: number
  readonly ratio: number
}

/** Totals per process of the days before the last 24 hours; none if the store refuses even one day. Throws ApiError. */
export type AskWeekBefore = (signal?: AbortSignal) => Promise<readonly SummaryRow[]>

export function createAskWeekBefore(api: Api, nowMs: () => number): AskWeekBefore {
  let held: readonly SummaryRow[] = []
  let heldAtMs = Number.NEGATIVE_INFINITY

  async function ask(signal: AbortSignal | undefined): Promise<readonly SummaryRow[]> {
    for (const from of RANGES) {
      try {
        return (await api.get<Summary>('api/timings/summary', { from, to: UNTIL }, signal)).rows
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'question_too_large') throw error
      }
    }
    return []
  }

  return async (signal) => {
    if (nowMs() - heldAtMs >= WEEK_EVERY_MS) {
      held = await ask(signal)
      heldAtMs = nowMs()
    }
    return held
  }
}

/** undefined without runs to compare. */
export function compareWeek(now: SummaryRow | undefined, before: SummaryRow | undefined): WeekRatio | undefined {
  if (now?.p50_ms == null || before?.p50_ms == null || before.count < FEWEST_BEFORE) return undefined
  const { p50_ms: nowMs } = now
  const { p50_ms: beforeMs } = before
  const isSame = beforeMs <= 0 || Math.abs(nowMs - beforeMs) < LEAST_DIFFERENCE_MS
  return { nowMs, beforeMs, ratio: isSame ? 1 : nowMs / beforeMs }
}
