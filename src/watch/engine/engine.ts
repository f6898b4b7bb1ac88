// Carries the log through the judge into the store: the only writer of its state, positions and alerts. Invariants:
// * Inputs are judged in the order of arrival, and what was due before an input is judged before it.
// * Positions, state, alerts and notifications of what was judged are one transaction. While the database does not take
//   it, the judge stands.
//
//   read ─▶ (advance to its arrival, apply it) … ─▶ advance to what is known ─▶ commit

import type { Downtime } from '../log/episode.ts'
import { LEAST_LEAD_US } from '../log/judge.ts'
import { toJudgedWatch } from '../watch.ts'
import { toJudgedAlert } from './describe-alert.ts'
import {
  createState,
  type EngineOptions,
  type EngineState,
  isClean,
  isFull,
  momentOf,
  takeBatch,
} from './engine-state.ts'

const COMMIT_EVERY_US = 2e6
/** Without anything new only the time is stored. */
const IDLE_EVERY_US = 15e6
/** Reminders are looked for this often. */
const LOOK_EVERY_US = 1e6

export type Engine = ReturnType<typeof createEngine>

export function createEngine(options: EngineOptions) {
  const state = createState(options)
  const { book, judge } = state
  return {
    /** Reads, judges and commits once; true if there is more. Rejects when the database fails: call it again. */
    step: () => step(state),
    /** Stores what was judged. */
    async save(): Promise<void> {
      if (!state.isLoaded) return
      if (state.pending !== undefined) await commit(state)
      await commit(state)
    },
    /** The watches or alerts of an account were changed: they are read again before anything more is judged. */
    hurry(account: string): void {
      state.outdated.add(account)
    },
    hurryAll: () => hurryAll(state),
    addDowntime: (downtime: Downtime): void => judge.addDowntime(downtime),
    /** Everything that arrived before it is judged and stored. */
    judgedUs: () => (state.pending === undefined && isClean(state) ? state.clockUs : state.committedUs),
    /** When the next thing is due; undefined if nothing is. */
    nextUs: judge.nextUs,
    /** What is due, but judged later. */
    waiting: judge.waiting,
    /** Processes that are not judged, because the account has too many. */
    unjudged: judge.dropped,
    accounts: book.accounts,
  }
}

async function step(state: EngineState): Promise<boolean> {
  const { inputs, monotonicUs } = state
  if (!state.isLoaded) await load(state)
  if (state.pending !== undefined) await commit(state)
  const isMore = await inputs.read()
  await refresh(state)
  foldSeeds(state)
  const skippedUs = inputs.skippedUs()
  if (skippedUs !== undefined) seedAgain(state, skippedUs)
  const isDone = await judgeInputs(state)
  remind(state)
  const isDue = monotonicUs() - state.savedUs >= (isClean(state) ? IDLE_EVERY_US : COMMIT_EVERY_US)
  if (state.batch.changes.length > 0 || !isDone || isFull(state) || isDue) await commit(state)
  return isMore || !isDone
}

async function load(state: EngineState): Promise<void> {
  const { store, book, judge, seed, logUs } = state
  const { judgedUs, leadUs, seedUs, state: rows } = await store.judged()
  if (leadUs !== undefined) state.former = { untilUs: logUs(), leadUs }
  state.clockUs = judgedUs ?? seedUs ?? logUs()
  state.committedUs = state.clockUs
  state.storedUs = judgedUs ?? 0
  state.seedFromUs = seedUs
  const accounts = await book.loadAll()
  judge.setLead(leadAt(state, state.clockUs))
  for (const row of rows) if (!seed.load(row)) judge.load(row)
  for (const account of accounts) setAccount(state, account, state.clockUs)
  state.isLoaded = true
}

/** What was due before `judgedUs` is judged; watches that are new are seeded from the stores. */
function setAccount(state: EngineState, account: string, judgedUs?: number): void {
  const { book, judge, seed, batch, seedFromUs } = state
  const own = book.of(account)
  if (own === undefined) {
    judge.removeAccount(account)
    seed.forget(account)
    batch.dropped.push(account)
    return
  }
  const firing = [...own.firing.values()].map(toJudgedAlert)
  judge.setWatches(account, { watches: own.watches.map(toJudgedWatch), firing, byHand: own.byHand }, judgedUs)
  seed.want(account, own.watches, seedFromUs)
  setUnread(state, account)
}

