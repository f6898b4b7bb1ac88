// Carries the log through the judge into the store: the only writer of its state, positions and alerts. Invariants:
// * Inputs are judged in the order of arrival, and what was due before an input is judged before it.
// * Positions, state, alerts and notifications of what was judged are one transaction. While the database does not take
//   it, the judge stands.
//
//   read ─▶ (advance to its arrival, apply it) … ─▶ advance to what is known ─▶ commit

import type { Downtime } from '../log/episode.ts'
import { createJudge, LEAST_LEAD_US } from '../log/judge.ts'
import type { Change, WatchJudge } from '../log/judge-interface.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { Judged, StateRow } from '../storage/feed-statements.ts'
import type { AlertChange } from '../storage/watch-store.ts'
import { type StoredWatch, toJudgedWatch } from '../watch.ts'
import { type AccountBook, createAlertBook } from './alert-book.ts'
import { toEndOf, toJudgedAlert, toOpen } from './describe-alert.ts'
import type { Seed } from './seed.ts'
import { toReminder } from './to-reminder.ts'

/** Records of all spools in the order of their arrival. */
export interface Inputs {
  /** Reads what is new; true if there is more. */
  read(): Promise<boolean>
  /** The arrival of the next record; undefined when the next one is not known yet. */
  peekUs(): number | undefined
  take(): string
  /** Every record that arrived before is read. */
  knownUs(): number
  /** What was taken since the last call. */
  taken(): Taken
  /** Since when it left a stretch out, because it was gone or too long; undefined if it did not since the last call. */
  skippedUs(): number | undefined
  /** It is durable. */
  settle(taken: Taken): Promise<void>
}

export type Taken = Pick<Judged, 'positions' | 'passed' | 'taken'>

const COMMIT_EVERY_US = 2e6
/** Without anything new only the time is stored. */
const IDLE_EVERY_US = 15e6
/** PostgreSQL gives a transaction 5 s, and an alert takes some ten statements. */
const CHANGES_AT_ONCE = 50
const ROWS_AT_ONCE = 1000
/** Reminders are looked for this often. */
const LOOK_EVERY_US = 1e6

export interface EngineOptions {
  readonly store: WatchStore
  readonly inputs: Inputs
  readonly seed: Seed
  /** The wall clock, by which notifications are delivered. */
  nowUs(): number
  /** The stamp clock, by which events arrive. */
  logUs(): number
  monotonicUs(): number
  /** The stamp clock leads the wall clock by so much; absent: it never does. */
  leadUs?(): number
  readonly maxRunUs: number
  /** Nobody is reminded of its alerts; absent: of none. */
  isHeld?(account: string): boolean
  publicUrl(): string
  /** Hands a record to the judge. */
  apply(judge: WatchJudge, record: string, arrivedUs: number): Promise<void> | void
  /** Called after alerts changed. */
  onChanged(): void
}

export type Engine = ReturnType<typeof createEngine>

