// `late`: no start came by due + grace. An end whose start is not known counts as a start.

import type { LateRule } from '../conditions/late.ts'
import { type Desk, factsOf } from './desk.ts'
import { type LateDue, moveLate, nextLate } from './due.ts'
import { keyOf } from './firing.ts'
import { type HeldLate, type LateSubject, nameOf, sinceOf, type Track } from './subjects.ts'

const MAX_HELD = 20
/** The stores are waited for so long. */
const READ_WITHIN_US = 3600e6

const instanceOfLate = (process: string): string => keyOf('late', process)

const waitName = ({ watch, process }: LateSubject): string => nameOf(watch.id, instanceOfLate(process))

function dueOf({ leadUs }: Desk, subject: LateSubject): LateDue | undefined {
  const { watch, account, process, newestStartUs } = subject
  const rule = watch.rules.late
  if (rule === undefined || subject.isGone) return undefined
  // a pattern expects nothing of a process that never started
  if (newestStartUs === 0 && watch.process !== process) return undefined
  const instance = instanceOfLate(process)
  const hand = account.byHand.get(nameOf(watch.id, instance))
  if (hand?.isExpired === true && newestStartUs <= hand.atUs) return undefined
  const due = nextLate(rule, subject, sinceOf(account, watch, 'late', instance), account.downtimes, leadUs)
  return due && afterReading(subject, due)
}

/** Without any start it waits for those that the stores may have, an hour at most. */
function afterReading({ account: { unread }, watch, newestStartUs }: LateSubject, due: LateDue): LateDue {
  if (newestStartUs > 0 || unread?.watches.has(watch.id) !== true) return due
  const fromUs = Math.max(unread.sinceUs, watch.sinceUs('late'))
  const waitsUs = fromUs + READ_WITHIN_US
  const lost = { fromUs, toUs: waitsUs, isUnread: true } as const
  const atUs = Math.max(due.atUs, waitsUs)
  return { ...due, atUs, sinceUs: atUs, lost: due.lost ?? lost }
}

/** What the stores have is known, or is to be: what is due may be due earlier, or wait. */
export function planUnread(desk: Desk, subject: LateSubject): void {
  if (subject.newestStartUs > 0) return
  subject.plannedUs = Number.POSITIVE_INFINITY
  planLate(desk, subject)
}

/** Plans its next due time, unless that was before `judgedUs`. What a downtime adds to it counts when it comes up. */
export function planLate(desk: Desk, subject: LateSubject, judgedUs = 0): void {
  const due = dueOf(desk, subject)
  if (due === undefined || due.atUs < judgedUs) return
  // not yet by the lead, which shrinks until then
  planAt(desk, subject, due.dueUs + subject.watch.rules.late!.graceUs)
}

function planAt(desk: Desk, subject: LateSubject, us: number): void {
  if (us >= subject.plannedUs) return
  subject.plannedUs = us
  desk.heap.push(us, { kind: 'late', subject })
}

const leadOf = ({ graceUs }: LateRule, { dueUs, overUs }: HeldLate): number => overUs - graceUs - dueUs

/** What waits for a silent node is looked at when it is back, or has been waited for long enough. */
export function planHeld(desk: Desk, subject: LateSubject): void {
  const rule = subject.watch.rules.late
  if (rule === undefined) return
  for (const it of subject.held)
    desk.heap.push(moveLate(rule, it.dueUs, it.restUs, subject.account.downtimes, leadOf(rule, it)).atUs, {
      kind: 'late',
      subject,
    })
}

/** Those of a due time that a silent node did not cover: it was late, and a start came. */
function judgeHeld(desk: Desk, subject: LateSubject, rule: LateRule, us: number): void {
  const { watch, account, process } = subject
  const instance = instanceOfLate(process)
  subject.held = subject.held.filter((it) => {
    const { dueUs, fromUs, silentUs, lastUs, restUs, startUs } = it
    const { atUs, sinceUs, lost } = moveLate(rule, dueUs, restUs, account.downtimes, leadOf(rule, it))
    if (atUs > us) return true
    desk.touchLate(subject)
    const last = lastUs > 0 && { lastUs }
    const episode = { sinceUs, dueUs, fromUs, silentUs, ...last, ...(lost && { lost }) }
    const alert = { watch: watch.id, condition: 'late', instance, process, meta: watch.meta, episode } as const
    const facts = factsOf(account, process, watch.meta)
    const more = { untilUs: Math.max(startUs, sinceUs), isApart: true }
    desk.firing.open(account.name, { ...alert, identity: keyOf(instance, dueUs) }, facts, more)
    return false
  })
}

/** A start, or an end whose start is not known, that the silent node held: it was in time. */
export function noteHeldStart({ late }: Track, wallUs: number, desk: Desk): void {
  for (const subject of late) {
    const rule = subject.watch.rules.late
    if (subject.held.length === 0 || rule === undefined) continue
    const left = subject.held.filter(({ fromUs, dueUs }) => wallUs < fromUs || wallUs > dueUs + rule.graceUs)
    if (left.length < subject.held.length) desk.touchLate(subject)
    subject.held = left
  }
}

