// Evaluates all watches every 15 seconds, those with short spans more often, independently of requests. An alert and its notifications are one
// transaction; the progress of a round is stored after all of them, so the next round repeats what is missing.
import type { Logger } from '../../log.ts'
import { reads } from '../conditions/conditions.ts'
import type { AlertChange, WatchStore } from '../storage/watch-store.ts'
import { type StoredWatch, toRules, type WatchRules } from '../watch.ts'
import { type AccountHistory, createAccountHistory, type LateOnes, LOADED_BACK_US } from './account-history.ts'
import { evaluateAccount } from './evaluate-account.ts'
import { createLateEvents } from './late-events.ts'
import type { Liveness } from './liveness.ts'
import { createMetricJudge, type MetricStates } from './metric-judge.ts'
import type { Moment, ReadyWatch } from './moment.ts'
import type { Quiet } from './quiet.ts'
import type { WatchSource } from './watch-source.ts'

const TICK_MS = 500
const INTERVAL_US = 15e6
const MIN_INTERVAL_US = 1e6
/** Allowance for requests that are stamped but not in the spool yet. */
const IN_FLIGHT_US = 1e6
/** Alerts that resolved earlier cannot overlap with any current episode. */
const RESOLVED_SEEN_US = 8 * 86_400e6
const PRUNE_EVERY_US = 3600e6
const RESOLVED_KEPT_US = 90 * 86_400e6
/** A condition that was not judged for this long is reported as unknown. */
const UNKNOWN_AFTER_US = 60e6

export interface EvaluatorOptions {
  readonly store: WatchStore
  readonly source: WatchSource
  readonly liveness: Pick<Liveness, 'blind'>
  nowUs(): number
  /** The oldest event that is not stored yet, by destination; undefined if all are stored. */
  oldestUnstoredUs(): { readonly points: number | undefined; readonly exceptions: number | undefined }
  /** With several nodes: those without a recent heartbeat. */
  silentNodes?(): readonly number[]
  readonly maxRunUs: number
  publicUrl(): string
  readonly log: Logger
  /** Called when a round failed in the database. */
  onFault?(err: unknown, message: string): void
  /** Called after alerts changed. */
  onChanged?(): void
  /** Called after a round, with its duration. */
  onRound?(seconds: number): void
}

export interface LateEvent {
  readonly account: string
  /** Absent: any process, at that time or later. */
  readonly process?: string
  /** Absent: it may be one. */
  readonly isException?: boolean
  readonly atUs: number
}

export interface Evaluator {
  /** Evaluates the accounts that are due. */
  step(): Promise<void>
  /** Notes an event with its own time in the past, which is being accepted: it is read as soon as it is stored. */
  expectLate(event: LateEvent): void
  /** Makes an account due in the next round. */
  hurry(account: string): void
  /** Accounts with conditions that could not be judged recently. */
  unknown(): readonly string[]
  /** The end of the last round in which every store answered. */
  lastRoundUs(): number | undefined
  start(): void
  stop(): Promise<void>
}

