// The pairing rule (src/store/pair-marks.ts states it), written once more without a store, in ns: what the sources, the Flux and the SQL must return.
import { compare, comparePlaces } from '../../src/store/order.ts'
import type { StoredMark, TimingRow, TimingSelection, TimingState } from '../../src/store/source.ts'

export interface StampedMark extends StoredMark {
  /** Its identity: the time and the digits that make it unique. */
  readonly stamp: bigint
}

export type PairingQuestion = Pick<TimingSelection, 'fromNs' | 'toNs' | 'maxRunNs' | 'nowNs' | 'asOfNs' | 'knownToNs'>

const RANK = { start: 0, end: 1, failed: 2 }

/** The timings of the range, newest first by first mark. Marks of one account. */
export function pairMarks(marks: readonly StampedMark[], question: PairingQuestion): TimingRow[] {
  const { asOfNs, knownToNs } = question
  // a mark with a time given at arrival (an even stamp) arrived then
  const seen = marks
    .filter(({ ns, stamp }) => asOfNs === undefined || ns <= asOfNs || stamp % 2n === 1n)
    .filter(({ ns }) => knownToNs === undefined || ns < knownToNs)
  const groups = Map.groupBy(seen, ({ process, meta, uid }) => JSON.stringify([process, meta, uid]))
  return [...groups.values()]
    .flatMap((group) =>
      group
        .toSorted((a, b) => compare(a.ns, b.ns) || RANK[a.mark] - RANK[b.mark] || compare(a.stamp, b.stamp))
        .flatMap((mark, i, sorted) => settledBy(sorted[i - 1], mark, sorted[i + 1], question)),
    )
    .toSorted((a, b) => comparePlaces(a.place, b.place))
}

/** The timing of the range that a mark settles, if any. */
function settledBy(
  before: StampedMark | undefined,
  mark: StampedMark,
  after: StampedMark | undefined,
  { fromNs, toNs, maxRunNs, nowNs }: PairingQuestion,
): TimingRow[] {
  const start =
    mark.mark !== 'start' && before?.mark === 'start' && mark.ns - before.ns <= maxRunNs ? before : undefined
  const isSettledLater = after !== undefined && after.mark !== 'start' && after.ns - mark.ns <= maxRunNs
  if (mark.mark === 'start' && isSettledLater) return []
  const isRunning = mark.mark === 'start' && after === undefined && mark.ns >= nowNs - maxRunNs
  const ended: TimingState = mark.mark === 'failed' ? 'failed' : 'completed'
  const open: TimingState = isRunning ? 'running' : 'abandoned'
  const isOrphan = mark.mark === 'end' && start === undefined
  const state = mark.mark === 'start' ? open : isOrphan ? 'orphan' : ended
  const first = start ?? mark
  const isIn = first.ns < toNs && (mark.ns >= fromNs || (isRunning && nowNs >= fromNs))
  if (!isIn) return []
  const { process, meta, uid } = mark
  const place = { ns: first.ns, tie: JSON.stringify([String(first.stamp), first.mark, process, meta, uid]) }
  const started = first.mark === 'start' ? { startedNs: first.ns } : {}
  return [{ process, meta, uid, state, ...started, ...(mark.mark !== 'start' && { endedNs: mark.ns }), place }]
}
