// From the spool to events: reads a batch at the persisted position and decodes it. Nothing is changed by that.
// Decoding 4 MiB takes some 20 ms; requests that arrive meanwhile must not wait for all of it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Event } from '../event/event.ts'
import { fromRecord } from '../event/record.ts'
import type { Position, Spool } from '../spool/spool.ts'

export const MAX_RECORDS = 5000
export const MAX_BYTES = 4 * 1024 * 1024

const DECODE_AT_ONCE_CHARS = 256 * 1024

export interface Batch {
  /** Only what could be decoded; `records[i]` is the record of `events[i]`. */
  readonly events: readonly Event[]
  readonly records: readonly string[]
  /** Records that no Stint ever wrote. */
  readonly unreadable: readonly string[]
  /** The position behind all of them. */
  readonly next: Position
  /** Arrival of the oldest of them, µs since the epoch. */
  readonly oldestUs: number | undefined
}

/** The next batch, or undefined when the spool holds nothing more. */
export async function loadBatch(spool: Spool): Promise<Batch | undefined> {
  const { oldestUs } = spool.stats()
  const { records: lines, next } = await spool.read(MAX_RECORDS, MAX_BYTES)
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
  return { events, records, unreadable, next, oldestUs }
}
