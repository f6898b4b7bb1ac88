// The state that evaluations of one account keep, and how often it is evaluated.
import type { WatchStore } from '../storage/create-watch-store.ts'
import { type StoredWatch, toRules, type WatchRules } from '../watch.ts'
import type { AccountHistory } from './account-history.ts'
import type { UnjudgedCheck } from './evaluate-account.ts'
import { createGapState } from './gaps.ts'
import type { MetricStates } from './metric-judge.ts'
import type { Former, ReadyWatch } from './moment.ts'
import type { Quiet } from './quiet.ts'

/** An account is evaluated at most this often; sooner if its watches have short spans. */
const INTERVAL_US = 15e6
const MIN_INTERVAL_US = 1e6

/** A sweep finds what hints missed. It is rarer the longer it finds nothing. */
const SWEEP_EVERY_US = 600e6
const SWEEP_LATER_EVERY_US = 3600e6
/** Sweeps of many accounts are spread over this part of their interval. */
const SPREAD = 0.2

export type AccountState = ReturnType<typeof createAccountState>

/** Times of the schedule are monotonic. */
export const createAccountState = (history: AccountHistory, judgedUs: number | undefined) => ({
  ...createGapState(),
  ...{ history, judgedUs },
  metrics: new Map() as MetricStates,
  quiet: new WeakMap() as Quiet,
  /** Undefined: to be read from the database. */
  watches: undefined as readonly StoredWatch[] | undefined,
  /** Counts changes of the watches: what was read during one is outdated. */
  changes: 0,
  dueUs: Number.NEGATIVE_INFINITY,
  sweepUs: Number.NEGATIVE_INFINITY,
  sweepEveryUs: SWEEP_EVERY_US,
  evaluatedUs: Number.NEGATIVE_INFINITY,
  intervalUs: MIN_INTERVAL_US,
  /** See Moment. */
  former: undefined as Former | undefined,
  unjudged: [] as readonly UnjudgedCheck[],
})

export const intervalOf = (watches: readonly ReadyWatch[]): number =>
  Math.max(MIN_INTERVAL_US, Math.min(INTERVAL_US, Math.min(...watches.map(({ rules }) => rules.shortestUs)) / 4))

/** How long after its last point a metric may still fire or return. */
const metricSpanUs = ({ metric }: WatchRules): number => (metric === undefined ? 0 : metric.windowUs + metric.forUs)

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

/** The watches as they were when they were read; they stay in the state unless they were changed meanwhile. */
export async function readWatches(
  store: Pick<WatchStore, 'watches' | 'recentAlerts'>,
  account: string,
  state: AccountState,
  resolvedSinceUs: number,
): Promise<ReadyWatch[]> {
  const { changes } = state
  const watches = state.watches ?? (await store.watches(account))
  if (state.changes === changes) state.watches = watches
  state.rules = rulesOf(state, watches)
  const alerts = Map.groupBy(await store.recentAlerts(account, resolvedSinceUs), ({ watch }) => watch)
  return watches.map((watch) => ({
    watch,
    rules: state.rules.get(watch.id)!.rules,
    alerts: alerts.get(watch.id) ?? [],
  }))
}

/** Allowance for the tick of the evaluation. */
const AFTER_US = 50_000

interface Outlook {
  /** Events of before are not stored yet; everything up to so much later must be. */
  readonly settlesInUs: number | undefined
  /** Something is new, or could not be judged. */
  readonly isOpen: boolean
  readonly sinceMetricUs: number
  /** From the judged time to the next predicted change. */
  readonly aheadUs: number
}

/** Monotonic. Without an event an account is due at its next predicted change and at its next sweep. */
export function nextDueUs(
  { intervalUs, sweepUs }: AccountState,
  watches: readonly ReadyWatch[],
  evaluatedUs: number,
  { settlesInUs, isOpen, sinceMetricUs, aheadUs }: Outlook,
): number {
  const windowUs = Math.max(0, ...watches.map(({ rules }) => metricSpanUs(rules)))
  const isMoving = windowUs > 0 && sinceMetricUs < windowUs + 2 * intervalUs
  const openUs = isOpen || isMoving ? intervalUs : Number.POSITIVE_INFINITY
  const againUs = settlesInUs === undefined ? openUs : Math.max(MIN_INTERVAL_US, settlesInUs + AFTER_US)
  const predictedUs = aheadUs <= 0 ? intervalUs : Math.max(MIN_INTERVAL_US, aheadUs + AFTER_US)
  return Math.min(evaluatedUs + Math.min(againUs, predictedUs), sweepUs)
}

/** `hasFound`: it found what no hint had announced. */
export function planSweep(state: AccountState, nowUs: number, hasFound: boolean): void {
  state.sweepEveryUs = hasFound ? SWEEP_EVERY_US : Math.min(2 * state.sweepEveryUs, SWEEP_LATER_EVERY_US)
  state.sweepUs = nowUs + state.sweepEveryUs * (1 - (SPREAD * (Math.floor(nowUs / 1000) % 64)) / 64)
}
