// Picks the runs that the page of an alert shows around it, in turns: an account may have had thousands in these
// minutes.
import { answerTiming } from '../query/answers.ts'
import { compare } from '../store/order.ts'
import type { PlainTiming } from '../store/source.ts'
import { rest, sortInTurns, spend } from '../turns.ts'
import type { AlertDetail, AroundRun } from '../wire/alert-detail.ts'

const SHOWN = 8
/** A key of JSON. */
const RUN_STEPS = 4

interface Stretch {
  /** When the alert began. */
  readonly sinceNs: bigint
  readonly fromNs: bigint
  readonly toNs: bigint
}

/** Those of each kind nearest to the alert, newest first, without `own`. Of a run that comes twice the first counts. */
export async function pickAround(
  found: readonly PlainTiming[],
  own: PlainTiming | undefined,
  { sinceNs, fromNs, toNs }: Stretch,
): Promise<AlertDetail['around']> {
  const known = new Set(own && [keyOf(own)])
  const [failed, running]: [PlainTiming[], PlainTiming[]] = [[], []]
  for (const run of found) {
    if (spend(RUN_STEPS)) await rest()
    const key = keyOf(run)
    if (known.has(key)) continue
    known.add(key)
    const { state } = run
    if (state === 'running' || state === 'completed') running.push(run)
    else if (state !== 'orphan' && atNs(run) >= fromNs && atNs(run) <= toNs) failed.push(run)
  }
  async function nearest(runs: readonly PlainTiming[], awayNs: (run: PlainTiming) => bigint): Promise<AroundRun[]> {
    const newestFirst = (a: PlainTiming, b: PlainTiming) => compare(atNs(b), atNs(a))
    const sorted = await sortInTurns(runs, (a, b) => compare(awayNs(a), awayNs(b)) || newestFirst(a, b))
    return sorted.slice(0, SHOWN).sort(newestFirst).map(answerRun)
  }
  const lengthNs = (ns: bigint) => (ns < 0n ? -ns : ns)
  const openAwayNs = ({ startedNs, endedNs }: PlainTiming): bigint => {
    if (startedNs !== undefined && startedNs > sinceNs) return startedNs - sinceNs
    return endedNs !== undefined && endedNs < sinceNs ? sinceNs - endedNs : 0n
  }
  return {
    failed: await nearest(failed, (run) => lengthNs(atNs(run) - sinceNs)),
    more_failed: Math.max(0, failed.length - SHOWN),
    running: await nearest(running, openAwayNs),
    more_running: Math.max(0, running.length - SHOWN),
  }
}

const atNs = ({ startedNs, endedNs }: PlainTiming): bigint => endedNs ?? startedNs!

const keyOf = ({ process, meta, uid, startedNs, endedNs }: PlainTiming): string =>
  JSON.stringify([process, meta, uid, `${startedNs ?? `-${endedNs}`}`])

export function answerRun(run: PlainTiming): AroundRun {
  const { exceptions: _, metrics: _none, ...shown } = answerTiming(run)
  return shown
}
