// `late`: a start was due and did not arrive within the grace time.
//
//   due      every N: N after the last start, or after the watch began     cron: its times after the watch began
//   covered  by a start in [due − early, due + grace], early = min(grace, half the interval before the due time)
//   fires    at due + grace, until the next start
//
// A due time is excused only if Stint was down when starts usually arrive: due ± the spread so far, at least ± 30 s.
// Then the next one counts (every N: N after the downtime). Downtime in the rest of the grace only delays judgement.
// Of several in a row each is less likely to be lost: no more are excused than chance explains, however often Stint
// restarts. A due time within a long downtime is no evidence.
import type { Schedule } from '../log/cron.ts'
import { lastBlind } from './downtime.ts'
import type { Blind, Episode, Judgement } from './episode.ts'

export type LateRule =
  | { readonly everyUs: number; readonly graceUs: number }
  | { readonly schedule: Schedule; readonly graceUs: number }

/** A due time that cannot be judged, because its start may have been lost in a downtime. */
export interface Excused {
  readonly dueUs: number
  readonly blind: Blind
  /** The end of its grace, and the time at which a later due time fires. */
  readonly sinceUs: number
  readonly untilUs: number
}

/** The number of missed due times in a row that downtimes may cover. */
const MAX_EXCUSED = 10_000
const MIN_SPREAD_US = 30e6
/** The spread is that of so many starts; from so many on the largest deviation counts as an accident. */
const SPREAD_OF = 20
const WITHOUT_LARGEST_FROM = 10
/** The chance that a downtime hides a start is the share of the time around its due time that it takes, at least so. */
const MIN_CHANCE = 1 / 4
/** Starts are not lost in a row if that is less likely. */
const MIN_CHANCES = 1 / 1000

/** Between two starts, or since the last one. */
interface Silence {
  readonly fromUs: number
  /** The last start at or before `fromUs`. */
  readonly coveredUs: number | undefined
  /** The first time that is not part of it. */
  readonly endUs: number
}

interface Miss {
  readonly dueUs: number
  /** A start at this time or later counts for it. */
  readonly fromUs: number
  /** Not before this time may it be judged. */
  readonly firesUs: number
}

/**
 * `startsUs`: the times of all starts of one process since some time, in order. Episodes are in order; those that ended
 * before `floorUs` are omitted, because cron expressions are costly.
 */
export function judgeLate(
  rule: LateRule,
  startsUs: readonly number[],
  judgement: Judgement,
  floorUs = Number.NEGATIVE_INFINITY,
): Episode[] {
  return silencesOf(startsUs, judgement).flatMap((silence): Episode[] => {
    if (silence.endUs < floorUs) return []
    const { miss } = findMiss(rule, startsUs, silence, judgement.blind)
    if (miss === undefined || miss.firesUs >= Math.min(silence.endUs, judgement.knownUs)) return []
    const { dueUs, fromUs } = miss
    const isOver = silence.endUs <= judgement.knownUs
    const silentUs = silence.fromUs
    return [{ sinceUs: dueUs + rule.graceUs, dueUs, fromUs, silentUs, ...(isOver && { untilUs: silence.endUs }) }]
  })
}

/** The first known start for a due time that a start at `fromUs` or later covers. `startsUs` are sorted. */
export const endOfLate = (startsUs: readonly number[], fromUs: number): number | undefined =>
  startsUs.find((us) => us >= fromUs)

/** The last due time of the present silence that passes or passed unjudged, and when the next one fires. */
export function findExcused(rule: LateRule, startsUs: readonly number[], judgement: Judgement): Excused | undefined {
  const silence = silencesOf(startsUs, judgement).at(-1)!
  const { miss, excused } = findMiss(rule, startsUs, silence, judgement.blind)
  if (excused === undefined) return undefined
  const sinceUs = excused.dueUs + rule.graceUs
  return { ...excused, sinceUs, untilUs: miss?.firesUs ?? Number.POSITIVE_INFINITY }
}

function silencesOf(startsUs: readonly number[], { knownUs, sinceUs }: Judgement): Silence[] {
  const known = startsUs.filter((us) => us <= knownUs)
  const first = known.findIndex((us) => us > sinceUs)
  const before = first === -1 ? known.at(-1) : known[first - 1]
  const gaps = [Math.max(before ?? Number.NEGATIVE_INFINITY, sinceUs), ...(first === -1 ? [] : known.slice(first))]
  // A watch begins with a due time, not with a start: only a start covers its first cron time.
  return gaps.map((fromUs, i) => ({
    fromUs,
    coveredUs: i === 0 ? before : fromUs,
    endUs: gaps[i + 1] ?? Number.POSITIVE_INFINITY,
  }))
}

interface Found {
  readonly miss?: Miss | undefined
  readonly excused: Pick<Excused, 'dueUs' | 'blind'> | undefined
}

const findMiss = (rule: LateRule, startsUs: readonly number[], silence: Silence, blind: readonly Blind[]): Found =>
  'everyUs' in rule
    ? findMissedInterval(rule, startsUs, silence, blind)
    : findMissedTime(rule, startsUs, silence, blind)

