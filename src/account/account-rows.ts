// The rows of accounts: the statements that several changes share, and the deletion of an account.
import { toTime } from '../clock.ts'
import { type Fault, Problem } from '../problem.ts'
import { all, get, insert, run, type Script } from '../state/database.ts'
import type { Account } from '../wire/accounts.ts'
import { normalizeEmail } from './credentials.ts'

export interface AccountRow {
  id: string
  email: string
  name: string
  operator: number
  created_ms: number
  suspended_ms: number | null
  resumed_ms: number | null
}

export const isSuspended = ({ suspended_ms, resumed_ms }: Pick<AccountRow, 'suspended_ms' | 'resumed_ms'>): boolean =>
  suspended_ms !== null && resumed_ms === null

export const toAccount = (row: Omit<AccountRow, 'suspended_ms' | 'resumed_ms'>): Account => ({
  id: row.id,
  email: row.email,
  name: row.name,
  operator: row.operator === 1,
  created_at: toTime(row.created_ms),
})

export const selectById = (id: string) => get<AccountRow>('SELECT * FROM account WHERE id = $1', id)

export function* countAccounts(): Script<number> {
  return (yield* get<{ n: number }>('SELECT count(*) n FROM account'))!.n
}

// Deletes an account in one transaction: its row (with keys, sessions and series) and a note to remove its data
// elsewhere; the operator's role passes to the account named. While there are accounts, one of them is the operator.
/** The id of the account that becomes the operator; undefined when the role does not pass on. */
function* findSuccessor(leaving: AccountRow, named: string | undefined): Script<string | undefined> {
  if (named === undefined) {
    if (leaving.operator === 0 || (yield* countAccounts()) === 1) return undefined
    throw new Problem(
      'operator_needed',
      'The operator cannot leave other accounts without one. Name the account that takes over: {…, "operator": ' +
        '"its id, or the e-mail address that made it"}.',
    )
  }
  if (leaving.operator === 0) throw notHandedOver('only the operator names a successor')
  const found = yield* all<AccountRow>(
    'SELECT * FROM account WHERE (id = $1 OR email = $2) AND id <> $3',
    named,
    normalizeEmail(named) ?? '',
    leaving.id,
  )
  if (found.length > 1) throw notHandedOver('several accounts were made by this address: name the id of one')
  const [successor] = found
  if (successor === undefined) throw notHandedOver('no other account has this address or id')
  if (isSuspended(successor)) throw notHandedOver('that account is suspended')
  return successor.id
}

/** `successor`: id or e-mail address. Undefined: no such account. Throws `operator_needed`, `fields_invalid`. */
export function* deleteAccount(
  id: string,
  successor: string | undefined,
  nowMs: number,
): Script<{ newOperator: string | undefined } | undefined> {
  const leaving = yield* selectById(id)
  if (leaving === undefined) return undefined
  const newOperator = yield* findSuccessor(leaving, successor)
  if (newOperator !== undefined) yield* run('UPDATE account SET operator = 1 WHERE id = $1', newOperator)
  yield* insert('removal', { account: id, deleted_ms: nowMs })
  yield* run('DELETE FROM account WHERE id = $1', id)
  return { newOperator }
}

function notHandedOver(detail: string): Problem {
  const errors: Fault[] = [{ pointer: '/operator', detail }]
  return new Problem('fields_invalid', 'The role of the operator cannot be handed over.', { errors })
}
