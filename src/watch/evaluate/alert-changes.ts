// The differences between the judged episodes of a watch and its alerts → changes. Invariants:
// * An alert ends only by an event that its condition names, or expires after a long silence. A history without its
//   reason ends nothing: it may be incomplete.
// * An episode opens one alert, whatever is judged again: its identity is unique in the store.
import type { Condition } from '../../wire/conditions.ts'
import type { Instance } from '../conditions/condition.ts'
import { CONDITIONS } from '../conditions/conditions.ts'
import { formatSpan, subjectName } from '../conditions/wording.ts'
import { createId } from '../random-id.ts'
import type { Episode } from '../rules/episode.ts'
import type { Alert, AlertChange } from '../storage/watch-store.ts'
import { notificationsOf, toEnd } from './describe-alert.ts'
import type { Judged } from './judge-watch.ts'
import type { Memory, Series } from './memory.ts'
import { floorOf, type Moment, type ReadyWatch, recall } from './moment.ts'

/** Older events open nothing. */
const OLDEST_US = 7 * 86_400e6
/** An alert expires when nothing arrived for this time and twice its interval. */
const EXPIRES_AFTER_US = 30 * 86_400e6

export const findSeries = (memory: Memory, { process, meta }: Pick<Alert, 'process' | 'meta'>): Series | undefined =>
  memory.seriesOf(process).find((series) => series.meta === (meta ?? ''))

const isFiring = ({ resolvedUs }: Alert): boolean => resolvedUs === null

/** Ends by events, then new alerts. `unknown`: conditions that lack something open none. */
export function findChanges(
  one: ReadyWatch,
  { instances, endOf }: Judged,
  unknown: readonly Condition[],
  memory: Memory,
  moment: Moment,
): AlertChange[] {
  const { watch, alerts } = one
  const identified = instances.flatMap((instance) =>
    instance.episodes.map((episode) => ({ instance, episode, identity: identityOf(instance, episode) })),
  )
  const ends: AlertChange[] = []
  const known = alerts.map((alert) => {
    const recalled = recall(alert, moment)
    const atUs = isFiring(alert) ? endOf(recalled) : undefined
    if (atUs === undefined) return recalled
    const episode = identified.find(({ identity }) => identity === alert.identity)?.episode
    const summary = CONDITIONS[alert.condition].summarizeEnd(alert, atUs, episode)
    const series = findSeries(memory, alert)
    ends.push(toEnd({ alert, watch, endedBy: 'event', atUs, summary, ...moment, ...(series && { series }) }))
    return { ...recalled, resolvedUs: Math.max(recalled.sinceUs, atUs) }
  })
  const byInstance = Map.groupBy(known, ({ instance }) => instance)
  const fresh = identified.filter(({ instance, episode, identity }) => {
    const own = byInstance.get(instance.key) ?? []
    return (
      !unknown.includes(instance.condition) &&
      isReported(one, instance.condition, episode, moment) &&
      !own.some((alert) => alert.identity === identity || isFiring(alert) || overlaps(alert, episode)) &&
      !isCovered(instance, episode, known)
    )
  })
  return [
    ...ends,
    ...fresh.map(({ instance, episode, identity }) => open(one, instance, episode, identity, memory, moment)),
  ]
}

const identityOf = ({ key, condition }: Instance, episode: Episode): string =>
  JSON.stringify([key, CONDITIONS[condition].stampOf(episode)])

/** Late events that move the start of an episode change nothing. */
const overlaps = ({ sinceUs, resolvedUs }: Alert, episode: Episode): boolean =>
  episode.sinceUs < (resolvedUs ?? Number.POSITIVE_INFINITY) && (episode.untilUs ?? Number.POSITIVE_INFINITY) > sinceUs

/** Each run alerts once, alone or with others whose end may be lost; news of a downtime can change which of both. */
function isCovered({ condition, process, meta }: Instance, episode: Episode, alerts: readonly Alert[]): boolean {
  if (condition !== 'long') return false
  const same = alerts.filter(
    (alert) => alert.condition === condition && alert.process === process && alert.meta === meta,
  )
  const covered = new Set(
    same
      .filter(({ endedBy }) => endedBy !== 'changed')
      .flatMap(({ uid, startedUs, episode }) => episode?.runs ?? [{ uid: uid ?? '', startedUs: startedUs ?? 0 }])
      .map(({ uid, startedUs }) => `${uid} ${startedUs}`),
  )
  const runs = episode.runs ?? [{ uid: episode.uid ?? '', startedUs: episode.startedUs ?? 0 }]
  return runs.every(({ uid, startedUs }) => covered.has(`${uid} ${startedUs}`))
}

