// A line in the log when a spool begins to refuse because it is full, and one when it no longer does.
import type { Logger } from '../log.ts'

/** A spool that is being emptied goes to and fro at its limit. */
const AGAIN_BELOW = 0.9

/** Called now and then. */
export type NoteFull = (refuses: boolean, heldBytes: number) => void

export function createNoteFull(log: Logger, dir: string, maxBytes: number): NoteFull {
  let wasFull = false
  return (refuses, heldBytes) => {
    const isFull = refuses || (wasFull && heldBytes > AGAIN_BELOW * maxBytes)
    if (isFull === wasFull) return
    wasFull = isFull
    if (isFull) log.warn({ dir, maxBytes }, 'the spool is full: events are refused until its store takes some')
    else log.info({ dir }, 'the spool has room again')
  }
}
