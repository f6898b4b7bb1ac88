// Which account an operator means, for commands that work on DATA_DIR beside the server.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { normalizeEmail } from './credentials.ts'

/** The id of the account with this e-mail address or id in the accounts file; undefined for an unknown account. Only reads, and may run beside a server. */
export function findAccountId(path: string, emailOrId: string): string | undefined {
  if (!existsSync(path)) return undefined
  const db = new Database(path, { readonly: true })
  try {
    const query = db.query<{ id: string }, [string, string]>('SELECT id FROM account WHERE id = ? OR email = ?')
    return query.get(emailOrId, normalizeEmail(emailOrId) ?? '')?.id
  } finally {
    db.close()
  }
}
