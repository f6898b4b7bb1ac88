// Events that the store refuses because another writer broke their measurement or table, for example with a foreign
// field type. Stores separate families, and times by at least an hour: so one family in one hour (a stretch) is held
// back and the rest delivered. Kept in memory only: after a restart the store refuses them again.
import { type Event, type Family, familyOf } from '../event/event.ts'
import type { Batch } from './load-batch.ts'

const HOUR_US = 3.6e9
const CHECKS_PER_ROUND = 8

export const hourOf = ({ stamp }: Event): number => Math.floor(stamp.us / HOUR_US)

const stretchOf = (event: Event): string => `${familyOf(event.kind)} ${hourOf(event)}`

interface Stretch {
  /** One of its events. */
  readonly like: Event
  readonly reason: string
}

export interface Condemned {
  readonly account: string
  readonly reason: string
  readonly record: string
}

export interface Sorted extends Pick<Batch, 'events' | 'records'> {
  readonly condemned: readonly Condemned[]
}

export function createHeldBack() {
  const stretches = new Map<string, Stretch>()
  const verdicts = new Map<string, { readonly reason: string; readonly mark: number }>()
  let round: Stretch[] | undefined
  let left = 0

  return {
    /** Count of stretches. */
    get size(): number {
      return stretches.size
    },
    add(like: Event, reason: string): void {
      stretches.set(stretchOf(like), { like, reason })
    },
    has: (event: Event): boolean => stretches.size > 0 && stretches.has(stretchOf(event)),
    /** For people: what is held back, and why; '' when nothing is. */
    describe(): string {
      const byFamily = Map.groupBy(stretches.values(), ({ like }) => familyOf(like.kind))
      return [...byFamily]
        .map(([family, of]) => {
          const first = of.reduce((a, b) => (hourOf(b.like) < hourOf(a.like) ? b : a))
          const hour = `${new Date(hourOf(first.like) * 3.6e6).toISOString().slice(0, 13)}:00Z`
          const more = of.length > 1 ? ` and ${of.length - 1} more` : ''
          return `${family} of the hour ${hour}${more} are held back, the rest is delivered: ${first.reason}`
        })
        .join('; ')
    },
    /**
     * An event of the stretch to check next; undefined ends the round, and the next call begins another. A round is a
     * few stretches in turn, or all of them once one was released: the cause is then repaired.
     */
    next(): Event | undefined {
      if (round === undefined) left = CHECKS_PER_ROUND
      round ??= [...stretches.values()]
      const stretch = left-- > 0 ? round.shift() : undefined
      if (stretch === undefined) {
        round = undefined
        return undefined
      }
      const key = stretchOf(stretch.like)
      stretches.delete(key)
      stretches.set(key, stretch) // last in the next round
      return stretch.like
    },
    release(like: Event): void {
      stretches.delete(stretchOf(like))
      left = Number.POSITIVE_INFINITY
    },
    /** The operator gives up what is held back; `mark` is the spool's. Returns its families, possibly none. */
    condemn(reason: string, mark: number): readonly Family[] {
      for (const stretch of stretches.keys()) verdicts.set(stretch, { reason, mark })
      return [...new Set([...stretches.values()].map(({ like }) => familyOf(like.kind)))]
    },
    /** Splits off the events to deliver now and those the operator gave up; omits those held back. */
    sort({ events, records }: Pick<Batch, 'events' | 'records'>): Sorted {
      if (stretches.size + verdicts.size === 0) return { events, records, condemned: [] }
      const sorted = { events: [] as Event[], records: [] as string[], condemned: [] as Condemned[] }
      for (const [i, event] of events.entries()) {
        const [stretch, record] = [stretchOf(event), records[i]!]
        const reason = verdicts.get(stretch)?.reason
        if (reason !== undefined) sorted.condemned.push({ account: event.account, reason, record })
        else if (!stretches.has(stretch)) {
          sorted.events.push(event)
          sorted.records.push(record)
        }
      }
      return sorted
    },
    /** Forgets the operator's reasons whose mark has been passed. */
    forgetVerdicts(isPassed: (mark: number) => boolean): void {
      for (const [stretch, { mark }] of verdicts) if (isPassed(mark)) verdicts.delete(stretch)
    },
    clear(): void {
      stretches.clear()
      round = undefined
    },
  }
}
