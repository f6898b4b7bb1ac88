// Evaluates one account's watches at one time → changes of its alerts. If a store does not answer, the conditions that need it are unknown: their
// alerts stay as they are and nothing fires.
import type { Condition } from '../../wire/alerts.ts'
import type { Instance } from '../conditions/condition.ts'
import { CONDITION_NAMES, CONDITIONS, reads } from '../conditions/conditions.ts'
import { isPattern } from '../process-pattern.ts'
import { createId } from '../random-id.ts'
import type { Episode } from '../rules/episode.ts'
import type { Alert, AlertChange, NewNotification } from '../storage/watch-store.ts'
import type { AccountHistory } from './account-history.ts'
import { forgetBeforeUs } from './account-history.ts'
import { toBody } from './describe-alert.ts'
import { judgeMarks } from './judge-watch.ts'
import type { Series } from './memory.ts'
import type { MetricJudge } from './metric-judge.ts'
import type { Moment, ReadyWatch } from './moment.ts'
import { judgeUnlessQuiet, type Quiet } from './quiet.ts'

/** An episode that has ended is still reported if its events arrive within this time. */
const LATE_EVENTS_US = 10 * 60e6

export interface Evaluation {
  readonly changes: readonly AlertChange[]
  /** Why some conditions could not be judged. */
  readonly faults: readonly unknown[]
  /** Some watches wait until everything is stored that was in the spool when their processes were first read. */
  readonly isWaiting: boolean
}

export async function evaluateAccount(
  watches: readonly ReadyWatch[],
  history: AccountHistory,
  judgeMetrics: MetricJudge,
  quiet: Quiet,
  moment: Moment,
): Promise<Evaluation> {
  const { nowUs, pointsKnownUs, exceptionsKnownUs, silentNodes } = moment
  const active = watches.filter(({ rules }) => (rules.pausedUntilUs ?? 0) <= nowUs)
  const faults: unknown[] = []
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      faults.push(error)
      return false
    }
  }
  const ofMarks = active.filter(({ rules }) => reads(rules, 'marks'))
  const canReadMarks =
    ofMarks.length > 0 &&
    (await attempt(() => history.readMarks({ nowUs, knownUs: pointsKnownUs }, processesOf(ofMarks), openRuns(ofMarks))))
  const isReady = ({ watch }: ReadyWatch) =>
    canReadMarks && history.isReady(isPattern(watch.spec.process) ? undefined : watch.spec.process)
  const asksExceptions = active.some(({ rules }) => reads(rules, 'exceptions'))
  const hasExceptions =
    asksExceptions && (await attempt(() => history.readExceptions({ nowUs, knownUs: exceptionsKnownUs })))
  const isLateUnknown = silentNodes.length > 0 && active.some(({ rules }) => rules.late !== undefined)
  if (isLateUnknown) faults.push(new Error(`silent nodes may hold starts back: ${silentNodes.join(', ')}`))
  const metrics = new Map<ReadyWatch, Instance[]>()
  for (const one of active.filter(({ rules }) => reads(rules, 'metrics')))
    await attempt(async () => void metrics.set(one, await judgeMetrics(one, moment)))

  const changes = active.flatMap((one) => {
    const byMetrics = metrics.get(one)
    return [
      ...(isReady(one) ? changesByMarks(one, history, moment, hasExceptions, quiet) : []),
      ...(byMetrics === undefined ? [] : toChanges(one, byMetrics, new Set(namesOf('metrics')), history, moment)),
      ...toReminders(one, history, moment),
    ]
  })
  history.memory.trim(forgetBeforeUs(nowUs))
  return { changes, faults, isWaiting: canReadMarks && !ofMarks.every(isReady) }
}

/** Undefined = all. */
function processesOf(watches: readonly ReadyWatch[]): ReadonlySet<string> | undefined {
  const names = watches.map(({ watch }) => watch.spec.process)
  return names.some(isPattern) ? undefined : new Set(names)
}

/** The runs of firing alerts: they may have started before the stretch that is read. */
const openRuns = (watches: readonly ReadyWatch[]) =>
  watches.flatMap(({ alerts }) =>
    alerts
      .filter(({ condition, resolvedUs }) => condition === 'long' && resolvedUs === null)
      .map(({ process, meta, uid, startedUs }) => ({
        process,
        meta: meta ?? '',
        uid: uid ?? '',
        startedUs: startedUs!,
      })),
  )

