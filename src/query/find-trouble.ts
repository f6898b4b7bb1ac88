// The timings of `state=trouble`: failed and abandoned ones and those with exceptions. The first two are a state that the store selects; exceptions may be
// in another store, so timings are read in large pages and joined with them here. Where no exception is near the range, the store alone answers.
import { compare } from '../store/order.ts'
import {
  type ExceptionSource,
  type Page,
  type Place,
  type PointSource,
  StoreError,
  type Timing,
  type TimingSelection,
} from '../store/source.ts'
import { countExceptions, GRACE_NS } from './count-exceptions.ts'

export interface TroublePage {
  readonly timings: readonly Timing[]
  /** The place to continue from although the page is not full: the search stopped after many timings without trouble. */
  readonly stoppedAt?: Place
}

interface Sources {
  readonly points: Pick<PointSource, 'findTimings'>
  readonly exceptions: Pick<ExceptionSource, 'findExceptions' | 'findMoments'>
}

/** Timings per page read, and pages: a page costs the store the pairing of the whole range. */
const SCAN_ROWS = 5_000
const SCANS_MAX = 4

export async function findTrouble(
  { points, exceptions }: Sources,
  q: TimingSelection,
  { limit, after }: Page,
  scan = { rows: SCAN_ROWS, pages: SCANS_MAX },
): Promise<TroublePage> {
  if (!(await hasExceptions(exceptions, q)))
    return {
      timings: await points.findTimings({ ...q, states: ['failed', 'abandoned'] }, { limit, ...(after && { after }) }),
    }
  const found: Timing[] = []
  let place = after
  for (let page = 0; page < scan.pages; page++) {
    const read = await points.findTimings(q, { limit: scan.rows, ...(place && { after: place }) })
    const counts = await countExceptions(exceptions, q, read, q.nowNs)
    for (const [i, timing] of read.entries())
      if (timing.state === 'failed' || timing.state === 'abandoned' || (counts[i] ?? 0) > 0) found.push(timing)
    if (found.length >= limit || read.length < scan.rows) return { timings: found.slice(0, limit) }
    place = read.at(-1)!.place
  }
  return { timings: found, ...(place && { stoppedAt: place }) }
}

/** Whether any exception may belong to a timing of the range. False too when their store is away. */
async function hasExceptions(source: Sources['exceptions'], q: TimingSelection): Promise<boolean> {
  const { uid: _, asOfNs: __, maxRunNs, nowNs, ...selection } = q
  const fromNs = q.fromNs > maxRunNs ? q.fromNs - maxRunNs : 0n
  const toNs = [q.toNs + maxRunNs, nowNs].toSorted(compare)[1]! + GRACE_NS
  try {
    return (await source.findExceptions({ ...selection, fromNs, toNs }, { limit: 1 })).length > 0
  } catch (error) {
    if (error instanceof StoreError) return false
    throw error
  }
}
