// Pages: one item more than requested is read, to see whether there is a next page; its cursor names the last item of this one.
import type { Page, Place } from '../store/source.ts'
import type { Question } from './question.ts'

export function pageOf({ limit, place }: Question): Page {
  const [ns, tie] = place ?? []
  return { limit: limit + 1, ...(ns !== undefined && tie !== undefined && { after: { ns: BigInt(ns), tie } }) }
}

/** A row's place as a cursor carries it. */
export const placeOf = ({ place }: { readonly place: Place }): readonly string[] => [String(place.ns), place.tie]

/** The items of this page and the cursor of the next one, null on the last page. */
export function cutPage<T>(found: readonly T[], { limit, next }: Question, placeOf: (item: T) => readonly string[]) {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? next(placeOf(last)) : null }
}