/** A watch counts from its last change, or from the end of its pause. */
export const sinceOf = ({ watch, rules }: ReadyWatch): number => Math.max(watch.sinceUs, rules.pausedUntilUs ?? 0)

/** Episodes that ended before it are not reported. */
const floorOf = (one: ReadyWatch, { judgedUs }: Moment): number => (judgedUs ?? sinceOf(one)) - LATE_EVENTS_US

function changesByMarks(
  one: ReadyWatch,
  history: AccountHistory,
  moment: Moment,
  hasExceptions: boolean,
  quiet: Quiet,
): AlertChange[] {
  const missing = { hasExceptions, hasSilentNodes: moment.silentNodes.length > 0 }
  const judge = (at: Moment) => judgeByMarks(one, history, at, hasExceptions)
  const judged = judgeUnlessQuiet(quiet, one, history.memory, moment, judge)
  if (judged === undefined) return []
  const byMarks = namesOf('marks')
  const unknown = byMarks.filter((name) => isUnknown(name, one.rules[name], missing))
  const conditions = new Set(byMarks.filter((name) => !unknown.includes(name)))
  const instances = judged.instances.filter(({ condition }) => conditions.has(condition))
  const changes = toChanges(one, instances, conditions, history, moment)
  if (changes.length === 0 && unknown.length === 0) judged.settle()
  return changes
}

const namesOf = (what: 'marks' | 'metrics'): Condition[] =>
  CONDITION_NAMES.filter((name) => CONDITIONS[name].reads === what)

function isUnknown(name: Condition, rule: unknown, missing: { hasExceptions: boolean; hasSilentNodes: boolean }) {
  const condition = CONDITIONS[name]
  return condition.reads === 'marks' && rule !== undefined && condition.isUnknown?.(rule, missing) === true
}

function reportedWithinUs(name: Condition): number {
  const condition = CONDITIONS[name]
  return (condition.reads === 'marks' ? condition.reportedWithinUs : undefined) ?? LATE_EVENTS_US
}

function judgeByMarks(one: ReadyWatch, { memory }: AccountHistory, moment: Moment, hasExceptions: boolean): Instance[] {
  const { watch, rules } = one
  const { pointsKnownUs, exceptionsKnownUs, maxRunUs, blind } = moment
  const marks = { knownUs: pointsKnownUs, sinceUs: sinceOf(one), maxRunUs, blind }
  const exceptions = hasExceptions ? { ...marks, knownUs: Math.min(pointsKnownUs, exceptionsKnownUs) } : undefined
  const { process, meta } = watch.spec
  const series = isPattern(process) ? memory.series() : memory.seriesOf(process)
  return judgeMarks({ process, isPattern: isPattern(process), meta, rules }, series, {
    marks,
    exceptions,
    floorUs: floorOf(one, moment),
  })
}

