// A page of rows that InfluxDB orders by time alone: rows of one time come in any order, and the last of them may be missing. So some more are read,
// those of the last time are dropped, and where nothing is left, even more are read.
import { comparePlaces } from '../compare.ts'
import type { Page, Place } from '../source.ts'

/** Part of the first time lies on the page before, and the last time is dropped: so many more rows are read at first. */
const SPARE_ROWS = 100
const GROWTH = 4

/** `read` gives the newest `count` rows (fewer: all) whose time is not later than that of the place. */
export async function readPage<Row extends { readonly place: Place }>(
  { limit, after }: Page,
  read: (count: number) => Promise<Row[]>,
): Promise<Row[]> {
  for (let count = limit + SPARE_ROWS; ; count *= GROWTH) {
    const rows = await read(count)
    const cutNs = rows.length < count ? undefined : rows.at(-1)!.place.ns
    const found = rows
      .filter(({ place }) => place.ns !== cutNs && (after === undefined || comparePlaces(after, place) < 0))
      .toSorted((a, b) => comparePlaces(a.place, b.place))
    if (found.length >= limit || cutNs === undefined) return found.slice(0, limit)
  }
}
