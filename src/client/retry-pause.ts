// How long a client waits after an answer that it did not get, or that asks it to come again.
import { monotonicMs } from './event-times.ts'
import { type Answer, REFUSED } from './judge-answer.ts'
import type { ExitLimits } from './settings.ts'

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
/** Beyond this the server's own wish is not followed. */
const MAX_RETRY_AFTER_MS = 300_000
/** Between two attempts while somebody waits for a restart. */
const RESTART_PAUSE_MS = 1_000
/** A flush tries a last time this long before its time is over. */
export const LAST_TRY_MS = 500

/** The pauses between attempts, and how long somebody waits for their success in `flush` or `leave`. */
export function createPatience() {
  /** Attempts without progress. */
  let tries = 0
  let hurryUntil = 0
  /** As long as the server seems to restart. */
  let restartUntil = 0
  /** The last attempt was refused a connection or answered 503. */
  let isRestarting = false

  return {
    noteAnswer({ status, text }: Answer): void {
      isRestarting = status === 503 || (status === 0 && text === REFUSED)
    },
    noteProgress(): void {
      tries = 0
    },
    isRestarting: (): boolean => isRestarting,
    /** Until the next attempt. */
    pauseMs(retryAfterMs: number): number {
      const nowMs = monotonicMs()
      const isAwaited = isRestarting && nowMs < restartUntil
      const backOff = Math.min(isAwaited ? RESTART_PAUSE_MS : MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++)
      const wait = Math.max(backOff * (0.5 + Math.random() / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
      const spare = hurryUntil - nowMs - LAST_TRY_MS
      return spare > 0 ? Math.min(wait, spare) : wait
    },
    /** One more waits; the one that waits longest counts. */
    extend({ withinMs, restartMs }: ExitLimits): void {
      hurryUntil = Math.max(hurryUntil, monotonicMs() + withinMs)
      restartUntil = Math.max(restartUntil, monotonicMs() + restartMs)
      tries = 0
    },
    /** The process ends: nobody waits longer than that. */
    limit({ withinMs, restartMs }: ExitLimits): void {
      hurryUntil = monotonicMs() + withinMs
      restartUntil = monotonicMs() + restartMs
      tries = 0
    },
    leftMs: (): number => (isRestarting ? Math.max(hurryUntil, restartUntil) : hurryUntil) - monotonicMs(),
  }
}
