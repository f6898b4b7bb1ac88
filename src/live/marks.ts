// The marks of a row as runs, and back: pairing again after an event touches only the runs of its uid. Times are µs; a
// mark is identified by its uid, kind, time and the rest of its stamp in ns.
import type { MarkName } from '../event/event.ts'
import { isPair, MARK_RANK } from '../store/pair-marks.ts'

/** A mark as it is found again in a run. */
export interface LiveMark {
  readonly uid: string
  readonly mark: MarkName
  readonly atUs: number
  readonly restNs: number
}

/** A run as it is remembered: a start, an end or both. */
export interface LiveRun {
  readonly uid: string
  /** NaN without a start. */
  readonly startUs: number
  readonly startNs: number
  /** NaN without an end. */
  readonly endUs: number
  readonly endNs: number
  readonly failed: boolean
  /** Later marks do not change the run; Infinity while it is open. */
  readonly settledUs: number
}

export function* marksOf({ uid, startUs, startNs, endUs, endNs, failed }: LiveRun): Iterable<LiveMark> {
  if (!Number.isNaN(startUs)) yield { uid, mark: 'start', atUs: startUs, restNs: startNs }
  if (!Number.isNaN(endUs)) yield { uid, mark: failed ? 'failed' : 'end', atUs: endUs, restNs: endNs }
}

const compareMarks = (a: LiveMark, b: LiveMark): number =>
  a.atUs - b.atUs || MARK_RANK[a.mark] - MARK_RANK[b.mark] || a.restNs - b.restNs

const isSame = (a: LiveMark, b: LiveMark): boolean => a.atUs === b.atUs && a.restNs === b.restNs && a.mark === b.mark

/** The runs of one uid, by the rule of store/pair-marks.ts. `marks`: of this uid alone, repeated ones among them. */
export function pairRuns(marks: readonly LiveMark[], maxRunUs: number): LiveRun[] {
  const sorted = marks.toSorted(compareMarks).filter((mark, i, all) => i === 0 || !isSame(mark, all[i - 1]!))
  const runs: LiveRun[] = []
  for (let i = 0; i < sorted.length; i++) {
    const mark = sorted[i]!
    const next = sorted[i + 1]
    const isPaired = next !== undefined && isPair(toTimed(mark), toTimed(next), maxRunUs)
    if (mark.mark !== 'start') runs.push(toRun(undefined, mark, mark.atUs))
    else if (isPaired) {
      runs.push(toRun(mark, next, next.atUs))
      i++
    } else runs.push(toRun(mark, undefined, next === undefined ? Infinity : Math.min(next.atUs, mark.atUs + maxRunUs)))
  }
  return runs
}

const toTimed = ({ mark, atUs }: LiveMark) => ({ mark, at: atUs })

const toRun = (start: LiveMark | undefined, end: LiveMark | undefined, settledUs: number): LiveRun => ({
  uid: (start ?? end)!.uid,
  startUs: start?.atUs ?? NaN,
  startNs: start?.restNs ?? 0,
  endUs: end?.atUs ?? NaN,
  endNs: end?.restNs ?? 0,
  failed: end?.mark === 'failed',
  settledUs,
})

export const firstUs = ({ startUs, endUs }: LiveRun): number => (Number.isNaN(startUs) ? endUs : startUs)
export const isOpen = ({ settledUs }: LiveRun): boolean => settledUs === Infinity
export const isCompleted = ({ startUs, endUs, failed }: LiveRun): boolean =>
  !failed && !Number.isNaN(startUs) && !Number.isNaN(endUs)
