// Evaluates one account's watches at one time → changes of its alerts. If a store does not answer, the conditions
// that need it are unknown: their alerts stay as they are and nothing fires.
import type { Condition } from '../../wire/conditions.ts'
import type { Instance, KnownMarks } from '../conditions/condition.ts'
import { CONDITION_NAMES, CONDITIONS, reads } from '../conditions/conditions.ts'
import { isPattern } from '../process-pattern.ts'
import type { Alert, AlertChange } from '../storage/watch-store.ts'
import { type AccountHistory, forgetBeforeUs, type Hints } from './account-history.ts'
import { byHandOf, dueOf, findChanges, findExpired, floorOf, sinceOf, toReminders } from './alert-changes.ts'
import { concerned } from './gaps.ts'
import { type Judged, judgeMarks } from './judge-watch.ts'
import type { MetricJudge } from './metric-judge.ts'
import type { Moment, ReadyWatch } from './moment.ts'
import { judgeUnlessQuiet, type Quiet } from './quiet.ts'
import type { Asked } from './store-health.ts'

export interface Evaluation {
  readonly changes: readonly AlertChange[]
  /** What could not be read, and why. */
  readonly faults: ReadonlyMap<Asked | 'starts', unknown>
  /** Some watches wait until everything is stored that was in the spool when their processes were first read. */
  readonly isWaiting: boolean
  /** By then they are judged if everything is stored. */
  readonly settlesInUs: number
  /** Something waits to be read again. */
  readonly isBusy: boolean
  /** Without an event nothing changes before this time. */
  readonly untilUs: number
  readonly unjudged: readonly UnjudgedCheck[]
}

/** A check that is not judged, from a due time that fell into a downtime until the next one. */
export interface UnjudgedCheck {
  readonly account: string
  readonly watch: string
  readonly condition: Condition
  readonly process: string
  readonly sinceUs: number
  readonly blind: { readonly fromUs: number; readonly toUs: number }
}

export async function evaluateAccount(
  watches: readonly ReadyWatch[],
  history: AccountHistory,
  judgeMetrics: MetricJudge,
  quiet: Quiet,
  moment: Moment,
  hints: Hints,
): Promise<Evaluation> {
  const { nowUs, pointsKnownUs, exceptionsKnownUs, silentNodes } = moment
  const active = watches.filter(({ rules }) => (rules.pausedUntilUs ?? 0) <= nowUs)
  const faults = new Map<Asked | 'starts', unknown>()
  const attempt = async (asked: Asked, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      faults.set(asked, error)
      return false
    }
  }
  const ofMarks = active.filter(({ rules }) => reads(rules, 'marks'))
  const reach = { nowUs, knownUs: pointsKnownUs, isStored: moment.isStored === true }
  const canReadMarks =
    ofMarks.length > 0 &&
    (await attempt('marks', () => history.readMarks(reach, processesOf(ofMarks), openRuns(ofMarks), hints)))
  const isReady = ({ watch }: ReadyWatch) =>
    canReadMarks && history.isReady(isPattern(watch.spec.process) ? undefined : watch.spec.process)
  const asksExceptions = active.some(({ rules }) => reads(rules, 'exceptions'))
  const hasExceptions =
    asksExceptions &&
    (await attempt('exceptions', () => history.readExceptions({ nowUs, knownUs: exceptionsKnownUs }, hints)))
  const isLateUnknown = silentNodes.length > 0 && active.some(({ rules }) => concerned(rules, 'starts').length > 0)
  if (isLateUnknown) faults.set('starts', new Error(`silent nodes may hold starts back: ${silentNodes.join(', ')}`))
  const metrics = new Map<ReadyWatch, Instance[]>()
  for (const one of active.filter(({ rules }) => reads(rules, 'metrics')))
    await attempt('metrics', async () => void metrics.set(one, await judgeMetrics(one, moment)))

  const { memory } = history
  const lastUs = ({ process, uid, startedUs, condition }: Alert): number => {
    const all = memory.seriesOf(process)
    if (condition !== 'long') return Math.max(...all.map((series) => series.lastUs))
    const own = all.flatMap(({ exceptions }) => exceptions.filter((it) => uid !== null && it.uid === uid))
    return Math.max(startedUs ?? 0, ...own.map(({ atUs }) => atUs))
  }
  const unjudged: UnjudgedCheck[] = []
  let untilUs = Number.POSITIVE_INFINITY
  const changes = active.flatMap((one) => {
    const byMarks = isReady(one) ? judge(one, history, moment, hasExceptions, quiet) : undefined
    const byMetrics = metrics.get(one)
    if (byMarks) untilUs = Math.min(untilUs, byMarks.untilUs)
    unjudged.push(...(byMarks?.unjudged ?? []))
    return [
      ...(byMarks?.changes ?? []),
      ...(byMetrics === undefined ? [] : findChanges(one, byInstances(byMetrics, moment), METRICS, memory, moment)),
      ...(byMarks ? findExpired(one, lastUs, moment) : []),
      ...toReminders(one, memory, moment),
    ]
  })
  memory.trim(forgetBeforeUs(nowUs))
  return {
    changes,
    faults,
    isWaiting: canReadMarks && !ofMarks.every(isReady),
    settlesInUs: history.settlesUs() - pointsKnownUs,
    isBusy: !history.isSettled(),
    untilUs: Math.min(untilUs, ...watches.flatMap((one) => dueTimes(one, nowUs))),
    unjudged,
  }
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
      .flatMap(({ process, meta, uid, startedUs, episode }) => {
        const runs = episode?.runs ?? [{ uid: uid ?? '', startedUs: startedUs! }]
        return runs.map((run) => ({ process, meta: meta ?? '', ...run }))
      }),
  )

