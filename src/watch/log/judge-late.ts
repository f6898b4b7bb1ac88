// `late`: no start came by due + grace. An end whose start is not known counts as a start.
import { type Desk, factsOf } from './desk.ts'
import { type LateDue, nextLate } from './due.ts'
import { keyOf } from './firing.ts'
import { type LateSubject, nameOf, sinceOf, type Track } from './subjects.ts'

const instanceOfLate = (process: string): string => keyOf('late', process)

const waitName = ({ watch, process }: LateSubject): string => nameOf(watch.id, instanceOfLate(process))

function dueOf(subject: LateSubject): LateDue | undefined {
  const { watch, account, process, newestStartUs } = subject
  const rule = watch.rules.late
  if (rule === undefined || subject.isGone) return undefined
  // a pattern expects nothing of a process that never started
  if (newestStartUs === 0 && watch.process !== process) return undefined
  const instance = instanceOfLate(process)
  const hand = account.byHand.get(nameOf(watch.id, instance))
  if (hand?.isExpired === true && newestStartUs <= hand.atUs) return undefined
  return nextLate(rule, subject, sinceOf(account, watch, 'late', instance), account.downtimes)
}

/** Plans its next due time, unless that was before `judgedUs`. What a downtime adds to it counts when it comes up. */
export function planLate(desk: Desk, subject: LateSubject, judgedUs = 0): void {
  const due = dueOf(subject)
  if (due === undefined || due.atUs < judgedUs) return
  planAt(desk, subject, due.dueUs + subject.watch.rules.late!.graceUs)
}

function planAt(desk: Desk, subject: LateSubject, us: number): void {
  if (us >= subject.plannedUs) return
  subject.plannedUs = us
  desk.heap.push(us, { kind: 'late', subject })
}

export function judgeLate(desk: Desk, subject: LateSubject, us: number): void {
  if (subject.plannedUs <= us) subject.plannedUs = Number.POSITIVE_INFINITY
  const { watch, account, process, newestStartUs } = subject
  const instance = instanceOfLate(process)
  if (desk.firing.find(watch.id, instance) !== undefined) return
  const due = dueOf(subject)
  desk.waits.delete(waitName(subject))
  if (due === undefined) return
  const { dueUs, fromUs, atUs, lost } = due
  const overUs = dueUs + watch.rules.late!.graceUs
  if (overUs > us) planAt(desk, subject, overUs)
  else if (atUs > us) {
    // not `plannedUs`: the next start may make an earlier due time count
    desk.heap.push(atUs, { kind: 'late', subject })
    const wait = { account: account.name, watch: watch.id, condition: 'late', process, sinceUs: overUs } as const
    if (lost !== undefined) desk.waits.set(waitName(subject), { ...wait, judgedAtUs: atUs, lost })
  }
  if (overUs > us || atUs > us) return
  const silentUs = Math.max(newestStartUs, sinceOf(account, watch, 'late', instance))
  const episode = {
    ...{ sinceUs: lost === undefined ? overUs : atUs, dueUs, fromUs, silentUs, ...(lost && { lost }) },
    ...(newestStartUs > 0 && { lastUs: newestStartUs }),
  }
  const alert = { watch: watch.id, condition: 'late', instance, process, meta: watch.meta, episode } as const
  desk.firing.open(account.name, { ...alert, identity: keyOf(instance, dueUs) }, factsOf(account, process, watch.meta))
}

/** A start, or an end whose start is not known, is newer than all before. */
export function noteStart(desk: Desk, { account, late }: Track, { atUs, restUs, isEnd }: Started): void {
  for (const subject of late) {
    if (atUs <= subject.newestStartUs) continue
    subject.newestStartUs = atUs
    subject.restUs = restUs
    if (subject.isKept) desk.touchLate(subject)
    const { watch, process } = subject
    const alert = desk.firing.find(watch.id, instanceOfLate(process))
    const { fromUs, sinceUs } = alert?.episode ?? { sinceUs: 0 }
    if (alert !== undefined && atUs >= (fromUs ?? sinceUs))
      desk.firing.end(account.name, alert, factsOf(account, process, watch.meta), {
        atUs,
        ...(isEnd && { ended: { endedAs: 'completed' } }),
      })
    desk.waits.delete(waitName(subject))
    // the known place in the heap comes up earlier, and is planned again then
    if (subject.plannedUs === Number.POSITIVE_INFINITY) planLate(desk, subject)
  }
}

export interface Started {
  readonly atUs: number
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
