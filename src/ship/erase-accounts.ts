// Erases closed accounts from the stores and the dead letters. Spools may still hold events accepted before the account
// was closed, so it is erased only after they have passed that time. Many are erased together where the store can. What
// fails for one account, or one request, holds up no other.
import type { Logger } from '../log.ts'
import type { Spool } from '../spool/spool.ts'
import type { DeadLetters } from '../state/dead-letters.ts'
import type { Sink } from '../store/sink.ts'
import { rest, spend } from '../turns.ts'

export interface EraseAccountsOptions {
  /** The closed accounts whose data may still be somewhere; kept over restarts. */
  removals(): readonly string[]
  /** Nothing of the account is remembered from now on. */
  forget(account: string): void
  /** Everything of these accounts is gone. */
  removed(accounts: readonly string[]): Promise<void>
  readonly spools: readonly Pick<Spool, 'mark' | 'hasDelivered' | 'release'>[]
  /** Of the configured stores. */
  readonly sinks: readonly Eraser[]
  readonly deadLetters: Pick<DeadLetters, 'removeAccount'>
  /** The stamp clock. */
  nowUs(): number
  readonly log: Logger
  /** How long events of a closed account may still be appended. */
  readonly settleUs?: number
}

type Eraser = Pick<Sink, 'store' | 'erase' | 'erasesAtOnce'>

export type EraseAccounts = ReturnType<typeof createEraseAccounts>

const EVERY_MS = 2_000
/** So many are noted as erased in one transaction. */
const ACCOUNTS_AT_ONCE = 200
/** Where an account has dead letters, their file is synced. */
const STEPS_OF_LETTERS = 512
const [HERE, LETTERS] = ['this node', 'dead letters']
/**
 * Requests that began before their account was closed have been appended by then: a body may take a minute
 * (http/listen.ts), and then the disk may be slow. Waiting events are unreadable: keys and sessions are gone.
 */
const SETTLE_US = 120_000_000

export function createEraseAccounts(options: EraseAccountsOptions) {
  const { removals, removed, spools, deadLetters, nowUs, log, settleUs = SETTLE_US } = options
  /** One sink of each store erases all that the store has. */
  const sinks = [...new Map(options.sinks.map((sink) => [sink.store, sink])).values()]
  const underWay = new Map<string, Progress>()
  /** By store, HERE or LETTERS, what was logged: an operator wants each reason once, not every two seconds. */
  const told = new Map<string, Set<string>>()
  /** Of these, what failed in this step. */
  let failing = new Set<string>()
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  /** Whether all that the account could send is delivered: by the spools' order, because the clock may be set back. */
  function isDelivered(progress: Progress): boolean {
    if (nowUs() <= progress.seenUs + settleUs) return false
    progress.marks ??= spools.map((spool) => spool.mark())
    return spools.every((spool, i) => spool.hasDelivered(progress.marks![i]!))
  }

  function progressOf(account: string): Progress {
    const known = underWay.get(account)
    if (known !== undefined) return known
    for (const spool of spools) spool.release(account)
    options.forget(account)
    const progress: Progress = { seenUs: nowUs(), done: new Set(), waits: new Map() }
    underWay.set(account, progress)
    return progress
  }

  async function eraseFrom(sink: Eraser, due: ReadonlyMap<string, Progress>): Promise<void> {
    const { store, erasesAtOnce = 1 } = sink
    const left = [...due.keys()].filter((account) => !due.get(account)!.done.has(store))
    for (let from = 0; from < left.length && !isStopped; from += erasesAtOnce) {
      const accounts = left.slice(from, from + erasesAtOnce)
      const result = await sink.erase(accounts)
      for (const account of accounts) {
        const { done, waits } = due.get(account)!
        if (result.kind === 'stored') done.add(store)
        if (result.kind === 'wait') waits.set(store, result.reason)
        else waits.delete(store)
      }
      if (result.kind !== 'stored' && isNews(store, result.reason))
        log.warn({ accounts, store, reason: result.reason }, 'a store did not erase deleted accounts; trying again')
    }
  }

  /** These are delivered: all that they sent is in the stores. */
  async function erase(due: ReadonlyMap<string, Progress>): Promise<void> {
    for (const sink of sinks) await eraseFrom(sink, due)
    const accounts: string[] = []
    for (const [account, { done }] of due) {
      if (done.size === sinks.length && removeLetters(account)) accounts.push(account)
      if (spend(STEPS_OF_LETTERS)) await rest()
    }
    if (accounts.length === 0) return
    await removed(accounts)
    for (const account of accounts) underWay.delete(account)
    log.info({ accounts }, 'the data of deleted accounts is erased')
  }

  /** Those of one account hold up no other. */
  function removeLetters(account: string): boolean {
    try {
      deadLetters.removeAccount(account)
      return true
    } catch (err) {
      if (isNews(LETTERS, `${account}: ${err}`))
        log.warn({ err, account }, 'the dead letters of a deleted account cannot be removed; trying again')
      return false
    }
  }

  function isNews(where: string, reason: string): boolean {
    failing.add(where)
    const known = told.get(where) ?? new Set()
    if (known.has(reason)) return false
    told.set(where, known.add(reason))
    return true
  }

  /**
   * Runs at once, even during a step: a closed account's events in the spools free their share. `one`: only this one,
   * so that a thousand calls do not each look at all. Never throws.
   */
  function noteClosed(one?: string): void {
    try {
      for (const account of one === undefined ? removals() : [one]) progressOf(account)
    } catch {
      // `eraseAll` reads them too, and reports why it cannot.
    }
  }

  /** Never throws. */
  async function eraseAll(): Promise<void> {
    failing = new Set()
    try {
      const due: [string, Progress][] = []
      for (const account of removals()) {
        const progress = progressOf(account)
        if (isDelivered(progress)) due.push([account, progress])
        if (spend()) await rest()
      }
      for (let from = 0; from < due.length && !isStopped; from += ACCOUNTS_AT_ONCE)
        await erase(new Map(due.slice(from, from + ACCOUNTS_AT_ONCE)))
      for (const where of told.keys()) if (!failing.has(where)) told.delete(where)
    } catch (err) {
      if (isNews(HERE, String(err))) log.warn({ err }, 'erasing deleted accounts failed; trying again')
    }
  }

  /**
   * Tries every closed account once; resolves when done. Calls during a step share it. `closed`: the account that was
   * closed just now.
   */
  async function step(closed?: string): Promise<void> {
    if (isStopped) return
    noteClosed(closed)
    running ??= eraseAll().finally(() => {
      running = undefined
    })
    await running
  }

  return {
    step,
    /** Deleted accounts that a store does not erase until an operator does something, and what that is. */
    waiting(): { accounts: number; reasons: readonly string[] } {
      const waits = [...underWay.values()].map((progress) => progress.waits).filter((stores) => stores.size > 0)
      const reasons = waits.flatMap((stores) => [...stores].map(([store, reason]) => `${store}: ${reason}`))
      return { accounts: waits.length, reasons: [...new Set(reasons)] }
    },
    start(): void {
      noteClosed()
      timer = setInterval(() => void step(), EVERY_MS)
    },
    /** Waits for the running step; no other follows. */
    async stop(): Promise<void> {
      isStopped = true
      clearInterval(timer)
      await running
    },
  }
}

/** The progress of one closed account. */
interface Progress {
  readonly seenUs: number
  /** A mark per spool, taken once nothing more of the account can be appended. */
  marks?: readonly number[]
  /** The stores from which it is erased. */
  readonly done: Set<string>
  /** By store: what an operator must fix before it erases. */
  readonly waits: Map<string, string>
}
