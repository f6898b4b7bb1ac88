// The summary of timings (test/support/summarize-timings.ts) from InfluxDB. Timings are counted as they settle; only
// the rows and 8 bytes per run are kept in memory.
import { rest, spend } from '../../turns.ts'
import { addAtOnce, type Level } from '../at-once.ts'
import { floorTo } from '../order.ts'
import { boundsInUs } from '../pair-marks.ts'
import type { NewestRuns, PointSource, TimingState, TimingSummaryRow } from '../source.ts'
import { createDurations } from './durations.ts'
import type { OpenStartsCache } from './open-starts.ts'
import type { MarkReader, Subject } from './read-marks.ts'
import { settleRange } from './settle-range.ts'
import { type PairedMarks, streamTimings } from './stream-timings.ts'

type SummaryQuestion = Parameters<PointSource['summarizeTimings']>[0]

interface Row {
  readonly subject: Subject
  readonly bucketUs: number
  readonly durations: ReturnType<typeof createDurations>
  readonly counts: Record<Exclude<TimingState, 'completed'>, number>
  /** In µs; 0 without any. */
  readonly newest: Record<'start' | 'completed' | 'failed' | 'lastStart' | 'lastEnd', number>
  /** The beginnings and ends of timings in this bucket, in any order: µs since the range's beginning · 4 + `MOMENT`. */
  readonly moments: number[]
}

/** Of one µs in this order. */
const MOMENT = { end: 0, start: 1, endAtOnce: 2 } as const

/** In no particular order. */
export async function summarizeTimings(
  reader: MarkReader,
  openStarts: OpenStartsCache,
  q: SummaryQuestion,
): Promise<TimingSummaryRow[]> {
  const bounds = boundsInUs(q)
  const bucketUs = createBucketUs(q)
  const isSeries = q.everyNs !== undefined || q.bounds !== undefined
  const isKnownTo = q.knownToNs !== undefined
  const rows: Row[] = []
  const rowOf = createRows(q.byMeta, rows)

  const take = ({ state, subject, mark, start }: PairedMarks) => {
    const settledUs = mark.at
    const isEarlier = settledUs < bounds.from && !(isKnownTo && bounds.nowReaches && state === 'running')
    if (isEarlier || settledUs >= bounds.to) return undefined
    const row = rowOf(subject, bucketUs(Math.max(settledUs, bounds.from)))
    if (isKnownTo && isSeries) {
      const beganUs = Math.max((start ?? mark).at, bounds.from)
      rowOf(subject, bucketUs(beganUs)).moments.push((beganUs - bounds.from) * 4 + MOMENT.start)
      const end = settledUs > beganUs ? MOMENT.end : MOMENT.endAtOnce
      if (state !== 'running') row.moments.push((settledUs - bounds.from) * 4 + end)
    }
    if (state === 'completed') row.durations.add(mark.at - start!.at)
    else row.counts[state]++
    if (q.newest) noteNewest(row.newest, { state, startUs: mark.mark === 'start' ? settledUs : start?.at, settledUs })
    return rows.length === q.maxRows ? 'enough' : undefined
  }
  if (!(await settleRange(reader, q, take))) await streamTimings(reader, q, take, await openStarts.find(reader, q))

  const answer: TimingSummaryRow[] = []
  for (const row of rows) {
    const quantilesMs: (number | null)[] = []
    for (const quantile of q.quantiles ?? []) {
      quantilesMs.push(row.durations.quantileMs(quantile))
      if (spend(1 + row.durations.count / 24)) await rest()
    }
    answer.push({ ...toSummaryRow(row, q), ...(q.quantiles && { quantilesMs }) })
    if (spend(1 + row.durations.count / 8)) await rest()
  }
  return isKnownTo && isSeries ? addAtOnce(answer, await toLevels(rows, q.byMeta), q) : answer
}

