// Evaluates the watches of each account with a new event or a due time. Arrivals only hint what to read again; a sweep
// finds what they missed. The schedule is monotonic: a clock set back stops nothing. An alert and its notifications are
// one transaction; progress is stored after it, so a kill repeats what is missing.
import type { Logger } from '../../log.ts'
import { reads } from '../conditions/conditions.ts'
import type { Rewind } from '../rules/episode.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import { createAccountHistory, LOADED_BACK_US } from './account-history.ts'
import {
  type AccountState,
  createAccountState,
  intervalOf,
  nextDueUs,
  planSweep,
  readWatches,
} from './account-state.ts'
import { type AccountDelayed, createDelayedEvents, type DelayedEvent } from './delayed-events.ts'
import { evaluateAccount } from './evaluate-account.ts'
import type { Before } from './former-marks.ts'
import { createGaps, noteGaps, type SilentNode } from './gaps.ts'
import { createHintBook, type EventHint } from './hint-book.ts'
import type { Liveness } from './liveness.ts'
import { createMetricJudge } from './metric-judge.ts'
import { type Moment, NOTHING_FORMER, toFormer } from './moment.ts'
import { createNotices } from './notices.ts'
import { createProgress } from './progress.ts'
import { createStoreHealth } from './store-health.ts'
import type { WatchSource } from './watch-source.ts'

const TICK_MS = 500
/** Accounts beside each other: a store takes several questions at a time. */
const AT_ONCE = 4
/** A round begins no evaluation after this time. Accounts that are loaded come first, but one of the workers loads. */
const ROUND_US = 5e6
/** From a hint to the evaluation: the event must be stored first. */
const STORED_WITHIN_US = 1.5e6
const LIST_EVERY_US = 600e6
/** Allowance for requests that are stamped but not in the spool yet. */
const IN_FLIGHT_US = 1e6
/** Alerts that resolved earlier cannot overlap with any current episode. */
const RESOLVED_SEEN_US = 8 * 86_400e6

