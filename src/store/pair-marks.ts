// The pairing rule without a store; test/contract/pairing.ts proves the Flux and the SQL equal to it. `judgeMark` needs
// only a mark and its two neighbours, so the InfluxDB source applies it while marks stream in.
import type { MarkName } from '../event/event.ts'
import { compare, comparePlaces } from './order.ts'
import type { StoredMark, Timing, TimingSelection, TimingState } from './source.ts'

export interface StampedMark extends StoredMark {
  /** Its identity: the time and the digits that make it unique. */
  readonly stamp: bigint
}

export interface PairingQuestion {
  /** The range [fromNs, toNs). */
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly maxRunNs: bigint
  readonly nowNs: bigint
  /** Marks that arrived after this moment are left out; absent = none is. See `arrivedAfter`. */
  readonly asOfNs?: bigint
}

/**
 * The timings of the range, newest first by first mark.
 *
 * Within one (process, meta, uid), ordered by time, then start before end before failed end, then stamp; `gap` is the
 * difference of two neighbours' times:
 *
 *     start ── gap ≤ MAX_RUN ──▶ end          completed
 *     start ── gap ≤ MAX_RUN ──▶ failed end   failed
 *     start ── gap ≤ MAX_RUN ──▶ start        abandoned (the second one is judged by itself)
 *     start ── gap > MAX_RUN ──▶ any          abandoned, and if `any` is an end, that is an orphan
 *     start ── nothing                        running if now − start ≤ MAX_RUN (or < 0), else abandoned
 *     any other end                           orphan
 *
 * A timing reaches from its first to its last moment: completed and failed [start, end], running [start, the later of
 * start and now], abandoned and orphan their one mark. It is in the range when first < toNs and last ≥ fromNs: a run
 * that ends at exactly fromNs is in, one that starts at exactly toNs is not.
 */
export function pairMarks(marks: readonly StampedMark[], question: PairingQuestion): Timing[] {
  const { asOfNs } = question
  const seen = asOfNs === undefined ? marks : marks.filter((mark) => !arrivedAfter(mark, asOfNs))
  const groups = Map.groupBy(seen, ({ process, meta, uid }) => JSON.stringify([process, meta, uid]))
  const bounds = boundsInNs(question)
  return [...groups.values()]
    .flatMap((group) => pairGroup(group.toSorted(compareMarks), bounds))
    .toSorted((a, b) => comparePlaces(a.place, b.place))
}

/** A mark as the rule sees it. */
export interface TimedMark<T extends Time> {
  readonly mark: MarkName
  readonly at: T
}

/** The timing that a mark settles, by its neighbours in its group; undefined for a start that its end settles. */
export function judgeMark<T extends Time>(
  before: TimedMark<T> | undefined,
  mark: TimedMark<T>,
  after: TimedMark<T> | undefined,
  { maxRun, runningSince }: Pick<PairingBounds<T>, 'maxRun' | 'runningSince'>,
): TimingState | undefined {
  if (mark.mark !== 'start') {
    if (!isPair(before, mark, maxRun)) return 'orphan'
    return mark.mark === 'failed' ? 'failed' : 'completed'
  }
  if (after === undefined) return mark.at >= runningSince ? 'running' : 'abandoned'
  return isPair(mark, after, maxRun) ? undefined : 'abandoned'
}

/** Whether a timing from `first` to `last` (equal for those of a single mark) is in the range. */
export const isWithin = <T extends Time>(
  state: TimingState,
  first: T,
  last: T,
  { from, to, nowReaches }: Pick<PairingBounds<T>, 'from' | 'to' | 'nowReaches'>,
): boolean => first < to && (last >= from || (state === 'running' && nowReaches))

