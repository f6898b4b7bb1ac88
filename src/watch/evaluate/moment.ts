// The input of one evaluation: the watches with their alerts, how much is known at that time, and what counts then.
import type { Condition } from '../../wire/conditions.ts'
import type { Blind, Rewind } from '../rules/episode.ts'
import type { Alert } from '../storage/watch-store.ts'
import type { StoredWatch, WatchRules } from '../watch.ts'

/** An episode that has ended is still reported if its events arrive within this time. */
const LATE_EVENTS_US = 10 * 60e6

export interface ReadyWatch {
  readonly watch: StoredWatch
  readonly rules: WatchRules
  readonly alerts: readonly Alert[]
}

/** What is from before the clock was set back. */
export interface Former {
  /** When its alerts had been resolved, by id. */
  readonly alerts: ReadonlyMap<string, number | null>
  /** When its watches and conditions were created and changed. */
  readonly times: ReadonlySet<number>
}

export interface Moment {
  readonly nowUs: number
  /** Everything before it is stored. */
  readonly pointsKnownUs: number
  readonly exceptionsKnownUs: number
  /** No accepted mark waits to be stored. */
  readonly isStored?: boolean
  readonly blind: readonly Blind[]
  readonly rewind: Rewind | undefined
  /** Nothing counts before it: the last times that came twice are over. */
  readonly clearUs: number
  readonly former: Former
  readonly maxRunUs: number
  /** `knownUs` of an earlier evaluation; events that became known since then may start and end an alert at once. */
  readonly judgedUs: number | undefined
  readonly publicUrl: string
  /** Nodes that may hold undelivered starts, so `late` is unknown. */
  readonly silentNodes: readonly number[]
}

export const NOTHING_FORMER: Former = { alerts: new Map(), times: new Set() }

export const toFormer = (watches: readonly ReadyWatch[]): Former => ({
  alerts: new Map(watches.flatMap(({ alerts }) => alerts.map(({ id, resolvedUs }) => [id, resolvedUs]))),
  times: new Set(watches.flatMap(({ watch }) => [watch.sinceUs, ...Object.values(watch.changed)])),
})

/** A condition counts from its last change, the last change of the watch, or the end of its pause. */
export function sinceOf({ watch, rules }: ReadyWatch, { clearUs, former }: Moment, condition?: Condition): number {
  const own = [watch.sinceUs, (condition && watch.changed[condition]) ?? 0].filter((us) => !former.times.has(us))
  return Math.max(...own, rules.pausedUntilUs ?? 0, clearUs)
}

/** An alert as it is judged: what happened before the clock was set back is over. */
export function recall(alert: Alert, { rewind, former }: Moment): Alert {
  const { condition, sinceUs, startedUs, resolvedUs, episode } = alert
  if (rewind === undefined || !former.alerts.has(alert.id)) return alert
  const overUs = (us: number) => Math.min(us, rewind.sinceUs)
  return {
    ...alert,
    sinceUs: overUs(sinceUs),
    startedUs: startedUs && condition !== 'long' ? overUs(startedUs) : startedUs,
    resolvedUs: former.alerts.get(alert.id) === resolvedUs && resolvedUs !== null ? overUs(resolvedUs) : resolvedUs,
    episode: episode && {
      ...episode,
      ...(episode.fromUs !== undefined && { fromUs: overUs(episode.fromUs) + 1 }),
    },
  }
}

/** Episodes that ended before it are not reported. */
export const floorOf = (one: ReadyWatch, moment: Moment): number =>
  (moment.judgedUs ?? sinceOf(one, moment)) - LATE_EVENTS_US

/** For every instance how its last alert ended, if that was by a person or by expiring. */
export function byHandOf({ alerts }: Pick<ReadyWatch, 'alerts'>, moment: Moment) {
  const ended = alerts
    .filter(({ endedBy }) => endedBy === 'person' || endedBy === 'expired')
    .map((alert) => recall(alert, moment))
  return (key: string) => {
    const last = ended.filter(({ instance }) => instance === key).at(-1)
    return last && { atUs: last.resolvedUs ?? last.sinceUs, isExpired: last.endedBy === 'expired' }
  }
}
