// The summary of timings, written once without a store, as pair-marks.ts is for the timings themselves: the Flux and the SQL are proved equal to it.
import { bucketNs, compare } from '../../src/store/order.ts'
import type { Buckets, NewestRuns, TimingRow, TimingSummaryRow } from '../../src/store/source.ts'
import { type PairingQuestion, pairMarks, type StampedMark } from './pair-marks.ts'

export interface SummaryQuestion extends PairingQuestion, Buckets {
  readonly byMeta: boolean
  readonly newest?: boolean
  readonly quantiles?: readonly number[]
}

/**
 * One row per process (with `byMeta` per process and meta) that has a timing in the range. `count` and the figures are of completed timings: failed ones are
 * often short and would flatter them. A row without completed timings has a count of 0 and figures of null.
 *
 * A timing counts where it was settled: at the end of a completed or failed one, at any other's only mark, and only when that mark itself lies in
 * [fromNs, toNs). So neighbouring ranges count nothing twice. Of a series one row per bucket in which something was settled:
 * its figures do not depend on the range (except where the range cuts a bucket), and the counts of all buckets add up to those without.
 *
 * Ordered by bucket, then process, then meta, by code units.
 */
export function summarizeTimings(marks: readonly StampedMark[], question: SummaryQuestion): TimingSummaryRow[] {
  const { byMeta, everyNs, bounds, toNs, knownToNs } = question
  const isKnownTo = knownToNs !== undefined
  const fromNs = isKnownTo ? ((question.fromNs + 999n) / 1000n) * 1000n : question.fromNs
  const isSeries = everyNs !== undefined || bounds !== undefined
  const timings = pairMarks(marks, question).filter((timing) => {
    const settled = settledNs(timing)
    return (settled >= fromNs || (isKnownTo && timing.state === 'running')) && settled < toNs
  })
  const bucketOf = (timing: TimingRow) => bucketNs(latest(settledNs(timing), isKnownTo ? fromNs : 0n), question)
  const keyOf = (timing: TimingRow) =>
    JSON.stringify([
      !isSeries ? '' : String(bucketOf(timing)).padStart(20, '0'),
      timing.process,
      byMeta ? timing.meta : '',
    ])
  const rows = [...Map.groupBy(timings, keyOf).values()].map((group): TimingSummaryRow => {
    const { process, meta } = group[0]!
    return {
      process,
      ...(byMeta && { meta }),
      ...(isSeries && { atNs: bucketOf(group[0]!) }),
      ...figures(group, question.quantiles),
      ...(question.newest === true && { newest: newestOf(group) }),
    }
  })
  const all = isKnownTo && isSeries ? countAtOnce(rows, timings, { ...question, fromNs }) : rows
  return all.toSorted(
    (a, b) =>
      compare(a.atNs ?? 0n, b.atNs ?? 0n) || compare(a.process, b.process) || compare(a.meta ?? '', b.meta ?? ''),
  )
}

const latest = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** By the rule of src/store/at-once.ts, each bucket by itself. */
function countAtOnce(
  rows: readonly TimingSummaryRow[],
  timings: readonly TimingRow[],
  question: SummaryQuestion,
): TimingSummaryRow[] {
  const { byMeta, fromNs, toNs, everyNs, bounds } = question
  const starts = bounds?.filter((ns) => ns < toNs) ?? []
  if (bounds === undefined) for (let ns = bucketNs(fromNs, question); ns < toNs; ns += everyNs!) starts.push(ns)
  const keyOf = ({ process, meta }: Pick<TimingSummaryRow, 'process' | 'meta'>) =>
    JSON.stringify([process, byMeta ? meta : ''])
  return [...Map.groupBy(timings, keyOf).values()].flatMap((own) => {
    const spans = own.map((timing) => {
      const began = latest(timing.startedNs ?? timing.endedNs!, fromNs)
      return { began, ended: timing.state === 'running' ? toNs : latest(settledNs(timing), began + 1n) }
    })
    return starts.flatMap((atNs, i): TimingSummaryRow[] => {
      const begins = spans.map(({ began }) => began).filter((ns) => ns >= atNs && ns < (starts[i + 1] ?? toNs))
      const levels = [
        spans.filter(({ began, ended }) => began < atNs && ended >= atNs).length,
        ...begins.map((ns) => spans.filter(({ began, ended }) => began <= ns && ns < ended).length),
      ]
      const atOnce = Math.max(...levels)
      const row = rows.find((known) => known.atNs === atNs && keyOf(known) === keyOf(own[0]!))
      const { process, meta } = own[0]!
      return atOnce === 0 ? [] : [{ process, ...(byMeta && { meta }), atNs, ...figures([]), ...row, atOnce }]
    })
  })
}

/** The time of the mark that settled a timing: the end where it has one, else its start. */
export const settledNs = ({ startedNs, endedNs }: TimingRow): bigint => endedNs ?? startedNs!

/** Linear interpolation at q·(n−1) between the neighbours of a sorted list: Flux `exact_mean`, SQL `quantileExactInclusive`. */
export function quantile(sorted: readonly number[], q: number): number {
  const place = q * (sorted.length - 1)
  const below = sorted[Math.floor(place)]!
  const above = sorted[Math.ceil(place)]!
  return below + (above - below) * (place - Math.floor(place))
}

function newestOf(timings: readonly TimingRow[]): NewestRuns {
  const latest = (times: readonly (bigint | undefined)[]) =>
    times
      .filter((ns) => ns !== undefined)
      .toSorted(compare)
      .at(-1)
  const endsOf = (state: TimingRow['state']) => timings.filter((timing) => timing.state === state).map((t) => t.endedNs)
  const [startNs, completedNs, failedNs] = [
    latest(timings.map((timing) => timing.startedNs)),
    latest(endsOf('completed')),
    latest(endsOf('failed')),
  ]
  const last = timings
    .filter(({ startedNs, endedNs }) => startedNs !== undefined && endedNs !== undefined)
    .toSorted((a, b) => compare(a.endedNs!, b.endedNs!) || compare(a.startedNs!, b.startedNs!))
    .at(-1)
  return {
    ...(startNs !== undefined && { startNs }),
    ...(completedNs !== undefined && { completedNs }),
    ...(failedNs !== undefined && { failedNs }),
    ...(last !== undefined && { durationNs: last.endedNs! - last.startedNs! }),
  }
}

function figures(timings: readonly TimingRow[], quantiles?: readonly number[]) {
  const completed = timings.filter(({ state }) => state === 'completed')
  const ms = completed.map(({ startedNs, endedNs }) => Number(endedNs! - startedNs!) / 1e6).toSorted((a, b) => a - b)
  const sumNs = completed.reduce((sum, { startedNs, endedNs }) => sum + (endedNs! - startedNs!), 0n)
  const of = (state: TimingRow['state']) => timings.filter((timing) => timing.state === state).length
  const any = ms.length > 0
  return {
    count: ms.length,
    meanMs: any ? Number(sumNs) / 1e6 / ms.length : null,
    p50Ms: any ? quantile(ms, 0.5) : null,
    p95Ms: any ? quantile(ms, 0.95) : null,
    p99Ms: any ? quantile(ms, 0.99) : null,
    maxMs: any ? ms.at(-1)! : null,
    ...(quantiles && { quantilesMs: quantiles.map((q) => (any ? quantile(ms, q) : null)) }),
    failed: of('failed'),
    running: of('running'),
    abandoned: of('abandoned'),
    orphan: of('orphan'),
  }
}