export function createEngine(options: EngineOptions) {
  const { store, inputs, seed, nowUs, logUs, monotonicUs } = options
  const book = createAlertBook(store)
  const judge = createJudge({ maxRunUs: options.maxRunUs, emit, isKnown: book.isKnown })
  /** Everything that arrived before it is judged; never goes back. */
  let clockUs = 0
  let committedUs = 0
  /** As the database has it, unless it was set to an earlier state. */
  let storedUs = 0
  let changes: AlertChange[] = []
  let rows: StateRow[] = []
  let dropped: string[] = []
  /** What the stores know of since then is not judged completely; undefined once it is. */
  let seedFromUs: number | undefined
  let seededUs: number | undefined
  const outdated = new Set<string>()
  let pending: Judged | undefined
  let [lookedUs, savedUs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let isLoaded = false
  /** What arrived before this process began is judged by the lead of that time: in between the stamps stood still. */
  let former: { readonly untilUs: number; readonly leadUs: number } | undefined

  const telling = () => ({ nowUs: nowUs(), publicUrl: options.publicUrl() })

  function emit(change: Change): void {
    const { account, alert: judged } = change
    const one = book.watch(judged.watch)
    if (one === undefined) return
    if (change.kind === 'open') {
      const opened = toOpen(change, one.watch, one.rules.remindUs, telling())
      changes.push(opened)
      if (opened.alert.resolvedUs === null) book.noteFiring(opened.alert)
      return
    }
    const alert = book.find(account, judged.watch, judged.instance)
    if (alert === undefined) return
    if (change.kind === 'end') {
      book.noteEnded(alert)
      changes.push(toEndOf(change, alert, one.watch, telling()))
    } else if (change.facts.exception !== undefined)
      changes.push({ kind: 'explain', id: alert.id, exception: change.facts.exception, notifications: [] })
  }

  async function load(): Promise<void> {
    const { judgedUs, leadUs, seedUs, state } = await store.judged()
    if (leadUs !== undefined) former = { untilUs: logUs(), leadUs }
    clockUs = judgedUs ?? seedUs ?? logUs()
    committedUs = clockUs
    storedUs = judgedUs ?? 0
    seedFromUs = seedUs
    const accounts = await book.loadAll()
    judge.setLead(leadAt(clockUs))
    for (const row of state) if (!seed.load(row)) judge.load(row)
    for (const account of accounts) setAccount(account, clockUs)
    isLoaded = true
  }

  /** What was due before `judgedUs` is judged; watches that are new are seeded from the stores. */
  function setAccount(account: string, judgedUs?: number): void {
    const own = book.of(account)
    if (own === undefined) {
      judge.removeAccount(account)
      seed.forget(account)
      dropped.push(account)
      return
    }
    const firing = [...own.firing.values()].map(toJudgedAlert)
    judge.setWatches(account, { watches: watchesOf(own).map(toJudgedWatch), firing, byHand: own.byHand }, judgedUs)
    seed.want(account, watchesOf(own), seedFromUs)
    setUnread(account)
  }

  /** `late` of these watches may not know of a start that the stores have. */
  function setUnread(account: string): void {
    judge.setUnread(account, seed.pending(account)?.watches, seedFromUs)
  }

  async function refresh(): Promise<void> {
    for (const account of [...outdated]) {
      outdated.delete(account) // it may be changed again meanwhile
      try {
        await book.load(account)
      } catch (error) {
        outdated.add(account)
        throw error
      }
      setAccount(account)
    }
  }

  const isClean = () => changes.length + rows.length + judge.dirtyCount() === 0
  const isFull = () => changes.length >= CHANGES_AT_ONCE || judge.dirtyCount() >= ROWS_AT_ONCE

  function leadAt(us: number): number {
    const leadUs = options.leadUs?.() ?? 0
    if (former !== undefined && us <= former.untilUs) return former.leadUs
    if (former !== undefined && former.leadUs - leadUs > LEAST_LEAD_US) hurryAll()
    former = undefined
    return leadUs
  }

  /** All accounts are read again: what is due may be due earlier. */
  function hurryAll(): void {
    for (const account of book.accounts()) outdated.add(account)
  }

  function advance(us: number): boolean {
    judge.setLead(leadAt(us))
    const isDone = judge.advance(us)
    clockUs = Math.max(clockUs, isDone ? us : judge.judgedUs())
    return isDone
  }

  /** False if it stopped between two inputs, because a commit has enough. */
  async function judgeInputs(): Promise<boolean> {
    for (let us = inputs.peekUs(); us !== undefined; us = inputs.peekUs()) {
      if (isFull() || !advance(Math.max(us, clockUs))) return false
      await options.apply(judge, inputs.take(), clockUs)
    }
    return !isFull() && advance(Math.max(inputs.knownUs(), clockUs))
  }

  function remind(): void {
    if (monotonicUs() - lookedUs < LOOK_EVERY_US) return
    lookedUs = monotonicUs()
    for (const [one, alert] of [...book.firing()]) {
      if ((one.rules.pausedUntilUs ?? 0) > nowUs() || options.isHeld?.(alert.account)) continue
      const reminder = toReminder(one, alert, telling())
      if (reminder === undefined) continue
      changes.push(reminder)
      book.noteFiring({ ...alert, remindUs: reminder.remindUs })
    }
  }

  /** What the feed left out is in the stores. */
  function seedAgain(skippedUs: number): void {
    seedFromUs = Math.floor(Math.min(seedFromUs ?? clockUs, skippedUs))
    for (const account of book.accounts()) {
      seed.want(account, watchesOf(book.of(account)), seedFromUs)
      setUnread(account)
    }
  }

  function foldSeeds(): void {
    for (const { account, marks, alertsFromUs, rows: done } of seed.take()) {
      if (book.of(account) === undefined) continue
      judge.seed(account, marks, { quietUntilUs: alertsFromUs ?? clockUs, keepsOpen: alertsFromUs !== undefined })
      rows.push(...done)
      setUnread(account)
    }
    if (seedFromUs === undefined || !seed.isOver()) return
    seededUs = seedFromUs
    seedFromUs = undefined
  }

  /** Stores what was judged; a commit that failed is repeated as it was. */
  async function commit(): Promise<void> {
    pending ??= takePending()
    const omitted = await store.commitJudged(pending, nowUs())
    const done = pending
    pending = undefined
    committedUs = done.judgedUs
    storedUs = done.judgedUs
    savedUs = monotonicUs()
    for (const { alert, why } of omitted) {
      if (why === 'known') book.noteKnown(alert)
      outdated.add(alert.account)
    }
    await inputs.settle(done)
    if (done.changes.length > 0) options.onChanged()
  }

  function takePending(): Judged {
    const state = new Map([...rows, ...judge.takeDirty()].map((row) => [`${row.account} ${row.name}`, row]))
    const taken = {
      judgedUs: clockUs,
      leadUs: former?.leadUs ?? options.leadUs?.() ?? 0,
      beforeUs: storedUs,
      seedUs: seedFromUs,
      seededUs,
      ...inputs.taken(),
      changes,
      dropped,
      state: [...state.values()],
    }
    ;[changes, rows, dropped, seededUs] = [[], [], [], undefined]
    return taken
  }

  return {
    /** Reads, judges and commits once; true if there is more. Rejects when the database fails: call it again. */
    async step(): Promise<boolean> {
      if (!isLoaded) await load()
      if (pending !== undefined) await commit()
      const isMore = await inputs.read()
      await refresh()
      foldSeeds()
      const skippedUs = inputs.skippedUs()
      if (skippedUs !== undefined) seedAgain(skippedUs)
      const isDone = await judgeInputs()
      remind()
      const isDue = monotonicUs() - savedUs >= (isClean() ? IDLE_EVERY_US : COMMIT_EVERY_US)
      if (changes.length > 0 || !isDone || isFull() || isDue) await commit()
      return isMore || !isDone
    },
    /** Stores what was judged. */
    async save(): Promise<void> {
      if (!isLoaded) return
      if (pending !== undefined) await commit()
      await commit()
    },
    /** The watches or alerts of an account were changed: they are read again before anything more is judged. */
    hurry(account: string): void {
      outdated.add(account)
    },
    hurryAll,
    addDowntime: (downtime: Downtime): void => judge.addDowntime(downtime),
    /** Everything that arrived before it is judged and stored. */
    judgedUs: () => (pending === undefined && isClean() ? clockUs : committedUs),
    /** When the next thing is due; undefined if nothing is. */
    nextUs: judge.nextUs,
    /** What is due, but judged later. */
    waiting: judge.waiting,
    /** Processes that are not judged, because the account has too many. */
    unjudged: judge.dropped,
    accounts: book.accounts,
  }
}

const watchesOf = (book: AccountBook | undefined): StoredWatch[] => (book?.watches ?? []).map(({ watch }) => watch)
