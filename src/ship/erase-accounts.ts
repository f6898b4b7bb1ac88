// Deletes what a closed account left in the stores and among the dead letters. What was accepted before the account was closed may
// still be in the spools, so an account is erased only when they have passed that moment.
import type { Logger } from '../log.ts'
import type { DeadLetters } from '../spool/dead-letters.ts'
import type { Spool } from '../spool/spool.ts'
import type { Sink } from '../store/sink.ts'

export interface EraseAccountsOptions {
  /** The closed accounts whose data may still be somewhere; kept over restarts. */
  removals(): readonly string[]
  /** Everything of the account is gone. */
  removed(account: string): void
  readonly spools: readonly Spool[]
  readonly sinks: readonly Sink[]
  readonly deadLetters: DeadLetters
  /** The stamp clock. */
  nowUs(): number
  readonly log: Logger
}

export interface EraseAccounts {
  start(): void
  /** Tries every closed account once; returns when done. */
  step(): Promise<void>
  stop(): Promise<void>
}

const EVERY_MS = 2_000
/** A request that was being answered when its account was closed has been appended by then. */
const SETTLE_US = 5_000_000

export function createEraseAccounts(options: EraseAccountsOptions): EraseAccounts {
  const { removals, removed, spools, sinks, deadLetters, nowUs, log } = options
  const seenUs = new Map<string, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined

  const hasPassed = (momentUs: number) =>
    nowUs() > momentUs && spools.every((spool) => (spool.stats().oldestUs ?? Number.POSITIVE_INFINITY) > momentUs)

  async function erase(account: string): Promise<void> {
    if (!seenUs.has(account)) seenUs.set(account, nowUs())
    if (!hasPassed(seenUs.get(account)! + SETTLE_US)) return
    for (const sink of sinks) {
      const result = await sink.erase(account)
      if (result.kind !== 'stored')
        return void log.debug({ account, store: sink.store, result }, 'erasing an account waits')
    }
    deadLetters.removeAccount(account)
    removed(account)
    seenUs.delete(account)
    log.info({ account }, 'the data of a deleted account is erased')
  }

  async function step(): Promise<void> {
    for (const account of removals()) {
      try {
        await erase(account)
      } catch (err) {
        log.warn({ err, account }, 'erasing an account failed; trying again')
      }
    }
  }

  return {
    step,
    start() {
      timer = setInterval(() => {
        running ??= step().finally(() => {
          running = undefined
        })
      }, EVERY_MS)
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
