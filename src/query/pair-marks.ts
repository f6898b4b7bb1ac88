// The pairing rule (DESIGN.md 6), written once without a store; the Flux and the SQL are proved equal to it by test/contract/pairing.property.test.ts.
// `judgeMark` needs a mark and its two neighbours only, so marks can also be judged while they stream in, oldest or newest first.
import type { MarkName } from '../event/event.ts'
import { compare, comparePlaces } from '../store/compare.ts'
import type { Timing, TimingState } from '../store/source.ts'

/** A mark as a store holds it; '' = without meta, without uid. Marks of one account. */
export interface StoredMark {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly mark: MarkName
  /** The mark's time; several marks may share it. */
  readonly ns: bigint
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
 * Within one (process, meta, uid), ordered by time, then start before end before failed end, then stamp; `gap` is the difference of two
 * neighbours' times:
 *
 *     start ── gap ≤ MAX_RUN ──▶ end          completed
 *     start ── gap ≤ MAX_RUN ──▶ failed end   failed
 *     start ── gap ≤ MAX_RUN ──▶ start        abandoned (the second one is judged by itself)
 *     start ── gap > MAX_RUN ──▶ any          abandoned, and if `any` is an end, that is an orphan
 *     start ── nothing                        running when now − start ≤ MAX_RUN (also when it lies after now), else abandoned
 *     any other end                           orphan
 *
 * Each timing reaches from its first to its last moment: completed and failed [start, end], running [start, the later of start and now], abandoned and
 * orphan their one mark. It is in the range when first < toNs and last ≥ fromNs: a run that ends at exactly fromNs is in, one that starts at exactly
 * toNs is not.
 */
export function pairMarks(marks: readonly StoredMark[], question: PairingQuestion): Timing[] {
  const { asOfNs } = question
  const seen = asOfNs === undefined ? marks : marks.filter((mark) => !arrivedAfter(mark, asOfNs))
  const groups = Map.groupBy(seen, ({ process, meta, uid }) => JSON.stringify([process, meta, uid]))
  return [...groups.values()]
    .flatMap((group) => pairGroup(group.toSorted(compareMarks), question))
    .filter((timing) => isWithin(timing, question))
    .toSorted((a, b) => comparePlaces(a.place, b.place))
}

type Neighbour = Pick<StoredMark, 'mark' | 'ns'> | undefined

/** The timing that a mark settles, by its neighbours in its group; undefined = none: a start whose end settles their timing. */
export function judgeMark(
  before: Neighbour,
  mark: Pick<StoredMark, 'mark' | 'ns'>,
  after: Neighbour,
  { maxRunNs, nowNs }: Pick<PairingQuestion, 'maxRunNs' | 'nowNs'>,
): TimingState | undefined {
  if (mark.mark !== 'start') {
    if (!isPair(before, mark, maxRunNs)) return 'orphan'
    return mark.mark === 'failed' ? 'failed' : 'completed'
  }
  if (after === undefined) return nowNs - mark.ns <= maxRunNs ? 'running' : 'abandoned'
  return isPair(mark, after, maxRunNs) ? undefined : 'abandoned'
}

/** The timing of a mark in the given state; `before` is the mark before it in its group. */
export function toTiming(state: TimingState, mark: StoredMark, before: StoredMark | undefined): Timing {
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
 * Whether a mark certainly arrived after `asOfNs`: it has a later time and got that at arrival (lane 0, an even stamp). One that brought its own
 * time (lane 1, odd) may lie up to 5 minutes ahead and yet have been there. The second page of an answer must not show marks that came after the first.
 */
export const arrivedAfter = ({ ns, stamp }: Pick<StoredMark, 'ns' | 'stamp'>, asOfNs: bigint): boolean =>
  ns > asOfNs && stamp % 2n === 0n

/** The order of marks within a group. */
export const compareMarks = (a: StoredMark, b: StoredMark): number =>
  compare(a.ns, b.ns) || RANK[a.mark] - RANK[b.mark] || compare(a.stamp, b.stamp)

const RANK: Readonly<Record<MarkName, number>> = { start: 0, end: 1, failed: 2 }

const pairGroup = (group: readonly StoredMark[], question: PairingQuestion): Timing[] =>
  group.flatMap((mark, i) => {
    const state = judgeMark(group[i - 1], mark, group[i + 1], question)
    return state === undefined ? [] : [toTiming(state, mark, group[i - 1])]
  })

const isPair = (start: Neighbour, end: Neighbour, maxRunNs: bigint): boolean =>
  start?.mark === 'start' && end !== undefined && end.mark !== 'start' && end.ns - start.ns <= maxRunNs

function isWithin({ state, place, endedNs }: Timing, { fromNs, toNs, nowNs }: PairingQuestion): boolean {
  const first = place.ns
  const reach = state === 'running' ? nowNs : endedNs
  const last = reach !== undefined && reach > first ? reach : first
  return first < toNs && last >= fromNs
}
