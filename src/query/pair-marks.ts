// The pairing rule (DESIGN.md 6), written once without a store; the Flux and the SQL are proved equal to it by test/contract/pairing.property.test.ts.
// It is told every mark it may look at: a source reads those of `marksWindow` and comes to the same answer.

import { compare } from '../store/compare.ts'
import type { Timing, TimingState } from '../store/source.ts'

/** A mark as a store holds it; '' = without meta, without uid. Marks of one account, no two with the same `ns`. */
export interface StoredMark {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly mark: 'start' | 'end'
  /** The stamp. */
  readonly ns: bigint
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
 * Within one (process, meta, uid), ordered by stamp, `gap` being the difference of two neighbours:
 *
 *     start ── gap ≤ MAX_RUN ──▶ end      completed
 *     start ── gap ≤ MAX_RUN ──▶ start    abandoned (the second one is judged by itself)
 *     start ── gap > MAX_RUN ──▶ any      abandoned, and if `any` is an end, that is an orphan
 *     start ── nothing                    running when now − start ≤ MAX_RUN (also when it lies after now), else abandoned
 *     any other end                       orphan
 *
 * Each reaches from its first to its last moment: completed [start, end], running [start, the later of start and now], abandoned and orphan
 * their one mark. It is in the range when first < toNs and last ≥ fromNs: a run that ends at exactly fromNs is in, one that starts at exactly toNs is not.
 */
export function pairMarks(marks: readonly StoredMark[], question: PairingQuestion): Timing[] {
  const { asOfNs } = question
  const seen = asOfNs === undefined ? marks : marks.filter(({ ns }) => !arrivedAfter(ns, asOfNs))
  const groups = Map.groupBy(seen, ({ process, meta, uid }) => JSON.stringify([process, meta, uid]))
  return [...groups.values()]
    .flatMap((group) => pairGroup(group.toSorted(byStamp), question))
    .filter((timing) => isWithin(timing, question))
    .toSorted((a, b) => compare(firstNs(b), firstNs(a)))
}

/** The stamp a timing is ordered and paged by: its start, or an orphan's end. */
export const firstNs = ({ startedNs, endedNs }: Timing): bigint => startedNs ?? endedNs!

/**
 * Whether a mark certainly arrived after `asOfNs`: it has a later stamp and got that at arrival (lane 0, an even stamp). One that brought its own
 * time (lane 1, odd) may lie up to 5 minutes ahead and yet have been there. The second page of an answer must not see what came after the first.
 */
export const arrivedAfter = (ns: bigint, asOfNs: bigint): boolean => ns > asOfNs && ns % 2n === 0n

function pairGroup(group: readonly StoredMark[], { maxRunNs, nowNs }: PairingQuestion): Timing[] {
  return group.flatMap((mark, i): Timing[] => {
    const { process, meta, uid, ns } = mark
    const timing = (state: TimingState, times: Pick<Timing, 'startedNs' | 'endedNs'>): Timing[] => [
      { process, meta, uid, state, ...times },
    ]
    if (mark.mark === 'end') {
      return isPair(group[i - 1], mark, maxRunNs) ? [] : timing('orphan', { endedNs: ns })
    }
    const next = group[i + 1]
    if (isPair(mark, next, maxRunNs)) return timing('completed', { startedNs: ns, endedNs: next!.ns })
    return timing(next === undefined && nowNs - ns <= maxRunNs ? 'running' : 'abandoned', { startedNs: ns })
  })
}

const isPair = (start: StoredMark | undefined, end: StoredMark | undefined, maxRunNs: bigint): boolean =>
  start?.mark === 'start' && end?.mark === 'end' && end.ns - start.ns <= maxRunNs

function isWithin(timing: Timing, { fromNs, toNs, nowNs }: PairingQuestion): boolean {
  const first = firstNs(timing)
  const reach = timing.state === 'running' ? nowNs : timing.endedNs
  const last = reach !== undefined && reach > first ? reach : first
  return first < toNs && last >= fromNs
}
const byStamp = (a: StoredMark, b: StoredMark): number => compare(a.ns, b.ns)
