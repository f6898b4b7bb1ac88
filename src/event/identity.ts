// What makes an event the same event: a hash of everything in it but its time. A caller's own time and this hash make its stamp, so the same
// event gets the same stamp on every node and after a restore, without any memory of it (DESIGN.md 4, lane 1).
import { type Event, markName } from './event.ts'
import type { Stamp } from './stamp.ts'

/** XXH64 of account, kind, process, meta, uid and content; the order of metrics does not count. */
export function contentOf(event: Event): bigint {
  const { account, process, meta } = event
  switch (event.kind) {
    case 'start':
    case 'end':
      return hash([account, markName(event), process, meta, event.uid])
    case 'metrics':
      return hash([account, 'metrics', process, meta, event.uid ?? '', event.items.toSorted(byName)])
    case 'exception':
      return hash([account, 'exception', process, meta, event.uid ?? '', event.exception])
    default:
      return event satisfies never
  }
}

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]) => (a < b ? -1 : 1)

const hash = (members: readonly unknown[]): bigint => Bun.hash.xxHash64(JSON.stringify(members))

const US_LAST_DIGITS = [1, 5, 9] as const

/**
 * The stamp of an event with its own time, in µs since the epoch. `moved` counts how often another event was found to have the stamp before:
 * each time the next value of the hash is taken, and when all are taken the next µs.
 */
export function ownStamp(atUs: number, content: bigint, moved = 0): Stamp {
  const values = atUs % 1_000_000 === 0 ? 100_000_000 : atUs % 1000 === 0 ? 100_000 : 300
  if (moved >= values) return ownStamp(atUs + 1, content, moved - values)
  const value = (Number(content % BigInt(values)) + moved) % values
  if (values === 300) return { us: atUs, sub: Math.floor(value / 3) * 10 + US_LAST_DIGITS[value % 3]! }
  return { us: atUs + Math.floor(value / 100), sub: (value % 100) * 10 + (values === 100_000 ? 3 : 7) }
}
