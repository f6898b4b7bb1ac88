// The accounts that people look at, in the order in which they were asked for: one is forgotten ten minutes after the
// last request, and the one that was asked for longest ago at once when all together take too much memory.
import { type Account, bytesOfProcess, createAccount, type LoggedEvent } from './account.ts'
import type { StoredCount } from './stored-count.ts'

export class Held {
  account: Account
  hasBase = false
  /** Something was decided about groups of 2.0. */
  hasFormer = false
  /** When the base was read. */
  baseUs = 0
  baseVersion = 0
  reading: Promise<void> | undefined
  /** When the stores were asked last for something beside a base. */
  askedUs = Number.NEGATIVE_INFINITY
  faultUs = Number.NEGATIVE_INFINITY
  fault: unknown
  /** The log had a gap: everything before this time is known. */
  gapUs: number | undefined
  /** When it was asked for here. */
  usedUs = Number.NEGATIVE_INFINITY
  /** When another node asked for it, because somebody looks at it there. */
  servedUs = Number.NEGATIVE_INFINITY
  /** How often something changed that is no event. */
  touches = 0
  /** Events since a reading began. */
  buffer: LoggedEvent[] | undefined
  /** What the other nodes had stored when the stores were asked last for it, and what was known of them then. */
  othersSeen: string | undefined
  othersKnownUs = Number.NEGATIVE_INFINITY
  othersAskedUs = Number.NEGATIVE_INFINITY
  othersAsking: Promise<void> | undefined
  /** Somebody looks at it on another node. */
  stored: StoredCount | undefined

  /** `heldSince`: versions of another time do not count. */
  constructor(
    name: string,
    readonly heldSince: number,
  ) {
    this.account = createAccount(name)
  }
}

interface HeldOptions {
  nowUs(): number
  readonly maxBytes: number
  onFirst(): void
  onLast(): void
  /** Drops what was derived from the account. */
  onForget(account: string): void
}

/** An account that nobody looked at for this long is forgotten. */
const IDLE_US = 600e6
const SWEEP_MS = 60_000

export function createHeldAccounts({ nowUs, maxBytes, onFirst, onLast, onForget }: HeldOptions) {
  const held = new Map<string, Held>()
  let timer: Timer | undefined

  function forget(name: string): void {
    if (!held.delete(name)) return
    onForget(name)
    if (held.size > 0) return
    close()
    onLast()
  }

  function close(): void {
    clearInterval(timer)
    timer = undefined
  }

  const isIdle = (us: number): boolean => nowUs() - us > IDLE_US

  function sweep(): void {
    for (const [name, { usedUs, servedUs }] of [...held]) if (isIdle(usedUs) && isIdle(servedUs)) forget(name)
  }

  function add(name: string): Held {
    const one = new Held(name, nowUs())
    held.set(name, one)
    if (held.size === 1) onFirst()
    timer ??= setInterval(sweep, SWEEP_MS)
    timer.unref()
    return one
  }

  return {
    held,
    find(name: string): Held {
      const one = held.get(name) ?? add(name)
      one.usedUs = nowUs()
      held.delete(name)
      held.set(name, one)
      return one
    },
    /** For another node: nobody asks for it here. */
    serve(name: string): Held {
      const one = held.get(name) ?? add(name)
      one.servedUs = nowUs()
      return one
    },
    /** Asked for here, newest last. */
    looked: (): string[] => [...held].flatMap(([name, { usedUs }]) => (isIdle(usedUs) ? [] : [name])),
    sweep,
    forget,
    /** Forgets accounts until the rest fits; `just` stays, and accounts that are being read. */
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

/** Replaces what is known of the account, or of some of its processes. */
export function adopt(one: Held, fresh: Account, processes: readonly string[] | undefined): void {
  const { account } = one
  fresh.version = Math.max(fresh.version, account.version) + 1
  if (processes === undefined) {
    fresh.sinceVersion = fresh.version
    one.account = fresh
    return
  }
  for (const name of processes) {
    account.again.delete(name)
    const process = fresh.processes.get(name)
    const before = account.processes.get(name)
    if (process === undefined) continue
    process.version = fresh.version
    account.processes.set(name, process)
    account.bytes += bytesOfProcess(process) - (before === undefined ? 0 : bytesOfProcess(before))
  }
  for (const [name, seqs] of fresh.again) account.again.set(name, seqs)
  account.version = fresh.version
}
