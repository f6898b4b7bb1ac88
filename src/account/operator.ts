// The operator's actions on accounts of others: listed, suspended, resumed.
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { run, type SqlDatabase } from '../state/database.ts'
import type { OperatedAccount } from '../wire/operator.ts'
import { createAccountList } from './account-list.ts'
import { type AccountRow, selectById } from './account-rows.ts'
import type { Suspensions } from './suspensions.ts'
import type { Use } from './use.ts'

interface OperatorParts {
  readonly database: SqlDatabase
  readonly suspensions: Suspensions
  readonly use: Pick<Use, 'figuresOf'>
  readonly log: Logger
  nowMs(): number
}

export function createOperator({ database, suspensions, use, log, nowMs }: OperatorParts) {
  const accounts = createAccountList(database, use)

  /** Throws Problem `not_found`. */
  async function change(id: string, isOperators: boolean, sql: string): Promise<OperatedAccount> {
    const row = await database.write(function* () {
      refuseOwn(yield* selectById(id), isOperators)
      yield* run(sql, nowMs(), id)
      return (yield* selectById(id))!
    })
    suspensions.noteUnlessOlder(row) // another node's change may be known already
    accounts.forget()
    const shown = await accounts.find(id)
    if (shown === undefined) throw unknown()
    log.info({ account: id, isSuspended: shown.suspended_at !== null }, 'account suspended or resumed')
    return shown
  }

  return {
    list: accounts.list,
    forget: accounts.forget,
    /** Throws Problem `not_found`, `operator_needed`. */
    suspend: (id: string): Promise<OperatedAccount> =>
      change(
        id,
        false,
        `UPDATE account SET suspended_ms = CASE WHEN resumed_ms >= $1 THEN resumed_ms + 1 ELSE $1 END, resumed_ms = NULL
         WHERE id = $2 AND (suspended_ms IS NULL OR resumed_ms IS NOT NULL)`,
      ),
    /** Throws Problem `not_found`. */
    resume: (id: string): Promise<OperatedAccount> =>
      change(
        id,
        true,
        `UPDATE account SET resumed_ms = CASE WHEN suspended_ms > $1 THEN suspended_ms ELSE $1 END
         WHERE id = $2 AND suspended_ms IS NOT NULL AND resumed_ms IS NULL`,
      ),
    /** Returns the account's address. Throws Problem `not_found`, or `operator_needed` for the operator's own. */
    async findOther(id: string): Promise<string> {
      const row = await database.read(() => selectById(id))
      refuseOwn(row, false)
      return row.email
    },
  }
}

const unknown = () => new Problem('not_found', 'There is no account with this id.')

function refuseOwn(row: AccountRow | undefined, mayBeOperators: boolean): asserts row is AccountRow {
  if (row === undefined) throw unknown()
  if (row.operator === 1 && !mayBeOperators)
    throw new Problem('operator_needed', 'The operator’s own account is neither suspended nor deleted here.')
}
