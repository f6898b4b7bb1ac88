// Links that set a new password or prove an address, once. Stored as hashes with the accounts, so that every node
// accepts them and restarts end none.
import type { SqlDatabase } from '../../state/database.ts'
import { get, insert, run } from '../../state/database.ts'
import { createSessionToken, hashSecret } from '../secret.ts'

const VALID_MS = { reset: 30 * 60_000, confirm: 24 * 3_600_000 }
type Kind = keyof typeof VALID_MS

/** All reject with Problem `store_unavailable`, `disk_low` or `disk_failed`. */
export function createTickets(database: SqlDatabase, nowMs: () => number) {
  return {
    /** The token. Earlier tickets stay valid. */
    async issue(person: string, kind: Kind = 'reset'): Promise<string> {
      const token = createSessionToken()
      const now = nowMs()
      await database.write(function* () {
        yield* run('DELETE FROM ticket WHERE ends_ms <= $1', now)
        yield* insert('ticket', { hash: hashSecret(token), kind, person, ends_ms: now + VALID_MS[kind] })
      })
      return token
    },
    /** The id of the person; undefined when the token is unknown, used or too old. It is used up. */
    async redeem(token: string, kind: Kind = 'reset'): Promise<string | undefined> {
      const hash = hashSecret(token)
      // an unknown token writes nothing
      const find = 'SELECT person FROM ticket WHERE hash = $1 AND kind = $2 AND ends_ms > $3'
      const known = await database.read(() => get<{ person: string }>(find, hash, kind, nowMs()))
      if (known === undefined) return undefined
      const used = await database.write(() => run('DELETE FROM ticket WHERE hash = $1', hash))
      return used === 1 ? known.person : undefined
    },
  }
}