function findMissedInterval(
  { everyUs, graceUs }: { readonly everyUs: number; readonly graceUs: number },
  startsUs: readonly number[],
  { fromUs, coveredUs, endUs }: Silence,
  blind: readonly Blind[],
): Found {
  const earlyUs = Math.min(graceUs, everyUs / 2)
  const isAfterStart = fromUs === coveredUs
  let excused: Found['excused']
  /** An excused interval is counted again from the end of the downtime. */
  let againUs = fromUs
  let spread: Spread | undefined
  let chance = 1
  for (let nth = 1, i = 0; i < MAX_EXCUSED; nth = Math.max(nth + 1, Math.ceil((againUs - fromUs) / everyUs)), i++) {
    const usualUs = fromUs + nth * everyUs
    const dueUs = excused === undefined ? usualUs : againUs + everyUs
    if (dueUs + graceUs >= endUs) return { excused }
    const isFirst = excused === undefined && !isAfterStart
    if (lastBlind(blind, isFirst ? fromUs : usualUs - everyUs, dueUs + Math.max(graceUs, MIN_SPREAD_US))) {
      spread ??= spreadOf(intervalsOf(startsUs, fromUs).map((us) => us - everyUs))
      const early = Math.min(nth * spread.earlyUs, everyUs / (nth === 1 ? 1 : 2))
      const late = Math.min(nth * spread.lateUs, Math.max(graceUs, MIN_SPREAD_US))
      const hidden = lastBlind(blind, isFirst ? fromUs : usualUs - early, usualUs + late)
      chance *= chanceOf(blind, usualUs - Math.min(early, everyUs / 2), usualUs + Math.min(late, everyUs / 2))
      if (hidden !== undefined && chance >= MIN_CHANCES) {
        excused = { dueUs, blind: hidden }
        againUs = Math.max(hidden.toUs, againUs)
        continue
      }
    }
    return { miss: { dueUs, fromUs: dueUs - earlyUs, firesUs: judgedFrom(blind, dueUs, graceUs) }, excused }
  }
  return { excused }
}

function findMissedTime(
  { schedule, graceUs }: { readonly schedule: Schedule; readonly graceUs: number },
  startsUs: readonly number[],
  { fromUs, coveredUs, endUs }: Silence,
  blind: readonly Blind[],
): Found {
  let excused: Found['excused']
  let spread: Spread | undefined
  let chance = 1
  let dueUs = schedule.nextUs(fromUs)
  for (let i = 0; i < MAX_EXCUSED && dueUs !== undefined && dueUs + graceUs < endUs; i++) {
    const earlyUs = earlyOf(schedule, dueUs, graceUs)
    const isCovered = coveredUs !== undefined && coveredUs >= dueUs - earlyUs
    if (!isCovered) {
      const [widestEarly, widestLate] = [Math.max(earlyUs, MIN_SPREAD_US), Math.max(graceUs, MIN_SPREAD_US)]
      let hidden = lastBlind(blind, dueUs - widestEarly, dueUs + widestLate)
      if (hidden !== undefined) {
        spread ??= spreadOf(deviationsOf(schedule, startsUs, fromUs))
        const [early, late] = [Math.min(spread.earlyUs, widestEarly), Math.min(spread.lateUs, widestLate)]
        hidden = lastBlind(blind, dueUs - early, dueUs + late)
        const halfUs = earlyOf(schedule, dueUs, Number.POSITIVE_INFINITY)
        chance *= chanceOf(blind, dueUs - Math.min(early, halfUs), dueUs + Math.min(late, halfUs))
      }
      if (hidden === undefined || chance < MIN_CHANCES)
        return { miss: { dueUs, fromUs: dueUs - earlyUs, firesUs: judgedFrom(blind, dueUs, graceUs) }, excused }
      excused = { dueUs, blind: hidden }
    }
    dueUs = schedule.nextUs(dueUs)
  }
  return { excused }
}

function earlyOf(schedule: Schedule, dueUs: number, graceUs: number): number {
  const previousUs = schedule.previousUs(dueUs)
  return previousUs === undefined ? graceUs : Math.min(graceUs, (dueUs - previousUs) / 2)
}

/** A start that was sent within the grace may still be retried until the end of a downtime in it. */
const judgedFrom = (blind: readonly Blind[], dueUs: number, graceUs: number): number =>
  Math.max(dueUs + graceUs, lastBlind(blind, dueUs, dueUs + graceUs)?.toUs ?? 0)

/** The chance that a start in this time was lost. */
function chanceOf(blind: readonly Blind[], fromUs: number, toUs: number): number {
  const hiddenUs = blind.map((it) => Math.max(0, Math.min(it.toUs, toUs) - Math.max(it.fromUs, fromUs)))
  return Math.max(MIN_CHANCE, hiddenUs.reduce((sum, us) => sum + us, 0) / (toUs - fromUs))
}

interface Spread {
  readonly earlyUs: number
  readonly lateUs: number
}

function spreadOf(deviations: readonly number[]): Spread {
  const largest = (values: readonly number[]) => {
    const sorted = values.toSorted((a, b) => b - a)
    return Math.max(MIN_SPREAD_US, sorted[sorted.length >= WITHOUT_LARGEST_FROM ? 1 : 0] ?? 0)
  }
  return { earlyUs: largest(deviations.map((us) => -us)), lateUs: largest(deviations) }
}

const startsBefore = (startsUs: readonly number[], untilUs: number) => startsUs.filter((us) => us <= untilUs)

function intervalsOf(startsUs: readonly number[], untilUs: number): number[] {
  const last = startsBefore(startsUs, untilUs).slice(-SPREAD_OF - 1)
  return last.slice(1).map((us, i) => us - last[i]!)
}

/** How far each start was from the due time that it belongs to. */
function deviationsOf(schedule: Schedule, startsUs: readonly number[], untilUs: number): number[] {
  return startsBefore(startsUs, untilUs)
    .slice(-SPREAD_OF)
    .flatMap((us) => {
      const around = [schedule.previousUs(us + 1e6), schedule.nextUs(us - 1e6)]
      const deviations = around.filter((due) => due !== undefined).map((due) => us - due)
      return deviations.sort((a, b) => Math.abs(a) - Math.abs(b)).slice(0, 1)
    })
}