function isReported(one: ReadyWatch, name: Condition, { sinceUs, untilUs }: Episode, moment: Moment): boolean {
  const condition = CONDITIONS[name]
  const withinUs = condition.reads === 'marks' ? condition.reportedWithinUs : undefined
  if (withinUs !== undefined && sinceUs <= moment.nowUs - OLDEST_US) return false
  const floorUs = floorOf(one, moment)
  const fromUs = withinUs === undefined ? floorUs : Math.min(floorUs, moment.nowUs - withinUs)
  return untilUs === undefined || untilUs > fromUs
}

function open(
  { watch, rules }: ReadyWatch,
  { key, condition, process, meta }: Instance,
  episode: Episode,
  identity: string,
  memory: Memory,
  moment: Moment,
): AlertChange {
  const { sinceUs, untilUs, uid, startedUs } = episode
  const { nowUs } = moment
  const entry = CONDITIONS[condition]
  const subject = { process, meta }
  const alert: Alert = {
    ...{ id: createId('ale'), account: watch.account, watch: watch.id, instance: key, condition, ...subject },
    uid: uid === undefined || uid === '' ? null : uid,
    startedUs: startedUs ?? null,
    sinceUs,
    resolvedUs: untilUs ?? null,
    notifiedUs: null,
    remindUs: rules.remindUs === undefined ? null : nowUs + rules.remindUs,
    summary: entry.summarize(subject, watch.spec[condition], episode),
    identity,
    endedBy: untilUs === undefined ? null : 'event',
    episode,
    channels: null,
    acked: null,
  }
  // one notification for an episode that was over when its events arrived
  const end = untilUs === undefined ? '' : `; ${entry.summarizeEnd(alert, untilUs, episode)}`
  const series = findSeries(memory, alert)
  const summary = `${alert.summary}${end}`
  const notifications = notificationsOf(watch.spec.channels, {
    ...{ type: 'alert.firing', alert, watch, summary, ...moment, ...(series && { series }) },
  })
  return {
    kind: 'open',
    alert: { ...alert, summary },
    watchSinceUs: watch.sinceUs,
    watchChanged: watch.changed,
    notifications,
  }
}

/** Alerts of silent processes. `lastUs`: when the last known event of an alert's subject arrived. */
export function findExpired(one: ReadyWatch, lastUs: (alert: Alert) => number, moment: Moment): AlertChange[] {
  return one.alerts.filter(isFiring).flatMap((alert): AlertChange[] => {
    const silentUs = moment.nowUs - Math.max(alert.sinceUs, lastUs(alert))
    if (silentUs <= Math.max(EXPIRES_AFTER_US, 2 * intervalOf(one, alert))) return []
    const whom = alert.condition === 'long' ? ' from that run' : ''
    const summary = `${subjectName(alert)}: nothing arrived${whom} for ${formatSpan(silentUs)}; the alert expired`
    return [toEnd({ alert, watch: one.watch, endedBy: 'expired', atUs: moment.nowUs, summary, ...moment })]
  })
}

function intervalOf({ rules }: ReadyWatch, { condition, sinceUs }: Alert): number {
  const entry = CONDITIONS[condition]
  const rule: unknown = rules[condition]
  return rule === undefined ? 0 : (entry.intervalUs?.(rule as never, sinceUs) ?? entry.spanUs?.(rule as never) ?? 0)
}

export function toReminders({ watch, rules, alerts }: ReadyWatch, memory: Memory, moment: Moment): AlertChange[] {
  const { remindUs } = rules
  const { nowUs } = moment
  if (remindUs === undefined) return []
  return alerts
    .filter((alert) => isFiring(alert) && alert.acked === null)
    .flatMap((alert): AlertChange[] => {
      const { id, summary } = alert
      const next = { kind: 'remind', id, remindUs: nowUs + remindUs } as const
      if (dueOf(alert, remindUs) > next.remindUs) return [{ ...next, notifications: [] }] // the clock was set back
      if (dueOf(alert, remindUs) > nowUs) return []
      const series = findSeries(memory, alert)
      const context = { type: 'alert.reminder', alert, watch, summary, ...moment, ...(series && { series }) } as const
      return [{ ...next, notifications: notificationsOf(watch.spec.channels, context) }]
    })
}

/** When an alert is next reminded of. */
export const dueOf = ({ remindUs, sinceUs }: Alert, everyUs: number): number => remindUs ?? sinceUs + everyUs
