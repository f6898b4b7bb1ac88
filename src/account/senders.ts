// Refuses the accounts that sent the most in 24 hours while the disk is nearly full, so that nobody fills it for all.
// Accounts younger than a week are one sender together, so that many accounts gain nothing. The less is free, the more
// senders are refused: the largest ones, of a part of all bytes that grows to all of them. The operator's account is
// refused only with everybody, when no event is taken any more.
import type { Database } from 'bun:sqlite'
import type { Logger } from '../log.ts'
import { rest } from '../turns.ts'
import type { Use } from './use.ts'

const YOUNG_MS = 7 * 86_400_000
/** While the disk stays nearly full; an account that passes the limit meanwhile is refused at once. */
const JUDGED_EVERY_US = 500_000
/** The ages of accounts are read again after this time. */
const KNOWN_US = 60_000_000
/** In one turn of the event loop. */
const ACCOUNTS_AT_ONCE = 1_000

interface SendersOptions {
  readonly use: Pick<Use, 'all' | 'bytesOf'>
  /** Has the table `account`. */
  readonly db: Database
  /** The number of accounts. */
  count(): number
  nowMs(): number
  monotonicUs(): number
  readonly log: Logger
}

type IsRefused = (account: string) => boolean

type Kind = 'operator' | 'young' | 'old'

/** Bytes of each old account, and of all young ones together. */
interface Sizes {
  readonly old: readonly number[]
  readonly young: number
}

export function createSenders({ use, db, count, nowMs, monotonicUs, log }: SendersOptions) {
  const select = db.query<{ operator: number; created_ms: number }, [string]>(
    'SELECT operator, created_ms FROM account WHERE id = ?',
  )
  let known: { readonly us: number; readonly kinds: Map<string, Kind> } | undefined
  let judged: { readonly us: number; readonly isRefused: IsRefused } | undefined
  let isJudging = false

  function look(account: string): Kind {
    const row = select.get(account)
    if (row?.operator === 1) return 'operator'
    return row !== null && row.created_ms > nowMs() - YOUNG_MS ? 'young' : 'old'
  }

  function kindOf(account: string, kinds: Map<string, Kind>): Kind {
    const found = kinds.get(account) ?? look(account)
    kinds.set(account, found)
    return found
  }

  /** In slices, one for each turn of the event loop. */
  function* sizesOf(kinds: Map<string, Kind>): Generator<void, Sizes> {
    const old: number[] = []
    let [young, looked] = [0, 0]
    for (const [account, bytes] of use.all()) {
      if (++looked % ACCOUNTS_AT_ONCE === 0) yield
      const kind = kindOf(account, kinds)
      if (kind === 'young') young += bytes
      else if (kind === 'old') old.push(bytes)
    }
    return { old, young }
  }

  function judge(kinds: Map<string, Kind>, { old, young }: Sizes, fullness: number): IsRefused {
    const leastBytes = count() < 2 ? Number.POSITIVE_INFINITY : leastRefused([...old, young], fullness)
    return (account) => {
      const kind = kindOf(account, kinds)
      if (kind === 'operator') return false
      return (kind === 'young' ? young : use.bytesOf(account)) >= leastBytes
    }
  }

  /** Ends within the call unless there are many accounts. */
  async function judgeAlone(fullness: number): Promise<void> {
    isJudging = true
    try {
      const us = monotonicUs()
      if (known === undefined || us - known.us >= KNOWN_US) known = { us, kinds: new Map() }
      const { kinds } = known
      const sizes = sizesOf(kinds)
      let step = sizes.next()
      for (; !step.done; step = sizes.next()) await rest()
      const hasRoomAgain = known?.kinds !== kinds
      if (!hasRoomAgain) judged = { us, isRefused: judge(kinds, step.value, fullness) }
    } catch (err) {
      log.warn({ err }, 'accounts: who sent the most is not known')
    } finally {
      isJudging = false
    }
  }

  return {
    /** Undefined: nobody is refused. `fullness`: 0 while there is room, 1 when nothing is taken any more. */
    judge(fullness: number): IsRefused | undefined {
      if (fullness <= 0) judged = known = undefined
      else if (!isJudging && (judged === undefined || monotonicUs() - judged.us >= JUDGED_EVERY_US))
        void judgeAlone(fullness)
      return judged?.isRefused
    },
  }
}

/** The size from which on senders are refused, so that these have at least the part `fullness` of all bytes. */
function leastRefused(sizes: number[], fullness: number): number {
  const wanted = sizes.reduce((sum, bytes) => sum + bytes, 0) * Math.min(1, fullness)
  if (wanted === 0) return Number.POSITIVE_INFINITY
  let refused = 0
  for (const bytes of Float64Array.from(sizes).sort().reverse()) {
    refused += bytes
    if (refused >= wanted) return bytes
  }
  return 1 // rounding
}
