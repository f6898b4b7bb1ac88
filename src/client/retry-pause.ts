// How long a client waits after an answer that it did not get, or that asks it to come again.
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
/** Beyond this the server's own wish is not followed. */
const MAX_RETRY_AFTER_MS = 300_000
/** Between two attempts while somebody waits for a restart. */
const RESTART_PAUSE_MS = 1_000
/** A flush tries a last time this long before its time is over. */
export const LAST_TRY_MS = 500

interface Pause {
  /** Attempts before this one. */
  readonly tries: number
  readonly retryAfterMs: number
  /** Somebody waits for a server that seems to restart. */
  readonly isAwaited: boolean
  /** Until the time of a flush is over; negative without one. */
  readonly spareMs: number
  /** From 0 to 1. */
  readonly chance: number
}

export function findPause({ tries, retryAfterMs, isAwaited, spareMs, chance }: Pause): number {
  const backOff = Math.min(isAwaited ? RESTART_PAUSE_MS : MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries)
  const wait = Math.max(backOff * (0.5 + chance / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
  const spare = spareMs - LAST_TRY_MS
  return spare > 0 ? Math.min(wait, spare) : wait
}