/** A start came, while the silent node may hold an earlier one. */
function hold(desk: Desk, subject: LateSubject, { atUs, arrivedUs, wallUs }: Started): void {
  const { watch, account, process, newestStartUs: lastUs, restUs } = subject
  const due = dueOf(desk, subject)
  const rule = watch.rules.late
  if (due === undefined || rule === undefined || !due.isHeld) return
  if (due.atUs <= arrivedUs || due.dueUs + rule.graceUs >= wallUs || subject.held.length >= MAX_HELD) return
  const silentUs = Math.max(subject.wallUs, sinceOf(account, watch, 'late', instanceOfLate(process)))
  const { dueUs, overUs, fromUs } = due
  subject.held.push({ dueUs, overUs, fromUs, silentUs, lastUs, restUs, startUs: atUs })
  subject.isKept = true
  desk.touchLate(subject)
  planHeld(desk, subject)
}

/** A lead shrinks by a hundredth of the time that passes, so what is left comes sooner, by no more than that. */
const soonerOf = (us: number, overUs: number): number => (overUs - us < 1e6 ? overUs : us + 0.99 * (overUs - us))

export function judgeLate(desk: Desk, subject: LateSubject, us: number): void {
  if (subject.plannedUs <= us) subject.plannedUs = Number.POSITIVE_INFINITY
  if (subject.held.length > 0 && subject.watch.rules.late !== undefined)
    judgeHeld(desk, subject, subject.watch.rules.late, us)
  const { watch, account, process, newestStartUs } = subject
  const instance = instanceOfLate(process)
  if (desk.firing.find(watch.id, instance) !== undefined) return
  const due = dueOf(desk, subject)
  desk.waits.delete(waitName(subject))
  if (due === undefined) return
  const { dueUs, overUs, fromUs, atUs, sinceUs, lost } = due
  if (overUs > us) planAt(desk, subject, desk.leadUs > 0 ? soonerOf(us, overUs) : overUs)
  else if (atUs > us) {
    // not `plannedUs`: the next start may make an earlier due time count
    desk.heap.push(atUs, { kind: 'late', subject })
    const wait = { account: account.name, watch: watch.id, condition: 'late', process, sinceUs: overUs } as const
    if (lost !== undefined) desk.waits.set(waitName(subject), { ...wait, judgedAtUs: atUs, lost })
  }
  if (overUs > us || atUs > us) return
  const silentUs = Math.max(subject.wallUs, sinceOf(account, watch, 'late', instance))
  const episode = {
    sinceUs: lost === undefined ? overUs : sinceUs,
    dueUs,
    fromUs,
    silentUs,
    ...(lost && { lost }),
    ...(newestStartUs > 0 && { lastUs: newestStartUs }),
  }
  const alert = { watch: watch.id, condition: 'late', instance, process, meta: watch.meta, episode } as const
  desk.firing.open(account.name, { ...alert, identity: keyOf(instance, dueUs) }, factsOf(account, process, watch.meta))
}

/** A start, or an end whose start is not known, is newer than all before. */
export function noteStart(desk: Desk, { account, late }: Track, started: Started): void {
  const { atUs, arrivedUs, wallUs, restUs, isEnd } = started
  for (const subject of late) {
    if (atUs <= subject.newestStartUs) continue
    if (
      arrivedUs <= account.heldUntilUs &&
      desk.firing.find(subject.watch.id, instanceOfLate(subject.process)) === undefined
    )
      hold(desk, subject, started)
    subject.newestStartUs = atUs
    subject.wallUs = wallUs
    subject.restUs = restUs
    if (subject.isKept) desk.touchLate(subject)
    const { watch, process } = subject
    const alert = desk.firing.find(watch.id, instanceOfLate(process))
    const { fromUs, sinceUs } = alert?.episode ?? { sinceUs: 0 }
    if (alert !== undefined && wallUs >= (fromUs ?? sinceUs))
      desk.firing.end(account.name, alert, factsOf(account, process, watch.meta), {
        // in the time of the stamps, as the beginning of the alert
        atUs: Math.min(arrivedUs, wallUs + desk.leadUs),
        ...(isEnd && { ended: { endedAs: 'completed' } }),
      })
    desk.waits.delete(waitName(subject))
    // the known place in the heap comes up earlier, and is planned again then
    if (subject.plannedUs === Number.POSITIVE_INFINITY) planLate(desk, subject)
  }
}

export interface Started {
  readonly atUs: number
  readonly arrivedUs: number
  /** Its time by the wall clock. */
  readonly wallUs: number
  readonly restUs: number
  /** An end whose start is not known. */
  readonly isEnd: boolean
}

/** The subjects of a process and meta. */
export const subjectsOf = ({
  account,
  process,
  watches,
}: Pick<Track, 'account' | 'process' | 'watches'>): LateSubject[] =>
  watches.flatMap(({ id, rules }) => (rules.late ? (account.late.get(nameOf(id, process)) ?? []) : []))
