// Two events are the same when the hash of everything in them but their time is the same. A caller's own time and this
// hash make its stamp, so the same event gets the same stamp on every node and after a restore, without any memory of
// it.
import { type Event, markName, ownValue } from './event.ts'
import type { Stamp } from './stamp.ts'

/** XXH64 of account, kind, process, meta, uid and content; the order of metrics does not count. */
export function contentOf(event: Event): bigint {
  const { account, process, meta, uid = '' } = event
  const value = ownValue(event)
  const own = value === undefined ? [] : [typeof value === 'string' ? value : value.toSorted(byName)]
  return hash([account, nameOf(event), process, meta, uid, ...own])
}

const nameOf = (event: Event) => (event.kind === 'start' || event.kind === 'end' ? markName(event) : event.kind)

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]) => (a < b ? -1 : 1)

const hash = (members: readonly unknown[]): bigint => Bun.hash.xxHash64(JSON.stringify(members))

/**
 * One hash for each InfluxDB series that the event has a point in: two events overwrite each other only within one and
 * with equal stamps.
 */
export function seriesOf(event: Event): bigint[] {
  const { account, process, meta } = event
  if (event.kind === 'metrics') return event.items.map(([name]) => hash([account, 'metric', process, meta, name]))
  return [hash([account, nameOf(event), process, meta])]
}

const US_LAST_DIGITS = [1, 5, 9] as const

/**
 * How many stamps there are for a caller's time, in µs since the epoch: the digits below its precision hold the hash.
 */
export const valuesAt = (us: number): number => (us % 1_000_000 === 0 ? 100_000_000 : us % 1000 === 0 ? 100_000 : 300)

/** One of the stamps of a caller's time; `value` is from 0 up to `valuesAt(us)`. */
export function stampAt(us: number, value: number): Stamp {
  const values = valuesAt(us)
  if (values === 300) return { us, sub: Math.floor(value / 3) * 10 + US_LAST_DIGITS[value % 3]! }
  return { us: us + Math.floor(value / 100), sub: (value % 100) * 10 + (values === 100_000 ? 3 : 7) }
}

/** The part of the content that chooses the stamp. */
export const choiceOf = (content: bigint): number => Number(BigInt.asUintN(48, content))

/**
 * The stamp of an event with its own time, in µs since the epoch. `moved` counts how often another event was found to
 * have the stamp before: each time the next value of the hash is taken, and when all are taken the next µs.
 */
export function ownStamp(atUs: number, content: bigint, moved = 0): Stamp {
  let us = atUs
  let rest = moved
  for (let values = valuesAt(us); rest >= values; values = valuesAt(us)) {
    rest -= values
    us++
  }
  return stampAt(us, (choiceOf(content) + rest) % valuesAt(us))
}
