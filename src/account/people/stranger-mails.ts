// E-mails that a stranger can cause to an address that did not ask for them: links that sign up, invitations,
// confirmations, notices of a quota to an owner without a proof. An address gets three in 24 hours, counted in the
// database over all nodes, so that Stint relays nothing.
import { get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { normalizeEmail } from '../credentials.ts'

const DAY_MS = 86_400_000
const A_DAY = 3

/** Most providers deliver `ada+shop@example.com` to `ada@example.com`: they are one receiver. */
const mailboxOf = (email: string): string => email.replace(/(?<=.)\+[^@]*(?=@)/, '')

/** `isLimited`: strangers may sign up and e-mail is set up. Otherwise every sender was let in by somebody. */
export function createStrangerMails(database: SqlDatabase, nowMs: () => number, isLimited: boolean) {
  /** For use inside a `write` whose other work decides whether the e-mail is wanted. */
  function* taking(address: string): Script<boolean> {
    if (!isLimited) return true
    const email = mailboxOf(normalizeEmail(address) ?? address.toLowerCase())
    yield* run('DELETE FROM stranger_mail WHERE sent_ms <= $1', nowMs() - DAY_MS)
    const sent = yield* get<{ n: number }>('SELECT count(*) n FROM stranger_mail WHERE email = $1', email)
    if (sent!.n >= A_DAY) return false
    yield* insert('stranger_mail', { email, sent_ms: nowMs() })
    return true
  }

  return {
    isLimited,
    taking,
    /** May one more be sent to this address? Then it is counted. */
    take: async (address: string): Promise<boolean> => !isLimited || database.write(() => taking(address)),
  }
}
