// The timings of `state=trouble`: failed and abandoned ones and those with exceptions. The first two are a state that
// the store selects; exceptions may be in another store, so they are joined with timings here: while the marks stream
// where the source can (InfluxDB), otherwise in large pages. Where no exception is near the range, the store alone
// answers.
import { compare } from '../store/order.ts'
import {
  type ExceptionMoment,
  type ExceptionSource,
  type Page,
  type Place,
  type PlainTiming,
  type PointSource,
  type Selection,
  StoreError,
  type TimingRow,
  type TimingSelection,
} from '../store/source.ts'
import { countExceptions, createExceptionCount, GRACE_NS } from './count-exceptions.ts'

interface TroublePage {
  readonly timings: readonly TimingRow[]
  /** Where to continue although the page is not full: the search stopped after many timings without trouble. */
  readonly stoppedAt?: Place
}

interface Sources {
  readonly points: Pick<PointSource, 'findTimings' | 'findMatching'>
  readonly exceptions: Pick<ExceptionSource, 'findExceptions' | 'findMoments'>
}

/** Timings per page read, and pages: a page costs the store the pairing of the whole range. */
const SCAN_ROWS = 5_000
const SCANS_MAX = 4
/** Exceptions that are held while the marks stream; with more, pages are joined. */
const MOMENTS_MAX = 50_000
/** Exceptions per timing of a page that make reading a part of the range worth while. */
const MANY = 4

export async function findTrouble(
  { points, exceptions }: Sources,
  q: TimingSelection,
  page: Page,
  scan = { rows: SCAN_ROWS, pages: SCANS_MAX },
): Promise<TroublePage> {
  const { limit, after } = page
  if (points.findMatching !== undefined) {
    const moments = await readMoments(exceptions, q)
    if (moments.length <= MOMENTS_MAX) {
      const count = await createExceptionCount(moments, q.nowNs, { each: MOMENTS_MAX, all: MOMENTS_MAX })
      const matches = (timing: PlainTiming) => isTrouble(timing, count.atMost(timing))
      const cut = async (read: readonly TimingRow[]): Promise<TroublePage> => {
        const counts = await count.countAll(read)
        const timings = read.filter((timing, i) => isTrouble(timing, counts[i]))
        return { timings, ...(read.length >= limit && timings.length < limit && { stoppedAt: read.at(-1)!.place }) }
      }
      // many exceptions: the newest part of the range likely holds a page, and then what begins before it comes later
      const partNs = moments[MANY * limit]?.atNs ?? 0n
      if (partNs > (q.fromNs + q.toNs) / 2n) {
        const newest = await points.findMatching({ ...q, fromNs: partNs }, page, matches)
        if (newest.filter(({ place }) => place.ns >= partNs).length >= limit) return await cut(newest)
      }
      return await cut(await points.findMatching(q, page, matches))
    }
  }
  if (!(await hasExceptions(exceptions, q)))
    return {
      timings: await points.findTimings({ ...q, states: ['failed', 'abandoned'] }, { limit, after }),
    }
  const found: TimingRow[] = []
  let place = after
  for (let scanned = 0; scanned < scan.pages; scanned++) {
    const read = await points.findTimings(q, { limit: scan.rows, after: place })
    const counts = await countExceptions(exceptions, q, read, q.nowNs)
    found.push(...read.filter((timing, i) => isTrouble(timing, counts[i])))
    if (found.length >= limit || read.length < scan.rows) return { timings: found.slice(0, limit) }
    place = read.at(-1)!.place
  }
  return { timings: found, ...(place && { stoppedAt: place }) }
}

const isTrouble = ({ state }: PlainTiming, exceptions: number | null | undefined): boolean =>
  state === 'failed' || state === 'abandoned' || (exceptions ?? 0) > 0

/** Whether any exception may belong to a timing of the range. False too when their store is away. */
const hasExceptions = async (source: Sources['exceptions'], q: TimingSelection): Promise<boolean> =>
  (await unlessAway(source.findExceptions(around(q), { limit: 1 }))).length > 0

/** The newest that may belong to a timing of the range: so many that one more shows that there are others. */
const readMoments = (source: Sources['exceptions'], q: TimingSelection): Promise<ExceptionMoment[]> =>
  unlessAway(source.findMoments({ ...around(q), limitEach: MOMENTS_MAX + 1, limit: MOMENTS_MAX + 1 }))

function around({ uid: _, asOfNs: __, maxRunNs, nowNs, ...selection }: TimingSelection): Selection {
  const fromNs = selection.fromNs > maxRunNs ? selection.fromNs - maxRunNs : 0n
  const toNs = [selection.toNs + maxRunNs, nowNs].toSorted(compare)[1]! + GRACE_NS
  return { ...selection, fromNs, toNs }
}

const unlessAway = <T>(found: Promise<T[]>): Promise<T[]> =>
  found.catch((error) => {
    if (error instanceof StoreError) return []
    throw error
  })
