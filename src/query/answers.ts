// Turns rows of the sources into the JSON of answers: times are RFC 3339 with nine digits, lengths ms, absent values
// null. Lists are sorted here, the same for every store; names compare by code units, null before any.
import { formatNs } from '../event/stamp.ts'
import { NO_FIGURES } from '../store/at-once.ts'
import { compare, compareMetricRows, comparePlaces } from '../store/order.ts'
import { PROCESS_METAS, type ProcessRow } from '../store/process-row.ts'
import type {
  ExceptionGroupRow,
  ExceptionRow,
  MetricPointRow,
  MetricSummaryRow,
  Place,
  PlainTiming,
  TextRow,
  TimingSummaryRow,
} from '../store/source.ts'
import { groupInTurns, mapInTurns, sortInTurns } from '../turns.ts'
import type * as exceptions from '../wire/exceptions.ts'
import { shortHeadline } from '../wire/headline.ts'
import type * as metrics from '../wire/metrics.ts'
import { PROCESS_KINDS, type ProcessEntry } from '../wire/processes.ts'
import type * as timings from '../wire/timings.ts'
import type { Percentile } from './parameters.ts'
import type { RunMetrics } from './run-metrics.ts'

const NS_PER_MS = 1_000_000n

const orNull = (text: string): string | null => (text === '' ? null : text)
const timeOrNull = (ns: bigint | undefined): string | null => (ns === undefined ? null : formatNs(ns))

/** The number nearest to ns / 10⁶, from decimal digits: dividing two numbers rounds twice beyond 2⁵³ ns (104 days). */
export const toMs = (ns: bigint): number => Number(`${ns / NS_PER_MS}.${String(ns % NS_PER_MS).padStart(6, '0')}`)

export const answerTiming = (
  { process, meta, uid, state, startedNs, endedNs }: PlainTiming,
  exceptions: number | null = null,
  metrics?: RunMetrics,
): timings.Timing => ({
  process,
  meta: orNull(meta),
  uid: orNull(uid),
  state,
  started_at: timeOrNull(startedNs),
  ended_at: timeOrNull(endedNs),
  duration_ms: startedNs === undefined || endedNs === undefined ? null : toMs(endedNs - startedNs),
  exceptions,
  ...(metrics && { metrics }),
})

/** Oldest bucket first, then by process and meta. With `before` (not for series) all rows have both figures. */
export async function answerSummary(
  rows: readonly TimingSummaryRow[],
  percentiles: readonly Percentile[] = [],
  before?: readonly TimingSummaryRow[],
): Promise<timings.SummaryRow[]> {
  const keyOf = ({ process, meta }: TimingSummaryRow) => JSON.stringify([process, meta])
  const earlier = new Map(before && (await mapInTurns(before, (row) => [keyOf(row), row] as const)))
  const known = new Set(before && (await mapInTurns(rows, keyOf)))
  const gone = earlier.entries().flatMap(([key, row]) => (known.has(key) ? [] : [{ ...row, ...NOTHING }]))
  const sorted = await sortInTurns(
    [...rows, ...gone],
    (a, b) =>
      compare(a.atNs ?? 0n, b.atNs ?? 0n) || compare(a.process, b.process) || compare(a.meta ?? '', b.meta ?? ''),
  )
  return mapInTurns(sorted, (row) => ({
    process: row.process,
    ...(row.meta !== undefined && { meta: orNull(row.meta) }),
    ...(row.atNs !== undefined && { at: formatNs(row.atNs) }),
    ...(row.atOnce !== undefined && { at_once: row.atOnce }),
    ...answerFigures(row, percentiles),
    ...(before && { before: answerFigures(earlier.get(keyOf(row)) ?? NOTHING, percentiles) }),
  }))
}

type FigureRow = Omit<TimingSummaryRow, 'process' | 'meta' | 'atNs' | 'newest' | 'atOnce'>

const NOTHING: FigureRow = { ...NO_FIGURES, quantilesMs: [] }

