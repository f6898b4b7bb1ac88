// Looks for a page in the newest part of its range first: the tables are not in the order of time, so a page of a long
// range would read and sort all of it.
import type { Page, Place, Selection } from '../source.ts'

/** The newest 64th, the newest eighth, all. */
export const PARTS = [64n, 8n, 1n] as const

/** Where such a part of the range begins. */
export const newestPart = ({ fromNs, toNs }: Selection, part: bigint): bigint => toNs - (toNs - fromNs) / part

const DAY_NS = 86_400_000_000_000n

/** Without what is later than the page's place: earlier pages had it. */
export function upToPlace<Q extends Selection>(q: Q, { after }: Page): Q {
  return after === undefined || after.ns >= q.toNs ? q : { ...q, toNs: after.ns + 1n }
}

/** A page of rows, newest first, of what `find` reads. A full page has nothing that is older than its part. */
export async function findInParts<Q extends Selection, Row extends { readonly place: Place }>(
  q: Q,
  page: Page,
  find: (q: Q) => Promise<Row[]>,
): Promise<Row[]> {
  const range = upToPlace(q, page)
  const parts = range.toNs - range.fromNs > DAY_NS ? PARTS.slice(0, -1) : []
  for (const part of parts) {
    const rows = await find({ ...range, fromNs: newestPart(range, part) })
    if (rows.length === page.limit) return rows
  }
  return find(range)
}
