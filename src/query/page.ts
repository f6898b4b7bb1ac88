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

/** Limit for all lists of a kind together. */
const MAX_REMEMBERED = 200_000

/**
 * Pages of lists whose items move to the front when they send something. An event stored meanwhile would move its
 * item from a later page to one already read. So the cursor remembers the shown items; the next page holds the first
 * others. If they are forgotten (another node, a restart, too many lists), the page continues at the cursor.
 * `maxShown`: limit of items that one answer reads again.
 */
export function createListPages(maxShown: number) {
  const remembered = new Map<string, ReadonlySet<string>>()
  let total = 0

  function remember(cursor: string, shown: ReadonlySet<string>): void {
    total += shown.size - (remembered.get(cursor)?.size ?? 0)
    remembered.delete(cursor)
    remembered.set(cursor, shown)
    for (const [oldest, { size }] of remembered) {
      if (total <= MAX_REMEMBERED) return
      remembered.delete(oldest)
      total -= size
    }
  }

  /** `find` answers newest first; the ties of its items' places tell them apart. */
  return async <T extends { readonly place: Place }>(
    account: string,
    question: Question,
    find: (page: Page) => Promise<readonly T[]>,
  ): Promise<{ items: readonly T[]; next: string | null }> => {
    const { place, limit } = question
    const shown = place === undefined ? new Set<string>() : remembered.get(`${account} ${question.next(place)}`)
    if (shown === undefined) return cutPage(await find(pageOf(question)), question, placeOf)
    const found = await find({ limit: shown.size + limit + 1 })
    const page = cutPage(
      found.filter((item) => !shown.has(item.place.tie)),
      question,
      placeOf,
    )
    if (page.next !== null && shown.size + limit <= maxShown)
      remember(`${account} ${page.next}`, new Set([...shown, ...page.items.map((item) => item.place.tie)]))
    return page
  }
}

/** The page of a list that is held as a whole, in the order of its places. */
export const pageFrom = <T extends { readonly place: Place }>(items: readonly T[], { limit, after }: Page): T[] =>
  (after === undefined ? items : items.filter(({ place }) => comparePlaces(after, place) < 0)).slice(0, limit)
