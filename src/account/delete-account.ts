// Deletes an account in one transaction: its row (keys, sessions and series go with it), a note that its data elsewhere must go too, and the
// operator's role, which passes on to the account that is named. While there are accounts, one of them is the operator.

import type { Logger } from '../log.ts'
import { type Fault, Problem } from '../problem.ts'
import { normalizeEmail } from './credentials.ts'
import type { AccountDatabase } from './database.ts'

interface Row {
  readonly id: string
  readonly operator: number
}

/** `successor` is an e-mail address. False when there is no such account. Throws Problem `operator_needed` or `fields_invalid`. */
export function createDeleteAccount({ db, write }: AccountDatabase, log: Logger) {
  const selectById = db.query<Row, [string]>('SELECT id, operator FROM account WHERE id = ?')
  const selectByEmail = db.query<Row, [string]>('SELECT id, operator FROM account WHERE email = ?')
  const countRows = db.query<{ n: number }, []>('SELECT count(*) n FROM account')
  const makeOperator = db.query<null, [string]>('UPDATE account SET operator = 1 WHERE id = ?')
  const noteRemoval = db.query<null, [string, number]>('INSERT INTO removal (account, deleted_ms) VALUES (?, ?)')
  const deleteRow = db.query<null, [string]>('DELETE FROM account WHERE id = ?')

  /** The id of the account that becomes the operator; undefined when the role does not pass on. */
  function findSuccessor(leaving: Row, email: string | undefined): string | undefined {
    if (email === undefined) {
      if (leaving.operator === 0 || countRows.get()!.n === 1) return undefined
      throw new Problem(
        'operator_needed',
        'The operator cannot leave other accounts without one. Name the account that takes over: {"password": …, "operator": "its e-mail address"}.',
      )
    }
    if (leaving.operator === 0) throw notHandedOver('only the operator names a successor')
    const successor = selectByEmail.get(normalizeEmail(email) ?? '')
    if (successor === null || successor.id === leaving.id) throw notHandedOver('no other account has this address')
    return successor.id
  }

  return (id: string, successor: string | undefined, nowMs: number): boolean =>
    write(() => {
      const leaving = selectById.get(id)
      if (leaving === null) return false
      const operator = findSuccessor(leaving, successor)
      if (operator !== undefined) {
        makeOperator.run(operator)
        log.info({ account: operator }, 'account became the operator')
      }
      noteRemoval.run(id, nowMs)
      deleteRow.run(id)
      return true
    })
}

function notHandedOver(detail: string): Problem {
  const errors: Fault[] = [{ pointer: '/operator', detail }]
  return new Problem('fields_invalid', 'The role of the operator cannot be handed over.', { errors })
}