function toChanges(
  one: ReadyWatch,
  instances: readonly Instance[],
  judged: ReadonlySet<Condition>,
  history: AccountHistory,
  moment: Moment,
): AlertChange[] {
  const { watch, rules, alerts } = one
  const { nowUs, pointsKnownUs } = moment
  const floorUs = floorOf(one, moment)
  const knownFor = (condition: Condition) => ({
    floorUs: Math.min(floorUs, nowUs - reportedWithinUs(condition)),
    knownUs: pointsKnownUs,
  })
  const byKey = new Map(instances.map((instance) => [instance.key, instance]))
  const alertsByKey = Map.groupBy(alerts, ({ instance }) => instance)
  const changes: AlertChange[] = []
  for (const [key, own] of alertsByKey) {
    if (byKey.has(key) || !judged.has(own[0]!.condition)) continue
    for (const { alert, untilUs, episode } of reconcile(own, [], knownFor(own[0]!.condition)).ended)
      resolve(alert, untilUs, episode)
  }
  for (const instance of instances) {
    const own = alertsByKey.get(instance.key) ?? []
    const { begun, ended } = reconcile(own, instance.episodes, knownFor(instance.condition))
    for (const { alert, untilUs, episode } of ended) resolve(alert, untilUs, episode)
    for (const episode of begun) open(instance, episode)
  }
  return changes

  function announce(type: 'alert.firing' | 'alert.resolved', alert: Alert, summary: string, episode?: Episode) {
    const series = findSeries(history, alert)
    const body = toBody({ type, alert, watch, summary, nowUs, publicUrl: moment.publicUrl, episode, series })
    return watch.spec.channels.map((channel): NewNotification => ({ id: createId('msg'), channel, body }))
  }
  function resolve(alert: Alert, resolvedUs: number, episode: Episode | undefined): void {
    const summary = CONDITIONS[alert.condition].summarizeEnd(alert, resolvedUs, episode)
    const notifications = announce('alert.resolved', alert, summary, episode)
    changes.push({ kind: 'resolve', id: alert.id, resolvedUs, summary, notifications })
  }
  function open({ key, condition, process, meta }: Instance, episode: Episode): void {
    const { sinceUs, untilUs, uid, startedUs } = episode
    const alert: Alert = {
      id: createId('ale'),
      account: watch.account,
      watch: watch.id,
      instance: key,
      condition,
      process,
      meta,
      uid: uid === undefined || uid === '' ? null : uid,
      startedUs: startedUs ?? null,
      sinceUs,
      resolvedUs: untilUs ?? null,
      notifiedUs: null,
      remindUs: rules.remindUs === undefined ? null : nowUs + rules.remindUs,
      summary: CONDITIONS[condition].summarize({ process, meta }, watch.spec[condition], episode),
    }
    const notifications = announce('alert.firing', alert, alert.summary, episode)
    if (untilUs !== undefined)
      notifications.push(
        ...announce('alert.resolved', alert, CONDITIONS[condition].summarizeEnd(alert, untilUs, episode), episode),
      )
    changes.push({ kind: 'open', alert, watchSinceUs: watch.sinceUs, notifications })
  }
}

interface Differences {
  readonly begun: readonly Episode[]
  readonly ended: readonly { readonly alert: Alert; readonly untilUs: number; readonly episode?: Episode }[]
}

/**
 * Finds the alerts of one instance that begin or end. An alert and an episode belong together if they overlap: so late events that move the start of
 * an episode change nothing, and a dismissed alert does not fire again while its episode lasts. Episodes without an alert that ended before `floorUs`
 * are not reported. An alert whose condition has no episode any more ends at `knownUs`.
 */
function reconcile(
  alerts: readonly Alert[],
  episodes: readonly Episode[],
  { floorUs, knownUs }: { readonly floorUs: number; readonly knownUs: number },
): Differences {
  const ended = alerts
    .filter(({ resolvedUs }) => resolvedUs === null)
    .flatMap((alert) => {
      const episode = episodes.find((it) => (it.untilUs ?? Number.POSITIVE_INFINITY) > alert.sinceUs)
      if (episode === undefined) return [{ alert, untilUs: Math.max(knownUs, alert.sinceUs) }]
      return episode.untilUs === undefined ? [] : [{ alert, untilUs: episode.untilUs, episode }]
    })
  const endOf = new Map(ended.map(({ alert, untilUs }) => [alert, untilUs]))
  const begun = episodes.filter((episode) => {
    if (episode.untilUs !== undefined && episode.untilUs <= floorUs) return false
    return !alerts.some((alert) => {
      const resolvedUs = alert.resolvedUs ?? endOf.get(alert) ?? Number.POSITIVE_INFINITY
      return episode.sinceUs < resolvedUs && (episode.untilUs ?? Number.POSITIVE_INFINITY) > alert.sinceUs
    })
  })
  return { begun, ended }
}

function toReminders({ watch, rules, alerts }: ReadyWatch, history: AccountHistory, moment: Moment): AlertChange[] {
  const { remindUs } = rules
  const { nowUs, publicUrl } = moment
  if (remindUs === undefined) return []
  return alerts
    .filter((alert) => alert.resolvedUs === null && (alert.remindUs ?? alert.sinceUs + remindUs) <= nowUs)
    .map((alert) => {
      const { id, summary } = alert
      const series = findSeries(history, alert)
      const body = toBody({ type: 'alert.reminder', alert, watch, summary, nowUs, publicUrl, series })
      const notifications = watch.spec.channels.map((channel) => ({ id: createId('msg'), channel, body }))
      return { kind: 'remind', id, remindUs: nowUs + remindUs, notifications }
    })
}

function findSeries({ memory }: AccountHistory, { process, meta }: Alert): Series | undefined {
  return memory.seriesOf(process).find((series) => series.meta === (meta ?? ''))
}
