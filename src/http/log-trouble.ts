// A store or a disk that is in trouble fails many requests at once and for long: why is logged, but each cause only now and then.
import type { Logger } from '../log.ts'

const EVERY_US = 10_000_000
const MAX_CAUSES = 100

/** Logs `what` with its cause, at most once in ten seconds a cause. `nowUs` may be any clock that does not step back. */
export function createLogTrouble(
  log: Logger,
  nowUs: () => number,
  what: string,
): (cause: unknown, path: string) => void {
  /** When each cause was logged, the longest ago first. */
  const loggedUs = new Map<string, number>()
  return (cause, path) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const now = nowUs()
    if (now - (loggedUs.get(reason) ?? Number.NEGATIVE_INFINITY) < EVERY_US) return
    loggedUs.delete(reason)
    if (loggedUs.size >= MAX_CAUSES) loggedUs.delete(loggedUs.keys().next().value!)
    loggedUs.set(reason, now)
    log.warn({ reason, path }, what)
  }
}
