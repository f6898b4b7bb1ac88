// The same range some weeks earlier: its figures, and its runs moved forward so that they lie over today's.
import type { SummaryRow, Timing } from '../../wire/timings.ts'
import type { Api } from '../kit/api.ts'
import { formatDuration } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import type { TimeRange } from '../kit/time-range.ts'
import { describeRatio } from '../timeline/usual.ts'

/** A dot per run up to this many; percentiles describe more runs better. */
export const DOTS_MAX = 200
const WEEK_MS = 7 * 86_400_000

export interface Past {
  readonly total: SummaryRow | undefined
  /** With the moments of today's buckets. */
  readonly rows: readonly SummaryRow[]
  /** At the moments that they would have today. */
  readonly runs: readonly { readonly atMs: number; readonly ms: number }[]
}

/** Whole weeks, so that weekdays lie over weekdays; at least as many as the range is long. */
export const shiftFor = ({ fromMs, toMs }: TimeRange): number =>
  Math.max(1, Math.ceil((toMs - fromMs) / WEEK_MS)) * WEEK_MS

/** Throws ApiError. */
export async function askPast(
  api: Api,
  range: TimeRange,
  every: string,
  filter: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Past> {
  const shiftMs = shiftFor(range)
  const at = (ms: number) => new Date(ms - shiftMs).toISOString()
  const query = { ...filter, from: at(range.fromMs), to: at(range.toMs) }
  const summary = (more: Record<string, string>) =>
    api.get<{ rows: SummaryRow[] }>('api/timings/summary', { ...query, ...more }, signal)
  const [total, series, { timings }] = await Promise.all([
    summary({}),
    summary({ every }),
    api.get<{ timings: Timing[] }>('api/timings', { ...query, state: 'completed', limit: DOTS_MAX }, signal),
  ])
  return {
    total: total.rows[0],
    rows: series.rows.map((row) => ({ ...row, at: new Date(parseTime(row.at ?? '') + shiftMs).toISOString() })),
    runs: timings.map(({ started_at, duration_ms }) => ({
      atMs: parseTime(started_at ?? '') + shiftMs,
      ms: duration_ms ?? 0,
    })),
  }
}

/** `Median 3 m 12 s, a week earlier 1 m 40 s: 1.9× slower.` */
export function describePast(now: SummaryRow | undefined, then: SummaryRow | undefined, shiftMs: number): string {
  const weeks = Math.round(shiftMs / WEEK_MS)
  const when = weeks === 1 ? 'a week earlier' : `${weeks} weeks earlier`
  if (then?.p50_ms == null) return `No completed run ${when} to compare with.`
  if (now?.p50_ms == null)
    return `No completed run in this range; the median ${when} was ${formatDuration(then.p50_ms)}.`
  return `Median ${formatDuration(now.p50_ms)}, ${when} ${formatDuration(then.p50_ms)}: ${describeRatio(now.p50_ms, then.p50_ms, 'about the same')}.`
}
