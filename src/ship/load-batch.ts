// Reads a batch from the spool and decodes it, without changing anything. Decoding 4 MiB takes about 20 ms, in slices
// of at most 0.3 ms, between which requests are handled.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Event } from '../event/event.ts'
import { fromRecord } from '../event/record.ts'
import type { Position, Spool } from '../spool/spool.ts'

export interface BatchLimits {
  readonly records: number
  readonly bytes: number
}

const DECODE_AT_ONCE_CHARS = 64 * 1024

export interface Batch {
  /** Only what could be decoded; `records[i]` is the record of `events[i]`. */
  readonly events: readonly Event[]
  readonly records: readonly string[]
  /** Records that no Stint ever wrote. */
  readonly unreadable: readonly string[]
  /** The position behind all of them. */
  readonly next: Position
}

/** The batch at the position, or the one at `from` behind it; undefined when the spool holds nothing there. */
export async function loadBatch(spool: Spool, limits: BatchLimits, from?: Position): Promise<Batch | undefined> {
  const { records: lines, next } = await spool.read(limits.records, limits.bytes, from)
  if (lines.length === 0) return undefined

  const events: Event[] = []
  const records: string[] = []
  const unreadable: string[] = []
  let decodedChars = 0
  for (const line of lines) {
    decodedChars += line.length
    if (decodedChars > DECODE_AT_ONCE_CHARS) {
      await nextTurn()
      decodedChars = 0
    }
    try {
      events.push(fromRecord(line))
      records.push(line)
    } catch {
      unreadable.push(line)
    }
  }
  return { events, records, unreadable, next }
}
