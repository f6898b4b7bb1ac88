// E-mails that a stranger can cause to an address that did not ask for them: links that sign up, invitations,
// confirmations, notices of a quota to an owner without a proof. An address gets three in 24 hours, and a site asks for
// twenty links, counted in the database over all nodes and restarts, so that Stint relays nothing.
import { get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { normalizeEmail } from '../credentials.ts'
import { networkOf, siteOf } from '../networks.ts'
import { tooManyAttempts } from '../token-buckets.ts'

const DAY_MS = 86_400_000
const MAILS_OF_RECEIVER = 3
const LINKS_OF_SITE = 20

/** Most providers deliver `ada+shop@example.com` to `ada@example.com`: they are one receiver. */
const mailboxOf = (email: string): string => email.replace(/(?<=.)\+[^@]*(?=@)/, '')

/** `isLimited`: strangers may sign up and e-mail is set up. Otherwise every sender was let in by somebody. */
export function createStrangerMails(database: SqlDatabase, nowMs: () => number, isLimited: boolean) {
  /** Until the receiver or site has had fewer than `most` in 24 hours. */
  function* waitMs(whose: string, most: number): Script<number> {
    const sql = 'SELECT sent_ms FROM stranger_mail WHERE email = $1 ORDER BY sent_ms DESC LIMIT 1 OFFSET $2'
    const first = yield* get<{ sent_ms: number }>(sql, whose, most - 1)
    return first === undefined ? 0 : Math.max(0, first.sent_ms + DAY_MS - nowMs())
  }

  /** 0: one more is counted. */
  function* count(whose: string, most: number): Script<number> {
    const wait = yield* waitMs(whose, most)
    if (wait > 0) return wait
    yield* run('DELETE FROM stranger_mail WHERE sent_ms <= $1', nowMs() - DAY_MS)
    yield* insert('stranger_mail', { email: whose, sent_ms: nowMs() })
    return 0
  }

  /** For use inside a `write` whose other work decides whether the e-mail is wanted. */
  function* taking(address: string): Script<boolean> {
    if (!isLimited) return true
    return (yield* count(mailboxOf(normalizeEmail(address) ?? address.toLowerCase()), MAILS_OF_RECEIVER)) === 0
  }

  return {
    isLimited,
    taking,
    /** May one more be sent to this address? Then it is counted. */
    take: async (address: string): Promise<boolean> => !isLimited || database.write(() => taking(address)),
    /** Counts a link that somebody at this address of a network asks for. Throws Problem `rate_limited`. */
    async countLink(address: string): Promise<void> {
      const site = siteOf(networkOf(address))
      const before = await database.read(() => waitMs(site, LINKS_OF_SITE)) // a flood writes nothing
      const wait = before > 0 ? before : await database.write(() => count(site, LINKS_OF_SITE))
      if (wait > 0) throw tooManyAttempts(wait / 1000)
    },
  }
}
