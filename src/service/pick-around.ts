// Which runs the page of an alert shows of those around it: an account may have had thousands in these minutes, so they are
// looked at in turns of the event loop.
import { answerTiming } from '../query/answers.ts'
import { compare } from '../store/order.ts'
import type { PlainTiming } from '../store/source.ts'
import { rest, sortInTurns, spend } from '../turns.ts'
import type { AlertDetail, AroundRun } from '../wire/alert-detail.ts'

const SHOWN = 8
/** A key of JSON. */
const RUN_STEPS = 4

/** The newest of each kind, without `own`. Of a run that is in `found` twice the first counts. */
export async function pickAround(
  found: readonly PlainTiming[],
  own: PlainTiming | undefined,
  fromNs: bigint,
  toNs: bigint,
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
  const newest = async (runs: readonly PlainTiming[]) =>
    (await sortInTurns(runs, (a, b) => compare(atNs(b), atNs(a)))).slice(0, SHOWN).map(answerRun)
  return {
    failed: await newest(failed),
    more_failed: Math.max(0, failed.length - SHOWN),
    running: await newest(running),
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
