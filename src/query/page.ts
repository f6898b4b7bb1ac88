// Pages: one item more than asked for is read, to see whether there is a next page; its cursor names the last item of this one.
import type { Page } from '../store/source.ts'
import type { Question } from './question.ts'

export function pageOf({ limit, place }: Question): Page {
  const [ns, name] = place ?? []
  return {
    limit: limit + 1,
    ...(ns !== undefined && { after: { ns: BigInt(ns), ...(name !== undefined && { name }) } }),
  }
}

/** The items of this page and the cursor of the next one, null when there is none. */
export function cutPage<T>(found: readonly T[], { limit, next }: Question, placeOf: (item: T) => readonly string[]) {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? next(placeOf(last)) : null }
}
