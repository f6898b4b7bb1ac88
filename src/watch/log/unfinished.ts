// A run that never finished: the next start of its uid (or of none) came, and no end between. Overlapping runs without
// uid look the same for a while, so it needs more time than runs take here, and a minute for a late end.
//
//   start ─▶ the former run is open, and since the first start without an end more than twice the longest run passed
//            (or this is the third start in a row, while fewer than five runs are known) ─▶ it waits a minute, and
//            longer after a downtime ─▶ a failure; an end of its uid that arrives until then takes it back
import type { Chain, Kept, OpenRun, Series } from './series.ts'

const APART_US = 60e6
const LONGEST_AMONG = 20
const KNOWN_RUNS = 5
const STARTS = 3

/** Of the start at `atUs` that finds `before` open. */
export function nextChain({ startedUs, chain }: OpenRun, atUs: number): Chain {
  const { firstUs = startedUs, starts = 1 } = chain ?? {}
  return { firstUs, starts: atUs - startedUs < APART_US ? 1 : starts + 1 }
}

/** Is `before` a run that never finished, unless an end follows? `chain`: of the start that found it open. */
export function isNeverFinished(settled: readonly Kept[], { startedUs }: OpenRun, atUs: number, chain: Chain): boolean {
  if (atUs - startedUs < APART_US) return false
  if (settled.length < KNOWN_RUNS) return chain.starts >= STARTS
  const longestUs = Math.max(...settled.slice(-LONGEST_AMONG).map((run) => run.endedUs - run.startedUs))
  return atUs - chain.firstUs > 2 * longestUs
}

/** An end of the uid arrived: those that wait did not fail. Returns them. */
export function takeBack(series: Series, uid: string): Series['late'] {
  const isOwn = (it: Series['late'][number]) => it.cause === 'abandoned' && it.uid === uid
  if (!series.late.some(isOwn)) return []
  const taken = series.late.filter(isOwn)
  series.late = series.late.filter((it) => !isOwn(it))
  return taken
}