const answerFigures = (row: FigureRow, percentiles: readonly Percentile[]): timings.Figures => ({
  count: row.count,
  mean_ms: row.meanMs,
  p50_ms: row.p50Ms,
  p95_ms: row.p95Ms,
  p99_ms: row.p99Ms,
  max_ms: row.maxMs,
  ...(percentiles.length > 0 && {
    percentiles: Object.fromEntries(percentiles.map(({ text }, i) => [text, row.quantilesMs?.[i] ?? null])),
  }),
  failed: row.failed,
  failure_rate: row.count + row.failed === 0 ? null : row.failed / (row.count + row.failed),
  running: row.running,
  abandoned: row.abandoned,
  orphan: row.orphan,
})

export const answerMetric = ({ atNs, meta, uid, ...row }: Omit<MetricPointRow, 'place'>): metrics.MetricPoint => ({
  at: formatNs(atNs),
  process: row.process,
  meta: orNull(meta),
  uid: orNull(uid),
  name: row.name,
  value: row.value,
})

/** Oldest bucket first, within it by process, meta and name. */
export const answerMetricRows = async (rows: readonly MetricSummaryRow[]): Promise<metrics.MetricRow[]> =>
  mapInTurns(await sortInTurns(rows, compareMetricRows), ({ atNs, process, meta, ...row }) => ({
    at: formatNs(atNs),
    process,
    ...(meta !== undefined && { meta: orNull(meta) }),
    ...row,
  }))

export type Exported = Omit<exceptions.ExceptionText, 'headline'>

export const answerException = (row: Omit<ExceptionRow, 'place'>): exceptions.ExceptionText => ({
  ...exportException(row),
  headline: shortHeadline(row.exception),
})

/** Without what follows from its text: an export may have 100,000. */
export const exportException = (row: Omit<ExceptionRow, 'place'>): Exported => ({
  ...answerSent(row),
  exception: row.exception,
  fingerprint: row.fingerprint,
})

/** The members that every text has beside itself. */
export const answerSent = ({ atNs, process, meta, uid }: Omit<TextRow, 'place' | 'text'>) => ({
  at: formatNs(atNs),
  process,
  meta: orNull(meta),
  ...(uid !== '' && { uid }),
})

export const answerGroup = (group: Omit<ExceptionGroupRow, 'place'>) => ({
  fingerprint: group.fingerprint,
  process: group.process,
  count: group.count,
  runs: group.runs,
  first_at: formatNs(group.firstNs),
  last_at: formatNs(group.lastNs),
  meta: orNull(group.meta),
  example: group.example,
  headline: shortHeadline(group.example),
  ...(group.counts && { counts: group.counts.map(({ atNs, count }) => ({ at: formatNs(atNs), count })) }),
})

interface ListedProcess extends ProcessRow {
  readonly place: Place
}

/** Merges the stores' rows per process (`byMeta`: per process and meta): most recent first, then by name. */
export async function mergeProcesses(rows: readonly ProcessRow[], byMeta: boolean): Promise<ListedProcess[]> {
  const tieOf = ({ process, metas }: ProcessRow) => (byMeta ? `${process}\0${metas[0]}` : process)
  const merged = await mapInTurns([...(await groupInTurns(rows, tieOf))], ([tie, same]) => {
    const { lastNs } = same.toSorted((a, b) => compare(b.lastNs, a.lastNs))[0]!
    return {
      process: same[0]!.process,
      metas: [...new Set(same.flatMap(({ metas }) => metas))].toSorted(compare),
      lastNs,
      kinds: PROCESS_KINDS.filter((kind) => same.some(({ kinds }) => kinds.includes(kind))),
      place: { ns: lastNs, tie },
    }
  })
  return sortInTurns(merged, (a, b) => comparePlaces(a.place, b.place))
}

export const answerProcess = ({ process, metas, lastNs, kinds }: ProcessRow): ProcessEntry => ({
  process,
  metas: metas.slice(0, PROCESS_METAS - 1).map(orNull),
  more_metas: metas.length >= PROCESS_METAS,
  last_at: formatNs(lastNs),
  kinds: [...kinds],
})