/** `late` of these watches may not know of a start that the stores have. */
function setUnread({ judge, seed, seedFromUs }: EngineState, account: string): void {
  judge.setUnread(account, seed.pending(account)?.watches, seedFromUs)
}

async function refresh(state: EngineState): Promise<void> {
  const { book, outdated } = state
  for (const account of [...outdated]) {
    outdated.delete(account) // it may be changed again meanwhile
    await book.load(account).catch((error: unknown) => {
      outdated.add(account)
      throw error
    })
    setAccount(state, account)
  }
}

function leadAt(state: EngineState, us: number): number {
  const { former } = state
  const leadUs = state.leadUs?.() ?? 0
  if (former !== undefined && us <= former.untilUs) return former.leadUs
  if (former !== undefined && former.leadUs - leadUs > LEAST_LEAD_US) hurryAll(state)
  state.former = undefined
  return leadUs
}

/** All accounts are read again: what is due may be due earlier. */
function hurryAll({ book, outdated }: EngineState): void {
  for (const account of book.accounts()) outdated.add(account)
}

function advance(state: EngineState, us: number): boolean {
  const { judge } = state
  judge.setLead(leadAt(state, us))
  const isDone = judge.advance(us)
  state.clockUs = Math.max(state.clockUs, isDone ? us : judge.judgedUs())
  return isDone
}

/** False if it stopped between two inputs, because a commit has enough. */
async function judgeInputs(state: EngineState): Promise<boolean> {
  const { inputs, judge } = state
  for (let us = inputs.peekUs(); us !== undefined; us = inputs.peekUs()) {
    if (isFull(state) || !advance(state, Math.max(us, state.clockUs))) return false
    await state.apply(judge, inputs.take(), state.clockUs)
  }
  return !isFull(state) && advance(state, Math.max(inputs.knownUs(), state.clockUs))
}

function remind(state: EngineState): void {
  const { book, monotonicUs, isHeld = () => false } = state
  if (monotonicUs() - state.lookedUs < LOOK_EVERY_US) return
  state.lookedUs = monotonicUs()
  state.batch.changes.push(...book.remind(momentOf(state), isHeld))
}

/** What the feed left out is in the stores. */
function seedAgain(state: EngineState, skippedUs: number): void {
  const { book, seed } = state
  state.seedFromUs = Math.floor(Math.min(state.seedFromUs ?? state.clockUs, skippedUs))
  for (const account of book.accounts()) {
    seed.want(account, book.of(account)?.watches ?? [], state.seedFromUs)
    setUnread(state, account)
  }
}

function foldSeeds(state: EngineState): void {
  const { book, judge, seed, batch, clockUs, seedFromUs } = state
  for (const { account, marks, alertsFromUs, rows } of seed.take()) {
    if (book.of(account) === undefined) continue
    judge.seed(account, marks, { quietUntilUs: alertsFromUs ?? clockUs, keepsOpen: alertsFromUs !== undefined })
    batch.rows.push(...rows)
    setUnread(state, account)
  }
  if (seedFromUs === undefined || !seed.isOver()) return
  batch.seededUs = seedFromUs
  state.seedFromUs = undefined
}

/** Stores what was judged. */
async function commit(state: EngineState): Promise<void> {
  const { store, book, inputs, nowUs, monotonicUs } = state
  state.pending ??= takeBatch(state)
  const judged = state.pending
  const omitted = await store.commitJudged(judged, nowUs())
  state.pending = undefined
  state.committedUs = judged.judgedUs
  state.storedUs = judged.judgedUs
  state.savedUs = monotonicUs()
  for (const { alert, why } of omitted) {
    if (why === 'known') book.noteKnown(alert)
    else state.judge.omit(alert.watch, alert.identity ?? '')
    state.outdated.add(alert.account)
  }
  await inputs.settle(judged)
  if (judged.changes.length > 0) state.onChanged()
}
