// Erases closed accounts from the stores and the dead letters. Spools may still hold events accepted before the account
// was closed, so it is erased only after they have passed that time.
import type { Logger } from '../log.ts'
import type { Spool } from '../spool/spool.ts'
import type { DeadLetters } from '../state/dead-letters.ts'
import type { Sink } from '../store/sink.ts'

export interface EraseAccountsOptions {
  /** The closed accounts whose data may still be somewhere; kept over restarts. */
  removals(): readonly string[]
  /** Nothing of the account is remembered from now on. */
  forget(account: string): void
  /** Everything of the account is gone. */
  removed(account: string): void
  readonly spools: readonly Pick<Spool, 'mark' | 'hasDelivered' | 'release'>[]
  /** Of the configured stores. */
  readonly sinks: readonly Pick<Sink, 'store' | 'erase'>[]
  readonly deadLetters: Pick<DeadLetters, 'removeAccount'>
  /** The stamp clock. */
  nowUs(): number
  readonly log: Logger
  /** How long events of a closed account may still be appended. */
  readonly settleUs?: number
}

export type EraseAccounts = ReturnType<typeof createEraseAccounts>

const EVERY_MS = 2_000
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
    const progress: Progress = { seenUs: nowUs(), done: new Set(), told: new Set(), waits: new Map() }
    underWay.set(account, progress)
    return progress
  }

  async function erase(account: string, progress: Progress): Promise<void> {
    if (!isDelivered(progress)) return
    const { done, told } = progress
    for (const sink of sinks) {
      if (done.has(sink.store)) continue
      const result = await sink.erase(account)
      if (result.kind === 'wait') progress.waits.set(sink.store, result.reason)
      else progress.waits.delete(sink.store)
      if (result.kind === 'stored') {
        done.add(sink.store)
        continue
      }
      const { store } = sink
      if (isNews(told, `${store}: ${result.reason}`))
        log.warn({ account, store, reason: result.reason }, 'a store did not erase a deleted account; trying again')
    }
    if (done.size < sinks.length) return
    deadLetters.removeAccount(account)
    removed(account)
    underWay.delete(account)
    log.info({ account }, 'the data of a deleted account is erased')
  }

  /**
   * Runs at once, even during a step: a closed account's events in the spools free their share. `one`: only this one, as a
   * thousand at once would each look at all. Never throws.
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
    try {
      for (const account of removals()) if (!isStopped) await tryToErase(account)
    } catch (err) {
      log.warn({ err }, 'the deleted accounts cannot be read; trying again')
    }
  }

  async function tryToErase(account: string): Promise<void> {
    const progress = progressOf(account)
    try {
      await erase(account, progress)
    } catch (err) {
      if (isNews(progress.told, String(err)))
        log.warn({ err, account }, 'erasing a deleted account failed; trying again')
    }
  }

  /**
   * Tries every closed account once; returns when done. One step at a time: while one runs, this is that one. `closed`: the
   * account that was closed just now.
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
  /** Reasons that were logged: an operator wants each once, not every two seconds. */
  readonly told: Set<string>
  /** By store: what an operator must fix before it erases. */
  readonly waits: Map<string, string>
}

function isNews(told: Set<string>, reason: string): boolean {
  if (told.has(reason)) return false
  told.add(reason)
  return true
}
