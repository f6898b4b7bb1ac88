// The rows of accounts: the statements that several changes share.
import { Problem } from '../problem.ts'
import { get, run, type Script } from '../state/database.ts'

export interface AccountRow {
  id: string
  email: string
  password: string
  operator: number
  created_ms: number
}

export const selectById = (id: string) => get<AccountRow>('SELECT * FROM account WHERE id = $1', id)
export const selectByEmail = (email: string) => get<AccountRow>('SELECT * FROM account WHERE email = $1', email)
export const updatePassword = (id: string, hash: string) =>
  run('UPDATE account SET password = $1 WHERE id = $2', hash, id)

export function* countAccounts(): Script<number> {
  return (yield* get<{ n: number }>('SELECT count(*) n FROM account'))!.n
}

/** A hash takes a while: what was proved no longer counts when the password was changed or the account deleted meanwhile. */
export function* stillThere(proved: AccountRow): Script<AccountRow> {
  const row = yield* selectById(proved.id)
  if (row?.password !== proved.password) throw new Problem('credentials_invalid', 'The password was just changed.')
  return row
}
