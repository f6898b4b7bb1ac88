// Pages: one item more than requested is read to find out whether a next page exists; its cursor names the last item.
import { comparePlaces } from '../store/order.ts'
import type { Page, Place } from '../store/source.ts'
import type { Question } from './question.ts'

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
