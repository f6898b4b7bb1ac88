// Tickets that let a person in once, such as links that set a new password. Stored as hashes with the accounts, so
// that every node accepts them and restarts end none.
import type { SqlDatabase } from '../../state/database.ts'
import { get, insert, run } from '../../state/database.ts'
import { createSessionToken, hashSecret } from '../secret.ts'

/** How long each kind is good. */
const VALID_MS = { reset: 30 * 60_000, code: 5 * 60_000 } as const
export type TicketKind = keyof typeof VALID_MS

export interface Redeemed {
  /** The id. */
  readonly person: string
  readonly untilMs: number | null
}

export type Tickets = ReturnType<typeof createTickets>

/** All reject with Problem `store_unavailable`, `disk_low` or `disk_failed`. */
export function createTickets(database: SqlDatabase, nowMs: () => number) {
  return {
    /** Earlier tickets stay good. Times are ms since the epoch. `untilMs`: the session that it starts ends by then. */
    async issue(
      kind: TicketKind,
      person: string,
      untilMs: number | null = null,
    ): Promise<{ readonly token: string; readonly endsMs: number }> {
      const token = createSessionToken()
      const now = nowMs()
      const endsMs = now + VALID_MS[kind]
      await database.write(function* () {
        yield* run('DELETE FROM ticket WHERE ends_ms <= $1', now)
        yield* insert('ticket', { hash: hashSecret(token), kind, person, ends_ms: endsMs, until_ms: untilMs })
      })
      return { token, endsMs }
    },
    /** Undefined when the token is unknown, used or too old. It is used up. */
    async redeem(kind: TicketKind, token: string): Promise<Redeemed | undefined> {
      const hash = hashSecret(token)
      // an unknown token writes nothing
      const find = 'SELECT person, until_ms AS "untilMs" FROM ticket WHERE hash = $1 AND kind = $2 AND ends_ms > $3'
      const known = await database.read(() => get<Redeemed>(find, hash, kind, nowMs()))
      if (known === undefined) return undefined
      const used = await database.write(() => run('DELETE FROM ticket WHERE hash = $1', hash))
      return used === 1 ? known : undefined
    },
  }
}
