// The pairing rule for marks in whole µs. `judgeMark` needs only a mark and its two neighbours, so the InfluxDB source
// applies it while marks stream in. test/contract/pairing.ts proves it, the Flux and the SQL equal to the tests' naive
// writing of the rule (test/support/pair-marks.ts).
//
// Within one (process, meta, uid), ordered by time, then start before end before failed end, then stamp; `gap` is the
// difference of two neighbours' times:
//
//     start ── gap ≤ MAX_RUN ──▶ end          completed
//     start ── gap ≤ MAX_RUN ──▶ failed end   failed
//     start ── gap ≤ MAX_RUN ──▶ start        abandoned (the second one is judged by itself)
//     start ── gap > MAX_RUN ──▶ any          abandoned (an end is judged by itself)
//     start ── nothing                        running if now − start ≤ MAX_RUN (or < 0), else abandoned
//     any other failed end                    failed, without a start
//     any other end                           orphan
//
// A timing reaches from its first to its last moment: completed and failed [start, end], running [start, the later of
// start and now], abandoned, orphan and failed without a start their one mark. It is in the range when first < toNs and
// last ≥ fromNs: a run that ends at exactly fromNs is in, one that starts at exactly toNs is not.
import type { MarkName } from '../event/event.ts'
import type { TimingSelection, TimingState } from './source.ts'

/** A mark as the rule sees it. */
interface TimedMark {
  readonly mark: MarkName
  /** In µs. */
  readonly at: number
}

/** A question's limits in µs. */
export interface PairingBounds {
  readonly from: number
  readonly to: number
  readonly maxRun: number
  /** A start without a next mark is running when it is not earlier. */
  readonly runningSince: number
  /** Whether running timings reach into the range. */
  readonly nowReaches: boolean
}

export const MARK_RANK: Readonly<Record<MarkName, number>> = { start: 0, end: 1, failed: 2 }

/** The timing that a mark settles, by its neighbours in its group; undefined for a start that its end settles. */
export function judgeMark(
  before: TimedMark | undefined,
  mark: TimedMark,
  after: TimedMark | undefined,
  { maxRun, runningSince }: Pick<PairingBounds, 'maxRun' | 'runningSince'>,
): TimingState | undefined {
  if (mark.mark !== 'start') {
    if (mark.mark === 'failed') return 'failed'
    return isPair(before, mark, maxRun) ? 'completed' : 'orphan'
  }
  if (after === undefined) return mark.at >= runningSince ? 'running' : 'abandoned'
  return isPair(mark, after, maxRun) ? undefined : 'abandoned'
}

/** Whether an end belongs to the mark before it. */
export const isPair = (start: TimedMark | undefined, end: TimedMark, maxRun: number): boolean =>
  start?.mark === 'start' && end.mark !== 'start' && end.at - start.at <= maxRun

/** Whether a timing from `first` to `last` (equal for those of a single mark) is in the range. */
export const isWithin = (
  state: TimingState,
  first: number,
  last: number,
  { from, to, nowReaches }: Pick<PairingBounds, 'from' | 'to' | 'nowReaches'>,
): boolean => first < to && (last >= from || (state === 'running' && nowReaches))

type Limits = Pick<TimingSelection, 'fromNs' | 'toNs' | 'maxRunNs' | 'nowNs'>

/** Limits between two µs are moved to the one that decides the same. */
export const boundsInUs = ({ fromNs, toNs, maxRunNs, nowNs }: Limits): PairingBounds => ({
  from: ceilUs(fromNs),
  to: ceilUs(toNs),
  maxRun: Number(maxRunNs / 1000n),
  runningSince: Math.max(0, ceilUs(nowNs - maxRunNs)),
  nowReaches: nowNs >= fromNs,
})

/** The first whole µs that is not before `ns`. */
export const ceilUs = (ns: bigint): number => Number((ns + 999n) / 1000n)
