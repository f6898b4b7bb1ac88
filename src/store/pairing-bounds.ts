// The limits of a question about timings, as the pairing rule (pair-marks.ts) compares times with them.
import type { TimingSelection } from './source.ts'

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