/** The ends of pauses, and reminders. */
const dueTimes = ({ rules, alerts }: ReadyWatch, nowUs: number): number[] => {
  const { pausedUntilUs, remindUs } = rules
  const reminded = alerts.filter(({ resolvedUs, acked }) => resolvedUs === null && acked === null)
  return [
    ...(pausedUntilUs !== undefined && pausedUntilUs > nowUs ? [pausedUntilUs] : []),
    ...(remindUs === undefined ? [] : reminded.map((alert) => dueOf(alert, remindUs, nowUs))).filter(
      (us) => us > nowUs,
    ),
  ]
}

const namesOf = (what: 'marks' | 'metrics'): Condition[] =>
  CONDITION_NAMES.filter((name) => CONDITIONS[name].reads === what)
const METRICS: ReadonlySet<Condition> = new Set(namesOf('metrics'))

/** A metric whose figure is in range has an instance without an episode. */
const byInstances = (instances: readonly Instance[], { pointsKnownUs }: Moment): Judged => ({
  instances,
  endOf: ({ condition, process }) => {
    const own = instances.find((it) => it.condition === condition && it.process === process)
    return own?.episodes.length === 0 ? pointsKnownUs : undefined
  },
})

interface JudgedWatch {
  readonly changes: readonly AlertChange[]
  readonly untilUs: number
  readonly unjudged: readonly UnjudgedCheck[]
}

function judge(
  one: ReadyWatch,
  history: AccountHistory,
  moment: Moment,
  hasExceptions: boolean,
  quiet: Quiet,
): JudgedWatch {
  const { memory } = history
  const missing = { hasExceptions, hasSilentNodes: moment.silentNodes.length > 0 }
  const judgeAt = (at: Moment) => judgeByMarks(one, history, at, hasExceptions)
  const { judged, instances, untilUs, settle } = judgeUnlessQuiet(quiet, one, memory, moment, judgeAt)
  const unjudged = instances.flatMap((it) => toUnjudged(one, it, moment))
  if (judged === undefined) return { changes: [], untilUs, unjudged }
  const byMarks = namesOf('marks')
  const unknown = byMarks.filter((name) => isUnknown(name, one.rules[name], missing))
  const conditions = new Set(byMarks.filter((name) => !unknown.includes(name)))
  const changes = findChanges(one, judged, conditions, memory, moment)
  if (changes.length === 0 && unknown.length === 0) return { changes, untilUs: settle(), unjudged }
  return { changes, untilUs: Number.POSITIVE_INFINITY, unjudged }
}

function toUnjudged(
  { watch }: ReadyWatch,
  { condition, process, unjudged }: Instance,
  moment: Moment,
): UnjudgedCheck[] {
  if (unjudged === undefined) return []
  const { sinceUs, untilUs, blind } = unjudged
  if (sinceUs > moment.pointsKnownUs || untilUs <= moment.pointsKnownUs) return []
  return [{ account: watch.account, watch: watch.id, condition, process, sinceUs, blind }]
}

function isUnknown(name: Condition, rule: unknown, missing: { hasExceptions: boolean; hasSilentNodes: boolean }) {
  const condition = CONDITIONS[name]
  return condition.reads === 'marks' && rule !== undefined && condition.isUnknown?.(rule, missing) === true
}

function judgeByMarks(one: ReadyWatch, { memory }: AccountHistory, moment: Moment, hasExceptions: boolean): Judged {
  const { watch, rules } = one
  const { pointsKnownUs, exceptionsKnownUs, maxRunUs, blind } = moment
  const exceptionsUs = Math.min(pointsKnownUs, exceptionsKnownUs)
  const knownFor = (condition: Condition): KnownMarks => {
    const [sinceUs, countsFromUs] = [sinceOf(one, moment, condition), sinceOf(one, moment)]
    const marks = { knownUs: pointsKnownUs, sinceUs, countsFromUs, maxRunUs, blind }
    const exceptions = hasExceptions ? { ...marks, knownUs: exceptionsUs } : undefined
    return { marks, exceptions, floorUs: floorOf(one, moment) }
  }
  const { process, meta } = watch.spec
  const series = isPattern(process) ? memory.series() : memory.seriesOf(process)
  const view = { process, isPattern: isPattern(process), meta, rules, endedByHand: byHandOf(one, moment) }
  return judgeMarks(view, series, knownFor, maxRunUs)
}
