// When something becomes due: pure. Downtime moves a due time and cancels none: what may have been lost in it is waited
// for one limit after it, an hour at most. Times are µs.

import type { Schedule } from '../../process/cron.ts'
import type { LateRule } from '../conditions/late.ts'
import type { Downtime } from './episode.ts'
import type { OpenRun } from './series.ts'

export interface Due {
  /** It is judged then: everything that arrived before is known. */
  readonly atUs: number
  /** The downtime in which the mark may have been lost. */
  readonly lost?: Downtime
  /** Since when it holds: a wait for a silent node that is back does not count. */
  readonly sinceUs: number
  /** It waits for a silent node, until it is back or for 10 minutes: what happens meanwhile cancels nothing. */
  readonly isHeld: boolean
}

const WAIT_US = 3600e6

/**
 * What is due in [fromUs, dueUs] may be lost in a downtime, and is waited for `spanUs` after it. A downtime that begins
 * after `dueUs` hides nothing. `restUs`: nothing is judged before, because a backlog may follow.
 */
function moveDue(downtimes: readonly Downtime[], fromUs: number, dueUs: number, spanUs: number, restUs: number): Due {
  const due = { atUs: Math.max(dueUs, restUs), sinceUs: Math.max(dueUs, restUs), isHeld: false }
  let lost: Downtime | undefined
  for (const it of downtimes) {
    if (it.fromUs >= dueUs || it.toUs <= fromUs) continue
    const endsUs = it.toUs + Math.min(spanUs, WAIT_US)
    const atUs = it.waitsUs === undefined ? endsUs : Math.min(endsUs, it.waitsUs)
    if (it.node !== undefined && atUs > due.atUs) due.isHeld = true
    due.atUs = Math.max(due.atUs, atUs)
    if (it.waitsUs === it.toUs) continue
    lost = it
    due.sinceUs = Math.max(due.sinceUs, atUs)
  }
  return lost === undefined ? due : { ...due, lost }
}

export interface LateDue extends Due {
  /** By the wall clock. */
  readonly dueUs: number
  /** With the grace, in the time of the stamps: it is late then. */
  readonly overUs: number
  /** A start at this time of the wall clock or later covers it. */
  readonly fromUs: number
}

/** The newest start of a subject, as far as `late` cares. */
interface NewestStart {
  /** By the wall clock. */
  readonly wallUs: number
  readonly restUs: number
}

/**
 * The next due time that no start covers; undefined after the last one. `sinceUs`: the condition counts from then on.
 * `leadUs`: the stamps lead the wall clock, which jobs follow, by so much.
 */
export function nextLate(
  rule: LateRule,
  { wallUs, restUs }: NewestStart,
  sinceUs: number,
  downtimes: readonly Downtime[],
  leadUs = 0,
): LateDue | undefined {
  const { graceUs } = rule
  const countsUs = Math.max(wallUs, sinceUs)
  if ('everyUs' in rule) {
    const { everyUs } = rule
    const dueUs = countsUs + everyUs
    const fromUs = Math.max(countsUs + 1, dueUs - Math.min(graceUs, everyUs / 2))
    return { dueUs, overUs: dueUs + graceUs + leadUs, fromUs, ...moveLate(rule, dueUs, restUs, downtimes, leadUs) }
  }
  const { schedule } = rule
  let dueUs = schedule.nextUs(countsUs)
  // covered by a start a little early; a watch that was made in that time begins with the next one
  if (dueUs !== undefined && countsUs >= dueUs - earlyOf(schedule, dueUs, graceUs)) dueUs = schedule.nextUs(dueUs)
  if (dueUs === undefined) return undefined
  const fromUs = dueUs - earlyOf(schedule, dueUs, graceUs)
  return { dueUs, overUs: dueUs + graceUs + leadUs, fromUs, ...moveLate(rule, dueUs, restUs, downtimes, leadUs) }
}

/** A start is expected at its due time and later, so the grace counts again after a downtime. */
export function moveLate(
  rule: LateRule,
  dueUs: number,
  restUs: number,
  downtimes: readonly Downtime[],
  leadUs = 0,
): Due {
  const { graceUs } = rule
  const spanUs = 'everyUs' in rule ? rule.everyUs : dueUs - (rule.schedule.previousUs(dueUs) ?? dueUs - WAIT_US)
  return moveDue(downtimes, dueUs + leadUs, dueUs + leadUs + graceUs, spanUs + graceUs, restUs)
}

/** How much too early a start may be. */
function earlyOf(schedule: Schedule, dueUs: number, graceUs: number): number {
  const previousUs = schedule.previousUs(dueUs)
  return previousUs === undefined ? graceUs : Math.min(graceUs, (dueUs - previousUs) / 2)
}

/** When a run exceeds a limit, without downtimes, in the time of the stamps. */
export const exceedsUs = ({ startedUs, leadUs = 0 }: Pick<OpenRun, 'startedUs' | 'leadUs'>, limitUs: number): number =>
  startedUs + leadUs + limitUs

/** When a run exceeds a limit; its end may be lost in any downtime before. */
export const nextLong = (
  run: Pick<OpenRun, 'startedUs' | 'leadUs' | 'restUs'>,
  limitUs: number,
  downtimes: readonly Downtime[],
): Due => moveDue(downtimes, run.startedUs, exceedsUs(run, limitUs), limitUs, run.restUs ?? 0)

/** When a run that another start followed is judged as never finished; its end may be lost in any downtime before. */
export const nextUnfinished = (
  { startedUs, followedUs, restUs }: { startedUs: number; followedUs: number; restUs: number },
  downtimes: readonly Downtime[],
): Due => moveDue(downtimes, startedUs, restUs, followedUs - startedUs, restUs)
