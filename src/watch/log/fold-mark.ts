// A mark becomes part of its series: what starts, ends, is paired, or came before.
import { SETTLED_KEPT, usualOf } from '../../process/usual.ts'
import type { Mark } from './judge-interface.ts'
import { behindOf, type EndedRun, MAX_OPEN, type OpenRun, restOf, type Series, tagOf, wallOf } from './series.ts'
import { isNeverFinished, nextChain, takeBack } from './unfinished.ts'

export type Outcome =
  /** `unfinished`: the start of the run that it ends as never finished, unless an end follows within a minute. */
  | { readonly kind: 'started'; readonly run: OpenRun; readonly unfinishedUs?: number }
  /** `isCounted`: its end was a failed end without a start before. */
  | { readonly kind: 'settled'; readonly run: EndedRun; readonly isCounted: boolean }
  /** An end without a start. */
  | { readonly kind: 'orphan'; readonly isFailed: boolean }
  /** It came before, or changes nothing. */
  | { readonly kind: 'nothing' }

const NOTHING: Outcome = { kind: 'nothing' }

interface Folding {
  readonly maxRunUs: number
  /** Open runs are compared with the usual duration. */
  readonly isTimed: boolean
  /** Of the stamps; 0 for marks whose arrival is not known. */
  readonly leadUs: number
}

export function foldMark(series: Series, mark: Mark, folding: Folding): Outcome {
  series.lastUs = Math.max(series.lastUs, mark.arrivedUs)
  return mark.kind === 'start' ? foldStart(series, mark, folding) : foldEnd(series, mark, folding)
}

/** The process has shown life: a start, or an end whose start was lost or is still to come. */
function noteLife(series: Series, mark: Mark, leadUs: number): void {
  if (mark.atUs <= series.newestStartUs) return
  series.newestStartUs = mark.atUs
  series.wallUs = wallOf(mark, leadUs)
  series.restUs = restOf(mark)
}

function foldStart(series: Series, mark: Mark, { maxRunUs, isTimed, leadUs }: Folding): Outcome {
  const { uid, atUs } = mark
  const { open, orphans, settled } = series
  const before = open.get(uid)
  if (before !== undefined && before.startedUs >= atUs) return NOTHING
  const tag = tagOf(uid)
  // it came before, or another mark of its uid followed it
  if (settled.some((run) => run.tag === tag && (run.startedUs === atUs || run.endedUs > atUs))) return NOTHING
  noteLife(series, mark, leadUs)
  const restUs = restOf(mark)
  const behindUs = behindOf(mark, leadUs)
  const usualUs = isTimed ? usualOf(settled, atUs) : undefined
  const chain = before && nextChain(before, atUs)
  const run = {
    startedUs: atUs,
    ...(restUs > 0 && { restUs }),
    ...(usualUs !== undefined && { usualUs }),
    ...(behindUs > 0 && { leadUs: behindUs }),
    ...(chain && { chain }),
  }
  const orphan = orphans.get(uid)
  if (orphan !== undefined && orphan.endedUs >= atUs && orphan.endedUs - atUs <= maxRunUs) {
    orphans.delete(uid)
    open.delete(uid)
    return settle(series, uid, run, orphan.endedUs, orphan.failed, orphan.failed)
  }
  if (before === undefined && open.size >= MAX_OPEN) series.others++
  else open.set(uid, run)
  const isUnfinished = before !== undefined && chain !== undefined && isNeverFinished(settled, before, atUs, chain)
  return { kind: 'started', run, ...(isUnfinished && { unfinishedUs: before.startedUs }) }
}

function foldEnd(series: Series, mark: Mark, { maxRunUs, isTimed, leadUs }: Folding): Outcome {
  const { uid, atUs } = mark
  const failed = mark.kind === 'failed'
  const { open, orphans, settled } = series
  const run = open.get(uid)
  if (run !== undefined && run.startedUs <= atUs && atUs - run.startedUs <= maxRunUs) {
    takeBack(series, uid)
    open.delete(uid)
    return settle(series, uid, isTimed ? timed(settled, run) : run, atUs, failed, false)
  }
  const tag = tagOf(uid)
  if (settled.some((it) => it.tag === tag && it.endedUs === atUs)) return NOTHING
  const known = orphans.get(uid)
  if (known?.endedUs === atUs) return NOTHING
  const former = takeBack(series, uid).findLast(({ startedUs }) => startedUs! <= atUs)
  if (former !== undefined && run !== undefined && run.startedUs > atUs)
    return settle(series, uid, { startedUs: former.startedUs! }, atUs, failed, false)
  if (run !== undefined && run.startedUs <= atUs) open.delete(uid)
  if (series.others > 0) series.others--
  if (known === undefined || known.endedUs < atUs) {
    orphans.delete(uid) // the newest last
    orphans.set(uid, { endedUs: atUs, failed })
    if (orphans.size > MAX_OPEN) orphans.delete(orphans.keys().next().value!)
  }
  noteLife(series, mark, leadUs)
  return { kind: 'orphan', isFailed: failed }
}

/** What is usual may have been read from the stores since it began. */
function timed(settled: Series['settled'], run: OpenRun): OpenRun {
  const usualUs = run.usualUs ?? usualOf(settled, run.startedUs)
  return usualUs === undefined ? run : { ...run, usualUs }
}

function settle(
  series: Series,
  uid: string,
  { startedUs, usualUs }: OpenRun,
  endedUs: number,
  failed: boolean,
  isCounted: boolean,
): Outcome {
  if (series.open.size === 0) series.others = 0
  // in the order of the ends: what the stores have comes later than what the log had meanwhile
  const at = series.settled.findLastIndex((it) => it.endedUs <= endedUs) + 1
  series.settled.splice(at, 0, { startedUs, endedUs, failed, tag: tagOf(uid) })
  if (series.settled.length > SETTLED_KEPT) series.settled.shift()
  return {
    kind: 'settled',
    run: { uid, startedUs, endedUs, failed, ...(usualUs !== undefined && { usualUs }) },
    isCounted,
  }
}