async function toLevels(rows: readonly Row[], byMeta: boolean): Promise<Level[]> {
  const keyOf = ({ subject }: Row) => (byMeta ? JSON.stringify([subject.process, subject.meta]) : subject.process)
  const levels: Level[] = []
  for (const own of Map.groupBy(rows, keyOf).values()) {
    let level = 0
    for (const { subject, bucketUs, moments } of own.toSorted((a, b) => a.bucketUs - b.bucketUs)) {
      const before = level
      let peak = 0
      for (const moment of moments.sort((a, b) => a - b)) {
        level += moment % 4 === MOMENT.start ? 1 : -1
        peak = Math.max(peak, level)
      }
      const { process, meta } = subject
      levels.push({ process, ...(byMeta && { meta }), atNs: BigInt(bucketUs) * 1000n, peak, gained: level - before })
      if (spend(1 + moments.length)) await rest()
    }
  }
  return levels
}

/** The start of the bucket of a moment, both in µs; 0 where no series is asked for. */
function createBucketUs({ everyNs, bounds }: SummaryQuestion): (us: number) => number {
  if (bounds !== undefined) {
    const starts = bounds.map((ns) => Number(ns / 1000n))
    return (us) => floorTo(starts, us)
  }
  if (everyNs === undefined) return () => 0
  const everyUs = Number(everyNs / 1000n)
  return (us) => us - (us % everyUs)
}

/** Finds the row of a subject and bucket, and adds a missing one to `rows`. */
function createRows(byMeta: boolean, rows: Row[]) {
  const ofProcess = new Map<string, Map<number, Row>>()
  const ofSubject = new Map<Subject, Map<number, Row>>()

  function bucketsOf(subject: Subject): Map<number, Row> {
    if (byMeta) return new Map()
    const same = ofProcess.get(subject.process) ?? new Map<number, Row>()
    ofProcess.set(subject.process, same)
    return same
  }

  return (subject: Subject, bucketUs: number): Row => {
    let buckets = ofSubject.get(subject)
    if (buckets === undefined) {
      buckets = bucketsOf(subject)
      ofSubject.set(subject, buckets)
    }
    const known = buckets.get(bucketUs)
    if (known !== undefined) return known
    const counts = { failed: 0, running: 0, abandoned: 0, orphan: 0 }
    const newest = { start: 0, completed: 0, failed: 0, lastStart: 0, lastEnd: 0 }
    const row: Row = { subject, bucketUs, durations: createDurations(), counts, newest, moments: [] }
    buckets.set(bucketUs, row)
    rows.push(row)
    return row
  }
}

/** `lastStart` and `lastEnd` are those of the run which ended last. */
function noteNewest(
  newest: Row['newest'],
  { state, startUs, settledUs }: { state: TimingState; startUs: number | undefined; settledUs: number },
): void {
  newest.start = Math.max(newest.start, startUs ?? 0)
  if (state !== 'completed' && state !== 'failed') return
  newest[state] = Math.max(newest[state], settledUs)
  if (startUs === undefined || settledUs < newest.lastEnd) return
  newest.lastStart = settledUs > newest.lastEnd ? startUs : Math.max(newest.lastStart, startUs)
  newest.lastEnd = settledUs
}

function toNewest({ start, completed, failed, lastStart, lastEnd }: Row['newest']): NewestRuns {
  const ns = (us: number) => BigInt(us) * 1000n
  return {
    ...(start > 0 && { startNs: ns(start) }),
    ...(completed > 0 && { completedNs: ns(completed) }),
    ...(failed > 0 && { failedNs: ns(failed) }),
    ...(lastEnd > 0 && { durationNs: ns(lastEnd - lastStart) }),
  }
}

const toSummaryRow = (
  { subject, bucketUs, durations, counts, newest }: Row,
  { byMeta, everyNs, bounds, newest: isNewest }: SummaryQuestion,
): TimingSummaryRow => ({
  process: subject.process,
  ...(byMeta && { meta: subject.meta }),
  ...((everyNs !== undefined || bounds !== undefined) && { atNs: BigInt(bucketUs) * 1000n }),
  count: durations.count,
  meanMs: durations.meanMs(),
  p50Ms: durations.quantileMs(0.5),
  p95Ms: durations.quantileMs(0.95),
  p99Ms: durations.quantileMs(0.99),
  maxMs: durations.maxMs(),
  ...counts,
  ...(isNewest && { newest: toNewest(newest) }),
})