export interface EvaluatorOptions {
  readonly store: WatchStore
  readonly source: WatchSource
  readonly liveness: Pick<Liveness, 'blind' | 'notice'> & Partial<Pick<Liveness, 'rewind' | 'rewinds'>>
  nowUs(): number
  monotonicUs(): number
  /** The oldest event that is not stored yet, by destination; undefined if all are stored. */
  oldestUnstoredUs(): { readonly points: number | undefined; readonly exceptions: number | undefined }
  /** With several nodes. */
  silent?(): readonly SilentNode[]
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

export type Evaluator = ReturnType<typeof createEvaluator>

export function createEvaluator(options: EvaluatorOptions) {
  const { store, liveness, nowUs, monotonicUs, log } = options
  const onFault = options.onFault ?? ((err, message) => log.error({ err }, message))
  const accounts = new Map<string, AccountState>()
  /** Accounts that have watches or sent delayed events since the last round. */
  const delayed = new Map<string, AccountDelayed>()
  const rewinds = () => liveness.rewinds?.() ?? []
  let hints = createHintBook()
  let rewind: Rewind | undefined
  /** What was known of each account when the clock was set back. */
  let before: ReadonlyMap<string, Before> = new Map()
  const progress = createProgress(store, nowUs)
  const health = createStoreHealth(options.source, nowUs, monotonicUs)
  const { source } = health
  const gaps = createGaps(accounts, { ...options, health })
  const notices = createNotices({ ...options, accounts, gaps, isListed: () => Number.isFinite(listedUs) })
  let round: Promise<void> | undefined
  let timer: Timer | undefined
  let lastRoundUs: number | undefined
  let listedUs = Number.NEGATIVE_INFINITY
  let isStopping = false

  function delayedOf(account: string): AccountDelayed {
    const known = delayed.get(account)
    if (known !== undefined) return known
    const fresh = { marks: createDelayedEvents(), exceptions: createDelayedEvents() }
    delayed.set(account, fresh)
    return fresh
  }

  function stateOf(account: string): AccountState {
    const known = accounts.get(account)
    if (known !== undefined) return known
    const judgedUs = progress.of(account) && Math.min(progress.of(account)!, nowUs())
    const again = { rewind, rewinds: rewinds(), before: before.get(account) }
    const history = createAccountHistory({ source, account, judgedUs, delayed: delayedOf(account), nowUs, ...again })
    const fresh = createAccountState(history, judgedUs)
    accounts.set(account, fresh)
    return fresh
  }

  function momentOf(state: AccountState): Moment {
    const now = liveness.notice()
    const { points, exceptions } = options.oldestUnstoredUs()
    const known = (oldest: number | undefined) => Math.min(now - IN_FLIGHT_US, (oldest ?? now) - 1)
    return {
      nowUs: now,
      pointsKnownUs: known(points),
      exceptionsKnownUs: known(exceptions),
      isStored: points === undefined,
      blind: liveness.blind(now),
      rewind,
      clearUs: Math.max(rewind?.sinceUs ?? 0, ...rewinds().map(({ untilUs }) => untilUs)),
      former: state.former ?? NOTHING_FORMER,
      maxRunUs: options.maxRunUs,
      judgedUs: state.judgedUs,
      publicUrl: options.publicUrl(),
      silentNodes: (options.silent?.() ?? []).map(({ node }) => node),
    }
  }

  /** Evaluates one account and decides when it is due again. Hints alone fire nothing: everything is read before. */
  async function evaluate(account: string, state: AccountState): Promise<void> {
    const began = monotonicUs()
    state.evaluatedUs = began
    const watches = await readWatches(store, account, state, nowUs() - RESOLVED_SEEN_US)
    if (watches.length === 0) {
      if (state.watches === undefined) return // the first one was just added
      for (const map of [accounts, delayed]) map.delete(account)
      for (const book of [hints, progress]) book.forget(account)
      return
    }
    state.former ??= rewind && toFormer(watches)
    const moment = momentOf(state)
    if (liveness.rewind?.() !== rewind) return // set back just now: the next round judges everything again
    const taken = hints.take(account, began >= state.sweepUs)
    const isHinted = taken.marks.size > 0 || taken.exceptionUs !== undefined
    const { versionOf } = state.history.memory
    const version = versionOf(undefined)
    const ofMetrics = watches.filter(({ rules }) => reads(rules, 'metrics'))
    const judgeMetrics = createMetricJudge(source, account, ofMetrics, state.metrics)
    const { changes, faults, isWaiting, settlesInUs, isBusy, untilUs, unjudged } = await evaluateAccount(
      watches,
      state.history,
      judgeMetrics,
      state.quiet,
      moment,
      taken,
    )
    if (!taken.isSweep && faults.size === 0 && changes.some(({ kind }) => kind === 'open')) {
      state.sweepUs = began
      return evaluate(account, state)
    }
    if (changes.length > 0) await store.commit(changes, new Map(), nowUs()).then(() => options.onChanged?.())
    state.unjudged = unjudged
    noteGaps(state, faults, isWaiting, began)
    if (faults.size === 0) {
      hints.settle(account, taken, moment)
      if (taken.isSweep) planSweep(state, began, !isHinted && versionOf(undefined) !== version)
    }
    if (state.fault === undefined) {
      state.judgedUs = moment.pointsKnownUs
      progress.note(account, moment.pointsKnownUs)
    }
    state.intervalUs = intervalOf(watches)
    state.dueUs = nextDueUs(state, watches, began, {
      settlesInUs: isWaiting ? settlesInUs : undefined,
      isOpen: hints.isOpen(account) || faults.size > 0 || isBusy || changes.length > 0,
      sinceMetricUs: nowUs() - hints.lastMetricUs(account, nowUs()),
      aheadUs: untilUs - moment.pointsKnownUs,
    })
    if (state.watches === undefined) state.dueUs = Number.NEGATIVE_INFINITY // changed meanwhile
  }

  /** Makes an account, whose watches were changed, due in the next round. */
  function hurry(account: string): void {
    if (!progress.isLoaded()) return // the first round reads all
    const state = stateOf(account)
    state.watches = undefined
    state.changes++
    state.dueUs = Number.NEGATIVE_INFINITY
  }

  /** Reads the list of accounts with watches: at the start, and now and then. */
  async function listAccounts(): Promise<void> {
    const mono = monotonicUs()
    if (mono - listedUs < LIST_EVERY_US) return
    await progress.load()
    const listed = Map.groupBy(await store.watches(), ({ account }) => account)
    const isChanged = (account: string) => accounts.has(account) && accounts.get(account)!.watches === undefined
    for (const [account, watches] of listed) if (!isChanged(account)) stateOf(account).watches = watches
    const gone = [...accounts.keys(), ...delayed.keys()].filter((it) => !listed.has(it) && !isChanged(it))
    for (const map of [accounts, delayed]) for (const account of gone) map.delete(account)
    listedUs = mono
  }

  /** The clock was set back: what is remembered has times that come again, so everything is read and judged again. */
  function noteRewind(): void {
    const last = liveness.rewind?.()
    if (last === rewind) return
    rewind = last
    before = new Map([...accounts].map(([account, { history, judgedUs }]) => [account, { ...history, judgedUs }]))
    for (const map of [accounts, delayed]) map.clear()
    hints = createHintBook()
    listedUs = Number.NEGATIVE_INFINITY
  }

  async function runRound(): Promise<void> {
    const began = nowUs()
    noteRewind()
    await listAccounts()
    before = new Map()
    const mono = monotonicUs()
    for (const account of hints.fresh()) {
      const state = accounts.get(account)
      if (state === undefined) hints.forget(account)
      else state.dueUs = Math.min(state.dueUs, Math.max(mono + STORED_WITHIN_US, state.evaluatedUs + state.intervalUs))
    }
    const rank = ({ evaluatedUs, dueUs }: AccountState) => (Number.isFinite(evaluatedUs) ? dueUs : mono)
    const due = [...accounts].filter(([, { dueUs }]) => dueUs <= mono).sort(([, a], [, b]) => rank(a) - rank(b))
    const wereDue = due.length > 0
    const evaluateNext = async (_: unknown, worker: number) => {
      while (due.length > 0 && !isStopping && monotonicUs() - mono < ROUND_US)
        await evaluate(...(worker === 0 ? due.pop()! : due.shift()!))
    }
    const ended = await Promise.allSettled(Array(AT_ONCE).fill(undefined).map(evaluateNext)) // none outlives the round
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    if (isStopping) return
    await progress.step(mono)
    if (gaps.isAllGood()) lastRoundUs = nowUs()
    if (wereDue) options.onRound?.((nowUs() - began) / 1e6)
  }

  /** A second call joins the current round. */
  async function step(): Promise<void> {
    liveness.notice()
    health.probe(accounts.keys().next().value)
    gaps.step()
    await notices.step()
    if (isStopping) return
    round ??= runRound().finally(() => {
      round = undefined
    })
    return round
  }

  return {
    /** Evaluates the accounts that are due. */
    step,
    /** Notes an accepted event: its process is read again as soon as it is stored. */
    hint: (hint: EventHint): void => hints.note(hint, nowUs()),
    /** Any account may have new events. */
    hintAll(): void {
      for (const account of accounts.keys()) hints.note({ account }, nowUs())
    },
    /** Notes an event with its own time in the past, which is being accepted: it is read as soon as it is stored. */
    expectDelayed({ account, process, isException, atUs }: DelayedEvent): void {
      const { marks, exceptions } = delayedOf(account)
      const now = nowUs()
      const oldestUs = now - LOADED_BACK_US
      if (process !== undefined && atUs < oldestUs) return
      const fromUs = Math.max(atUs, oldestUs)
      if (isException !== true) marks.note(process, fromUs, now)
      if (isException !== false) exceptions.note(process, fromUs, now)
      hints.touch(account)
    },
    hurry,
    /** Accounts with conditions that could not be judged recently. */
    unknown: gaps.names,
    gaps: gaps.list,
    /** Checks whose due time fell into a downtime. */
    unjudged: () => [...accounts.values()].flatMap((state) => state.unjudged),
    /** The end of the last round in which every store answered. */
    lastRoundUs: () => lastRoundUs,
    start(): void {
      timer = setInterval(() => {
        step().catch((err: unknown) => onFault(err, 'the watches could not be evaluated; trying again'))
      }, TICK_MS)
    },
    async stop(): Promise<void> {
      isStopping = true
      clearInterval(timer)
      await Promise.allSettled([notices.stop(), round])
      await progress.save().catch(() => {}) // the next start judges a little more
    },
  }
}
