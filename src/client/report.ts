// Says what went wrong on stderr, at most once a minute and at the end of the process. The numbers of its lines add up
// to the events that were dropped or are not confirmed.
import type { DroppedEvent, StintOptions, Unconfirmed } from './declarations/stint.d.ts'
import { monotonicMs } from './event-times.ts'

const EVERY_MS = 60_000
/** The reason of what was sent, or was about to be, when the process ended: the answer is unknown. */
export const UNCONFIRMED = 'not confirmed before the process ended, it may be stored'

export function createReport(onDrop: StintOptions['onDrop']) {
  const warnings = new Set<string>()
  /** How many, by reason. */
  const dropped = new Map<string, number>()
  let printedAt = Number.NEGATIVE_INFINITY
  let isCollecting = false

  function print(): void {
    if (isCollecting || monotonicMs() - printedAt < EVERY_MS) return
    for (const [reason, count] of dropped) {
      const how = reason.startsWith(UNCONFIRMED) ? '' : 'dropped: '
      warnings.add(`${count} ${count === 1 ? 'event' : 'events'} ${how}${reason}`)
    }
    if (warnings.size > 0) printedAt = monotonicMs()
    for (const text of warnings) console.warn(`stint: ${text}`)
    warnings.clear()
    dropped.clear()
  }

  return {
    warn(text: string): void {
      warnings.add(text)
      print()
    },
    /** `line` is the event in JSON. */
    drop(line: string, reason: string, unconfirmed?: Unconfirmed) {
      try {
        if (onDrop !== undefined) return onDrop(JSON.parse(line) as DroppedEvent, reason, unconfirmed)
        const said = unconfirmed?.kept ? `${reason}; kept, sent later` : reason
        dropped.set(said, (dropped.get(said) ?? 0) + 1)
        print()
      } catch {
        // the caller's own fault must not end the sending
      }
    },
    /** At the end of the process: prints what is left, and what `work` adds to it, at once. */
    close(work: () => void): void {
      isCollecting = true
      work()
      isCollecting = false
      printedAt = Number.NEGATIVE_INFINITY
      print()
    },
  }
}
