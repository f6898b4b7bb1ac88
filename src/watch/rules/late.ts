// `late`: a start was due and did not arrive within the grace time.
//
//   due       every N: N after the last start, or after the watch began     cron: the expression's times after the watch began
//   covered   by a start in [due − early, due + grace], early = min(grace, half the interval before the due time)
//   fires     at due + grace, until the next start
//
// A due time whose window overlaps a blind stretch cannot be judged: its start may have been lost. Every N then counts from the end of that stretch;
// cron waits for its next due time. Other blind time does not count as silence.
import type { Schedule } from './cron.ts'
import { type Blind, type Episode, type Judgement, lastBlind, reachUs } from './episode.ts'

export type LateRule =
  | { readonly everyUs: number; readonly graceUs: number }
  | { readonly schedule: Schedule; readonly graceUs: number }

/** The number of missed due times in a row that a blind stretch may cover. */
const MAX_EXCUSED = 10_000

/** `startsUs`: the times of all starts of one process since some time, in order. Episodes are in order. */
export function judgeLate(rule: LateRule, startsUs: readonly number[], judgement: Judgement): Episode[] {
  const { knownUs, sinceUs } = judgement
  const known = startsUs.filter((us) => us <= knownUs)
  const first = known.findIndex((us) => us > sinceUs)
  const before = first === -1 ? known.at(-1) : known[first - 1]
  const gaps = [Math.max(before ?? Number.NEGATIVE_INFINITY, sinceUs), ...(first === -1 ? [] : known.slice(first))]
  return gaps.flatMap((fromUs, i): Episode[] => {
    const nextUs = gaps[i + 1]
    // A watch begins with a due time, not with a start: only a start covers its first cron time.
    const coveredUs = i === 0 ? before : fromUs
    const firesUs = missedUs(rule, fromUs, coveredUs, Math.min(nextUs ?? Number.POSITIVE_INFINITY, knownUs), judgement)
    if (firesUs === undefined) return []
    return [{ sinceUs: firesUs, ...(nextUs !== undefined && { untilUs: nextUs }) }]
  })
}

/** When the silence after `fromUs` fires, if that is before `endUs`. `coveredUs` is the last start. */
function missedUs(
  rule: LateRule,
  fromUs: number,
  coveredUs: number | undefined,
  endUs: number,
  { blind }: Judgement,
): number | undefined {
  const firesUs =
    'everyUs' in rule
      ? missedInterval(rule, fromUs, fromUs === coveredUs, endUs, blind)
      : missedMoment(rule, fromUs, coveredUs, endUs, blind)
  return firesUs !== undefined && firesUs < endUs ? firesUs : undefined
}

function missedInterval(
  { everyUs, graceUs }: { everyUs: number; graceUs: number },
  startUs: number,
  /** Whether it began with a start. Without one the next start may come at any time before it is due, so any blind stretch may hide it. */
  begins: boolean,
  endUs: number,
  blind: readonly Blind[],
): number | undefined {
  const earlyUs = Math.min(graceUs, everyUs / 2)
  let fromUs = startUs
  let isStart = begins
  for (;;) {
    const plainUs = fromUs + everyUs
    const dueUs = reachUs(blind, fromUs, everyUs - earlyUs) + earlyUs
    if (plainUs + graceUs >= endUs) return undefined
    const hidden =
      lastBlind(blind, isStart ? plainUs - earlyUs : fromUs, plainUs + graceUs) ??
      lastBlind(blind, dueUs - earlyUs, dueUs + graceUs)
    if (hidden === undefined) return dueUs + graceUs
    isStart = false
    fromUs = Math.max(hidden.toUs, fromUs + 1)
  }
}

function missedMoment(
  { schedule, graceUs }: { schedule: Schedule; graceUs: number },
  fromUs: number,
  coveredUs: number | undefined,
  endUs: number,
  blind: readonly Blind[],
): number | undefined {
  let dueUs = schedule.nextUs(fromUs)
  for (let i = 0; i < MAX_EXCUSED && dueUs !== undefined && dueUs + graceUs < endUs; i++) {
    const previousUs = schedule.previousUs(dueUs)
    const earlyUs = previousUs === undefined ? graceUs : Math.min(graceUs, (dueUs - previousUs) / 2)
    const isCovered = coveredUs !== undefined && coveredUs >= dueUs - earlyUs
    if (!isCovered && lastBlind(blind, dueUs - earlyUs, dueUs + graceUs) === undefined) return dueUs + graceUs
    dueUs = schedule.nextUs(dueUs)
  }
  return undefined
}
