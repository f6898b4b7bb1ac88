// The accounts that are looked at, in the order in which they were asked for: one that nobody asks for is forgotten after ten
// minutes, and the one that was asked for longest ago at once when all take too much memory.
import { type Account, createAccount, type LoggedEvent } from './account.ts'
import type { StoredCount } from './stored-count.ts'

export interface Held {
  account: Account
  hasBase: boolean
  /** When the base was read. */
  baseUs: number
  baseVersion: number
  reading: Promise<void> | undefined
  /** When the stores were asked last for something beside a base. */
  askedUs: number
  faultUs: number
  fault: unknown
  /** The log had a gap: everything of before this time is known. */
  gapUs: number | undefined
  usedUs: number
  /** Here, and not only on another node. */
  isLooked: boolean
  /** How often something changed that is no event. */
  touches: number
  /** Versions of another time do not count. */
  readonly heldSince: number
  /** Events since a reading began. */
  buffer: LoggedEvent[] | undefined
  /** What the other nodes had stored when they were asked last. */
  othersSeen: string | undefined
  /** Somebody looks at it on another node. */
  stored: StoredCount | undefined
}

interface HeldOptions {
  nowUs(): number
  readonly maxBytes: number
  onFirst(): void
  onLast(): void
  /** The accounts that are looked at here. */
  onLooked(accounts: Iterable<string>): void
}

/** Nobody has looked for so long: the account is forgotten. */
const IDLE_US = 600e6
const SWEEP_MS = 60_000

export function createHeldAccounts({ nowUs, maxBytes, onFirst, onLast, onLooked }: HeldOptions) {
  const held = new Map<string, Held>()
  let timer: Timer | undefined

  const tellLooked = () => onLooked(held.entries().flatMap(([name, { isLooked }]) => (isLooked ? [name] : [])))

  function forget(name: string): void {
    if (!held.delete(name)) return
    tellLooked()
    if (held.size > 0) return
    close()
    onLast()
  }

  function close(): void {
    clearInterval(timer)
    timer = undefined
  }

  function sweep(): void {
    const now = nowUs()
    for (const [name, { usedUs }] of [...held]) if (now - usedUs > IDLE_US) forget(name)
  }

  return {
    held,
    find(name: string): Held {
      const known = held.get(name)
      const one = known ?? createHeld(name, nowUs())
      one.usedUs = nowUs()
      held.delete(name)
      held.set(name, one)
      if (known !== undefined) return one
      if (held.size === 1) onFirst()
      timer ??= setInterval(sweep, SWEEP_MS)
      timer.unref()
      return one
    },
    noteLook(one: Held): void {
      if (one.isLooked) return
      one.isLooked = true
      tellLooked()
    },
    forget,
    /** What has just been looked at stays, and what is being read. */
    bound(just: Held): void {
      let bytes = held.values().reduce((sum, { account }) => sum + account.bytes, 0)
      for (const [name, one] of [...held]) {
        if (bytes <= maxBytes) return
        if (one === just || one.reading !== undefined) continue
        bytes -= one.account.bytes
        forget(name)
      }
    },
    close,
  }
}

const createHeld = (name: string, now: number): Held => ({
  ...{ account: createAccount(name), hasBase: false, baseUs: 0, baseVersion: 0, reading: undefined, usedUs: now },
  ...{ faultUs: Number.NEGATIVE_INFINITY, fault: undefined, gapUs: undefined, buffer: undefined, stored: undefined },
  ...{ touches: 0, isLooked: false, othersSeen: undefined, heldSince: now, askedUs: Number.NEGATIVE_INFINITY },
})
