// The exceptions of an account, as far as its processes show them: per process and meta the newest moments, per group
// of each its newest text and counts by hour. A group's decision is looked up when somebody asks.
import type { Raised } from '../process/belongs-to.ts'
import { longHeadline } from '../wire/headline.ts'
import { countHour, type Hours, NO_HOURS } from './hours.ts'

/** One exception, identified by time, rest of the stamp and group within its process and meta. */
export interface Moment extends Raised {
  readonly restNs: number
  readonly group: RaisedGroup
}

/** The exceptions of one process and meta that are the same fault. */
export interface RaisedGroup {
  readonly fingerprint: string
  /** Its v4 group, by which 2.0 decided; what is in the store has that decision as its own. */
  former: string | undefined
  /** Of its newest exception. */
  headline: string
  atUs: number
  restNs: number
  hours: Hours
}

/** The exceptions of one process and meta. */
export interface RaisedOfRow {
  /** Newest first. */
  moments: Moment[]
  readonly groups: Map<string, RaisedGroup>
}

/** Enough for the runs that a page shows. */
export const MOMENTS_KEPT = 60
/** Groups of one process and meta; one more replaces the group that was raised longest ago. */
const GROUPS_KEPT = 100

export const createRaised = (): RaisedOfRow => ({ moments: [], groups: new Map() })

const isNewer = (a: Pick<Moment, 'atUs' | 'restNs'>, b: Pick<Moment, 'atUs' | 'restNs'>): boolean =>
  a.atUs > b.atUs || (a.atUs === b.atUs && a.restNs > b.restNs)

export function findGroup(raised: RaisedOfRow, fingerprint: string): RaisedGroup {
  const known = raised.groups.get(fingerprint)
  if (known !== undefined) return known
  if (raised.groups.size >= GROUPS_KEPT) {
    const oldest = raised.groups.values().reduce((least, one) => (one.atUs < least.atUs ? one : least))
    raised.groups.delete(oldest.fingerprint)
  }
  const group: RaisedGroup = {
    fingerprint,
    former: undefined,
    headline: '',
    atUs: Number.NEGATIVE_INFINITY,
    restNs: 0,
    hours: NO_HOURS,
  }
  raised.groups.set(fingerprint, group)
  return group
}

/** An exception whose group is not looked up yet. */
interface Ungrouped extends Omit<Moment, 'group'> {
  readonly fingerprint: string
  readonly former?: string | undefined
  readonly text: string
}

/** Returns false if it is not newer than the oldest one, of as many as are remembered. */
export function raise(raised: RaisedOfRow, { atUs, restNs, uid, fingerprint, former, text }: Ungrouped): boolean {
  const { moments } = raised
  const oldest = moments.length < MOMENTS_KEPT ? undefined : moments.at(-1)
  if (oldest !== undefined && !isNewer({ atUs, restNs }, oldest)) return false
  if (moments.some((it) => it.atUs === atUs && it.restNs === restNs && it.group.fingerprint === fingerprint))
    return true
  const group = findGroup(raised, fingerprint)
  group.former = former ?? group.former
  if (isNewer({ atUs, restNs }, group)) Object.assign(group, { atUs, restNs, headline: longHeadline(text) })
  group.hours = countHour(group.hours, 1, atUs, 0, 1)
  addMoment(raised, { atUs, restNs, uid, group })
  return true
}

export function addMoment({ moments }: RaisedOfRow, moment: Moment): void {
  const at = moments.findIndex((it) => isNewer(moment, it))
  moments.splice(at < 0 ? moments.length : at, 0, moment)
  if (moments.length > MOMENTS_KEPT) moments.pop()
}

/** Estimated memory. */
export const raisedBytes = ({ moments, groups }: RaisedOfRow): number => 200 + 120 * moments.length + 400 * groups.size
