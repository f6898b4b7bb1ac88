// A question → the events that the stores are asked for, and the page of them. One item more than requested is read, to
// see whether there is a next page; its cursor names the last item of this one.
import { comparePlaces } from '../store/order.ts'
import type { Asker, Buckets, Page, Place, Selection } from '../store/source.ts'
import { bucketsOf } from './buckets.ts'
import type { Question } from './question.ts'

/** The buckets of a question that has passed `assertBuckets`. */
export const buckets = ({ every, tz, fromNs, toNs }: Question): Buckets =>
  every === undefined ? {} : bucketsOf(every, tz, fromNs, toNs)

/** A later page's range ends at the place where it continues, so that nothing newer is read. */
export function select(asker: Asker, question: Question): Selection {
  const { fromNs, toNs, place, slowest } = question
  const afterNs = place?.[0] === undefined || slowest ? toNs : BigInt(place[0]) + 1n
  return {
    ...selectRange(asker, question),
    toNs: afterNs > toNs ? toNs : afterNs > fromNs ? afterNs : fromNs + 1n,
  }
}

/** The whole range on every page: for lists of what holds many events. */
export function selectRange(asker: Asker, { fromNs, toNs, process, meta }: Question): Selection {
  return { ...asker, fromNs, toNs, process, meta }
}

/** The moment whose states a question about timings asks for. */
export const seenAtNs = ({ nowNs, toNs, as_of }: Question): bigint =>
  as_of !== undefined && toNs < nowNs ? toNs : nowNs

/** The texts that a question selects. */
export const selectTexts = ({ fingerprint, uid, text }: Question) => ({ fingerprint, uid, words: text })

export function pageOf({ limit, place }: Question): Page {
  const [ns, tie] = place ?? []
  return { limit: limit + 1, after: ns === undefined || tie === undefined ? undefined : { ns: BigInt(ns), tie } }
}

/** A row's place as a cursor carries it. */
export const placeOf = ({ place }: { readonly place: Place }): readonly string[] => [String(place.ns), place.tie]

/** The items of this page and the cursor of the next one, null on the last page. */
export function cutPage<T>(found: readonly T[], { limit, next }: Question, placeOf: (item: T) => readonly string[]) {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? next(placeOf(last)) : null }
}

/** The page of a list that is held as a whole, in the order of its places. */
export const pageFrom = <T extends { readonly place: Place }>(items: readonly T[], { limit, after }: Page): T[] =>
  (after === undefined ? items : items.filter(({ place }) => comparePlaces(after, place) < 0)).slice(0, limit)