interface AccountState {
  readonly history: AccountHistory
  readonly metrics: MetricStates
  readonly quiet: Quiet
  /** Built once per version of a watch: parsing cron expressions is expensive. */
  rules: ReadonlyMap<string, { readonly text: string; readonly rules: WatchRules }>
  dueUs: number
  judgedUs: number | undefined
  /** Everything before it was judged. */
  goodUs: number
  /** Every store answered the last evaluation. */
  isGood: boolean
  /** Why the last evaluation was not complete. */
  fault: unknown
}

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { store, source, liveness, nowUs, log } = options
  const onFault = options.onFault ?? ((err, message) => log.error({ err }, message))
  const accounts = new Map<string, AccountState>()
  /** Accounts that have watches or sent late events since the last round. */
  const late = new Map<string, LateOnes>()
  let judged: Map<string, number> | undefined
  let round: Promise<void> | undefined
  let timer: Timer | undefined
  let lastRoundUs: number | undefined
  let prunedUs = Number.NEGATIVE_INFINITY
  let isStopping = false
  let isAnyUnknown = false
  /** No account is due before this time. */
  let nextUs = Number.NEGATIVE_INFINITY

  function lateOf(account: string): LateOnes {
    const known = late.get(account)
    if (known !== undefined) return known
    const fresh = { marks: createLateEvents(), exceptions: createLateEvents() }
    late.set(account, fresh)
    return fresh
  }

  function stateOf(account: string): AccountState {
    const known = accounts.get(account)
    if (known !== undefined) return known
    const judgedUs = judged?.get(account)
    const fresh: AccountState = {
      history: createAccountHistory({ source, account, judgedUs, late: lateOf(account), nowUs }),
      metrics: new Map(),
      quiet: new WeakMap(),
      rules: new Map(),
      dueUs: 0,
      judgedUs,
      goodUs: nowUs(),
      isGood: false,
      fault: undefined,
    }
    accounts.set(account, fresh)
    return fresh
  }

  function momentOf({ judgedUs }: AccountState): Moment {
    const now = nowUs()
    const { points, exceptions } = options.oldestUnstoredUs()
    const known = (oldest: number | undefined) => Math.min(now - IN_FLIGHT_US, (oldest ?? now) - 1)
    return {
      nowUs: now,
      pointsKnownUs: known(points),
      exceptionsKnownUs: known(exceptions),
      blind: liveness.blind(now),
      maxRunUs: options.maxRunUs,
      judgedUs,
      publicUrl: options.publicUrl(),
      silentNodes: options.silentNodes?.() ?? [],
    }
  }

  async function evaluate(account: string, watches: readonly ReadyWatch[]): Promise<readonly AlertChange[]> {
    const state = stateOf(account)
    const moment = momentOf(state)
    const ofMetrics = watches.filter(({ rules }) => reads(rules, 'metrics'))
    const judgeMetrics = createMetricJudge(source, account, ofMetrics, state.metrics)
    const due = (intervalUs: number) => {
      state.dueUs = moment.nowUs + intervalUs
      nextUs = Math.min(nextUs, state.dueUs)
    }
    due(intervalOf(watches))
    const { changes, faults, isWaiting } = await evaluateAccount(
      watches,
      state.history,
      judgeMetrics,
      state.quiet,
      moment,
    )
    if (isWaiting) due(MIN_INTERVAL_US)
    state.fault = faults[0] ?? (isWaiting ? new Error('events of before are not stored yet') : undefined)
    state.isGood = faults.length === 0
    if (state.fault === undefined) {
      state.goodUs = moment.pointsKnownUs
      state.judgedUs = moment.pointsKnownUs
    }
    return changes
  }

  async function runRound(): Promise<void> {
    judged ??= await store.judged()
    const began = nowUs()
    const [all, alerts] = await Promise.all([store.watches(), store.recentAlerts(began - RESOLVED_SEEN_US)])
    const alertsOf = Map.groupBy(alerts, ({ watch }) => watch)
    const byAccount = Map.groupBy(all, ({ account }) => account)
    for (const map of [accounts, late])
      for (const account of map.keys()) if (!byAccount.has(account)) map.delete(account)
    nextUs = began + INTERVAL_US
    const changes: AlertChange[] = []
    const progress = new Map<string, number>()
    for (const [account, watches] of byAccount) {
      if (isStopping) return
      if (stateOf(account).dueUs > began) {
        nextUs = Math.min(nextUs, stateOf(account).dueUs)
        continue
      }
      const rules = rulesOf(stateOf(account), watches)
      const ready = watches.map((watch) => ({
        watch,
        rules: rules.get(watch.id)!.rules,
        alerts: alertsOf.get(watch.id) ?? [],
      }))
      changes.push(...(await evaluate(account, ready)))
      const { judgedUs } = stateOf(account)
      if (judgedUs !== undefined) progress.set(account, judgedUs)
    }
    if (progress.size > 0 || changes.length > 0) await store.commit(changes, progress, nowUs())
    if (changes.length > 0) options.onChanged?.()
    if (began - prunedUs > PRUNE_EVERY_US) {
      await store.prune(began - RESOLVED_KEPT_US)
      prunedUs = began
    }
    if ([...accounts.values()].every((state) => state.isGood && !isUnknown(state))) lastRoundUs = nowUs()
    noteUnknown()
    options.onRound?.((nowUs() - began) / 1e6)
  }

  /** A second call joins the current round. */
  async function step(): Promise<void> {
    if (round === undefined && nowUs() < nextUs) return
    round ??= runRound().finally(() => {
      round = undefined
    })
    return round
  }

  const isUnknown = ({ goodUs }: AccountState) => nowUs() - goodUs > UNKNOWN_AFTER_US
  const unknown = () => [...accounts].filter(([, state]) => isUnknown(state)).map(([account]) => account)

  /** Logs when the first account becomes unknown and when the last one is known again. */
  function noteUnknown(): void {
    const since = unknown()
    if (since.length > 0 && !isAnyUnknown) {
      const { fault, goodUs } = accounts.get(since[0]!)!
      const behindS = Math.round((nowUs() - goodUs) / 1e6)
      log.warn({ err: fault, accounts: since.length, behindS }, 'watches cannot be judged; they stay as they are')
    } else if (since.length === 0 && isAnyUnknown) log.info('all watches are judged again')
    isAnyUnknown = since.length > 0
  }

  return {
    step,
    expectLate({ account, process, isException, atUs }) {
      const { marks, exceptions } = lateOf(account)
      const now = nowUs()
      const oldestUs = now - LOADED_BACK_US
      if (process !== undefined && atUs < oldestUs) return
      const fromUs = Math.max(atUs, oldestUs)
      if (isException !== true) marks.note(process, fromUs, now)
      if (isException !== false) exceptions.note(process, fromUs, now)
    },
    hurry(account) {
      const state = accounts.get(account)
      if (state) state.dueUs = 0
      nextUs = Number.NEGATIVE_INFINITY
    },
    unknown,
    lastRoundUs: () => lastRoundUs,
    start() {
      timer = setInterval(() => {
        step().catch((err: unknown) => onFault(err, 'the watches could not be evaluated; trying again'))
      }, TICK_MS)
    },
    async stop() {
      isStopping = true
      clearInterval(timer)
      await round?.catch(() => {})
    },
  }
}

const intervalOf = (watches: readonly ReadyWatch[]): number =>
  Math.max(MIN_INTERVAL_US, Math.min(INTERVAL_US, Math.min(...watches.map(({ rules }) => rules.shortestUs)) / 4))

/** Keeps the rules of these watches and drops all others. */
function rulesOf(state: AccountState, watches: readonly StoredWatch[]): AccountState['rules'] {
  state.rules = new Map(
    watches.map(({ id, spec }) => {
      const text = JSON.stringify(spec)
      const known = state.rules.get(id)
      return [id, known?.text === text ? known : { text, rules: toRules(spec) }]
    }),
  )
  return state.rules
}
