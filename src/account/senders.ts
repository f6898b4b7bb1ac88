// Who is refused first while the disk is nearly full, so that nobody fills it for all: the accounts that sent the most in
// 24 hours. Accounts younger than a week are one sender together, so that many accounts gain nothing. The less is free,
// the more senders are refused: those that sent the most, of a part of all bytes that grows to all of them. The
// operator's account is refused only with everybody, when no event is taken any more.
import type { Database } from 'bun:sqlite'
import type { Use } from './use.ts'

const YOUNG_MS = 7 * 86_400_000
/** While the disk stays nearly full; an account that passes the limit meanwhile is refused at once. */
const JUDGED_EVERY_US = 500_000

interface SendersOptions {
  readonly use: Pick<Use, 'all' | 'bytesOf'>
  /** Has the table `account`. */
  readonly db: Database
  /** Of accounts. */
  count(): number
  nowMs(): number
  monotonicUs(): number
}

type IsRefused = (account: string) => boolean

export function createSenders({ use, db, count, nowMs, monotonicUs }: SendersOptions) {
  const selectYoung = db.query<{ id: string }, [number]>('SELECT id FROM account WHERE created_ms > ? AND operator = 0')
  const selectOperators = db.query<{ id: string }, []>('SELECT id FROM account WHERE operator = 1')
  const idsOf = (rows: readonly { id: string }[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id))
  let judged: { readonly us: number; readonly isRefused: IsRefused } | undefined

  function judge(fullness: number): IsRefused {
    if (count() < 2) return () => false
    const operators = idsOf(selectOperators.all())
    const young = idsOf(selectYoung.all(nowMs() - YOUNG_MS))
    const sizes: number[] = []
    let youngBytes = 0
    for (const [account, bytes] of use.all()) {
      if (young.has(account)) youngBytes += bytes
      else if (!operators.has(account)) sizes.push(bytes)
    }
    const leastBytes = leastRefused([...sizes, youngBytes], fullness)
    return (account) => {
      if (operators.has(account)) return false
      return young.has(account) ? youngBytes >= leastBytes : use.bytesOf(account) >= leastBytes
    }
  }

  return {
    /** Who is refused; undefined while nobody is. `fullness`: 0 while there is room, 1 when nothing is taken any more. */
    judge(fullness: number): IsRefused | undefined {
      if (fullness <= 0) judged = undefined
      else if (judged === undefined || monotonicUs() - judged.us >= JUDGED_EVERY_US)
        judged = { us: monotonicUs(), isRefused: judge(fullness) }
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