/** The timing of a mark in the given state; `before` is the mark before it in its group. */
export function toTiming(state: TimingState, mark: StampedMark, before: StampedMark | undefined): Timing {
  const { process, meta, uid, ns } = mark
  const isPaired = state === 'completed' || state === 'failed'
  const first = isPaired ? before! : mark
  return {
    process,
    meta,
    uid,
    state,
    ...(state !== 'orphan' && { startedNs: first.ns }),
    ...((isPaired || state === 'orphan') && { endedNs: ns }),
    place: { ns: first.ns, tie: JSON.stringify([String(first.stamp), first.mark, process, meta, uid]) },
  }
}

/**
 * Whether a mark certainly arrived after `asOfNs`: its time is later and was given at arrival (lane 0, an even stamp).
 * A mark's own time (lane 1, odd) may lie up to 5 minutes ahead. Page 2 must not show marks newer than page 1.
 */
export const arrivedAfter = ({ ns, stamp }: Pick<StampedMark, 'ns' | 'stamp'>, asOfNs: bigint): boolean =>
  ns > asOfNs && stamp % 2n === 0n

/** The order of marks within a group. */
export const compareMarks = (a: StampedMark, b: StampedMark): number =>
  compare(a.ns, b.ns) || MARK_RANK[a.mark] - MARK_RANK[b.mark] || compare(a.stamp, b.stamp)

export const MARK_RANK: Readonly<Record<MarkName, number>> = { start: 0, end: 1, failed: 2 }

const pairGroup = (group: readonly StampedMark[], bounds: PairingBounds<bigint>): Timing[] => {
  const moments = group.map(({ mark, ns }): TimedMark<bigint> => ({ mark, at: ns }))
  return group.flatMap((mark, i) => {
    const moment = moments[i]!
    const state = judgeMark(moments[i - 1], moment, moments[i + 1], bounds)
    if (state === undefined) return []
    const first = state === 'completed' || state === 'failed' ? moments[i - 1]! : moment
    return isWithin(state, first.at, moment.at, bounds) ? [toTiming(state, mark, group[i - 1])] : []
  })
}

const isPair = <T extends Time>(start: TimedMark<T> | undefined, end: TimedMark<T>, maxRun: T): boolean =>
  start?.mark === 'start' && end.mark !== 'start' && gap(start.at, end.at) <= maxRun

/** TypeScript has no type for "two numbers or two bigints", which `-` takes. */
const gap = <T extends Time>(from: T, to: T): T => ((to as number) - (from as number)) as T

// The limits of a question about timings, as the pairing rule (pair-marks.ts) compares times with them.
/** Times are exact in both: ns as bigints here, whole µs as numbers where many marks stream (store/influx). */
export type Time = bigint | number

type Limits = Pick<TimingSelection, 'fromNs' | 'toNs' | 'maxRunNs' | 'nowNs'>

/** A question's limits in the unit of its marks. */
export interface PairingBounds<T extends Time> {
  readonly from: T
  readonly to: T
  readonly maxRun: T
  /** A start without a next mark is running when it is not earlier. */
  readonly runningSince: T
  /** Whether running timings reach into the range. */
  readonly nowReaches: boolean
}

export const boundsInNs = ({ fromNs, toNs, maxRunNs, nowNs }: Limits): PairingBounds<bigint> => ({
  ...{ from: fromNs, to: toNs, maxRun: maxRunNs },
  ...{ runningSince: nowNs - maxRunNs, nowReaches: nowNs >= fromNs },
})

/** For marks in whole µs: limits between two µs are moved to the one that decides the same. */
export function boundsInUs(question: Limits): PairingBounds<number> {
  const { from, to, maxRun, runningSince, nowReaches } = boundsInNs(question)
  return {
    ...{ from: ceilUs(from), to: ceilUs(to), maxRun: Number(maxRun / 1000n) },
    ...{ runningSince: runningSince < 0n ? 0 : ceilUs(runningSince), nowReaches },
  }
}

/** The first whole µs that is not before `ns`. */
export const ceilUs = (ns: bigint): number => Number((ns + 999n) / 1000n)
