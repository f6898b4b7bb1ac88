// Evaluates one account's watches at one time → changes of its alerts. If a store does not answer, the conditions
// that need it are unknown: their alerts stay as they are and nothing fires.
import type { Condition } from '../../wire/conditions.ts'
import type { Instance } from '../conditions/condition.ts'
import { reads } from '../conditions/conditions.ts'
import { isPattern } from '../process-pattern.ts'
import type { Alert, AlertChange } from '../storage/watch-store.ts'
import { type AccountHistory, forgetBeforeUs, type Hints } from './account-history.ts'
import { dueOf, findChanges, findExpired, toReminders } from './alert-changes.ts'
import { concerned } from './gaps.ts'
import { type Judged, judgeMarks } from './judge-watch.ts'
import type { Memory } from './memory.ts'
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
  const { memory } = history
  const { nowUs, pointsKnownUs, exceptionsKnownUs, silentNodes } = moment
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
  // read
  const active = watches.filter(({ rules }) => (rules.pausedUntilUs ?? 0) <= nowUs)
  const ofMarks = active.filter(({ rules }) => reads(rules, 'marks'))
  const reach = { nowUs, knownUs: pointsKnownUs, isStored: moment.isStored === true }
  const canReadMarks =
    ofMarks.length > 0 &&
    (await attempt('marks', () => history.readMarks(reach, processesOf(ofMarks), openRuns(ofMarks), hints)))
  const hasExceptions =
    active.some(({ rules }) => reads(rules, 'exceptions')) &&
    (await attempt('exceptions', () => history.readExceptions({ nowUs, knownUs: exceptionsKnownUs }, hints)))
  const metrics = new Map<ReadyWatch, Judged>()
  for (const one of active.filter(({ rules }) => reads(rules, 'metrics')))
    await attempt('metrics', async () => void metrics.set(one, await judgeMetrics(one, moment)))
  if (silentNodes.length > 0 && active.some(({ rules }) => concerned(rules, 'starts').length > 0))
    faults.set('starts', new Error(`silent nodes may hold starts back: ${silentNodes.join(', ')}`))

  // judge
  const isReady = ({ watch }: ReadyWatch) =>
    canReadMarks && history.isReady(isPattern(watch.spec.process) ? undefined : watch.spec.process)
  const unjudged: UnjudgedCheck[] = []
  let untilUs = Math.min(...watches.flatMap((one) => dueTimes(one, nowUs)))
  const changes = active.flatMap((one) => {
    const byMarks = isReady(one) ? judge(one, history, moment, hasExceptions, quiet) : undefined
    const byMetrics = metrics.get(one)
    untilUs = Math.min(untilUs, byMarks?.untilUs ?? untilUs)
    unjudged.push(...(byMarks?.unjudged ?? []))
    return [
      ...(byMarks?.changes ?? []),
      ...(byMetrics === undefined ? [] : findChanges(one, byMetrics, [], memory, moment)),
      ...(byMarks ? findExpired(one, (alert) => lastEventUs(memory, alert), moment) : []),
      ...toReminders(one, memory, moment),
    ]
  })
  memory.trim(forgetBeforeUs(nowUs))
  return {
    ...{ changes, faults, untilUs, unjudged },
    isWaiting: canReadMarks && !ofMarks.every(isReady),
    settlesInUs: history.settlesUs() - pointsKnownUs,
    isBusy: !history.isSettled(),
  }
}

interface JudgedWatch {
  readonly changes: readonly AlertChange[]
  readonly untilUs: number
  readonly unjudged: readonly UnjudgedCheck[]
}

function judge(
  one: ReadyWatch,
  { memory }: AccountHistory,
  moment: Moment,
  hasExceptions: boolean,
  quiet: Quiet,
): JudgedWatch {
  const judgeAt = (at: Moment) => judgeMarks(one, memory, at, hasExceptions)
  const { judged, instances, untilUs, settle } = judgeUnlessQuiet(quiet, one, memory, moment, judgeAt)
  const unjudged = instances.flatMap((it) => toUnjudged(one, it, moment))
  if (judged === undefined) return { changes: [], untilUs, unjudged }
  const unknown = [
    ...(hasExceptions ? [] : concerned(one.rules, 'exceptions')),
    ...(moment.silentNodes.length === 0 ? [] : concerned(one.rules, 'starts')),
  ]
  const changes = findChanges(one, judged, unknown, memory, moment)
  if (changes.length === 0 && unknown.length === 0) return { changes, untilUs: settle(), unjudged }
  return { changes, untilUs: Number.POSITIVE_INFINITY, unjudged }
}

function toUnjudged(
  { watch }: ReadyWatch,
  { condition, process, unjudged }: Instance,
  { pointsKnownUs }: Moment,
): UnjudgedCheck[] {
  if (unjudged === undefined || unjudged.sinceUs > pointsKnownUs || unjudged.untilUs <= pointsKnownUs) return []
  const { sinceUs, blind } = unjudged
  return [{ account: watch.account, watch: watch.id, condition, process, sinceUs, blind }]
}

/** When the last known event of an alert's subject arrived. */
function lastEventUs(memory: Memory, { process, uid, startedUs, condition }: Alert): number {
  const all = memory.seriesOf(process)
  if (condition !== 'long') return Math.max(...all.map((series) => series.lastUs))
  const own = all.flatMap(({ exceptions }) => exceptions.filter((it) => uid !== null && it.uid === uid))
  return Math.max(startedUs ?? 0, ...own.map(({ atUs }) => atUs))
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
    ...(remindUs === undefined ? [] : reminded.map((alert) => dueOf(alert, remindUs))).filter((us) => us > nowUs),
  ]
}
