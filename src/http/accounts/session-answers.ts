// Shared by the routes of accounts and people: dependencies, the answer that shows a session, signing in and out.
import type { Accounts } from '../../account/accounts.ts'
import type { Person, Seat } from '../../account/people/person-rows.ts'
import type { SessionProof } from '../../account/sessions.ts'
import type { TokenBuckets } from '../../account/token-buckets.ts'
import { Problem } from '../../problem.ts'
import type { AuditAction } from '../../wire/audit-actions.ts'
import type { Session } from '../../wire/sessions.ts'
import { emptyAnswer } from '../answers.ts'
import type { NoteDone } from '../mount.ts'
import type { SessionCookies } from './session-cookie.ts'

/** Members of an entry in the audit log. Without an account, nobody known failed to sign in. */
type AuditFields = Readonly<Partial<Record<'account' | 'actor' | 'key' | 'target' | 'detail', string>>> & {
  /** The client's. */
  readonly address: string
}

/** How many links are asked for and tried. Networks, accounts and people are counted each in a table of their own. */
export interface LinkLimits {
  /** Per network: invitations that are looked at and accepted. */
  readonly linksOfCaller: TokenBuckets
  /** Per account: invitations that it makes. */
  readonly linksOfAccount: TokenBuckets
  /** Per network: links that set a new password, asked for and used. */
  readonly resetsOfCaller: TokenBuckets
  /** Per e-mail address: links that set its password. */
  readonly resetsOfPerson: TokenBuckets
}

export interface PeopleDeps {
  readonly accounts: Accounts
  /** The client's address, resolved behind trusted proxies. */
  addressOf(request: Request): string
  readonly cookies: SessionCookies
  /** Did the browser reach Stint by TLS, directly or by a trusted proxy? */
  isSecure(request: Request): boolean
  /** Called after each action; the fields hold no secret. Never rejects. */
  audit(action: AuditAction, fields: AuditFields): Promise<void>
  /** Deletes the data of a deleted account in spools and stores. Failures are retried at the next start. */
  onDeleted(account: string): void
  readonly limits: LinkLimits
  readonly passwordSignIn: boolean
  /** The provider's name on the button; absent without one. */
  readonly providerName?: string
  nowMs(): number
  publicUrl(): string
  mailFailed(error: unknown): void
  /** Absent without SMTP. */
  readonly mails?: LinkMails
}

/** A link that works now; undefined when it is no longer wanted. Called for each attempt to send the e-mail. */
export type MakeLink = () => Promise<string | undefined>

/** E-mails with a link. Each resolves once the server for mail has answered; what it defers is sent again for a day. */
export interface LinkMails {
  /**
   * `by` and `account`: absent where they might be an address or a link of a stranger's making. What the server said
   * within 5 s.
   */
  invitation(
    to: string,
    invitation: { id: string; by?: string; account?: string; link: MakeLink },
  ): Promise<{ readonly ok: boolean; readonly detail: string }>
  reset(to: string, link: MakeLink): Promise<void>
  signUp(to: string, link: MakeLink): Promise<void>
  /** To somebody who has an account and signed up again. */
  known(to: string, link: MakeLink): Promise<void>
  confirmation(to: string, link: MakeLink): Promise<void>
}

/** Into the audit log of each account whose claim ended. */
export async function noteClaims(
  { audit }: Pick<PeopleDeps, 'audit'>,
  { disputed, email, address }: { disputed: readonly string[]; email: string; address: string },
): Promise<void> {
  for (const account of disputed) await audit('claim_ended', { account, actor: email, address })
}

/** The session as the console shows it. Throws Problem `session_invalid`. */
export async function answerSession(
  { accounts, passwordSignIn }: Pick<PeopleDeps, 'accounts' | 'passwordSignIn'>,
  who: Seat,
  person: Person,
) {
  const [account, entries, proof, password] = await Promise.all([
    accounts.get(who.account),
    accounts.members.accountsOf(who.person),
    accounts.people.proofOf(who.person),
    passwordSignIn && accounts.people.hasPassword(who.person),
  ])
  const entry = entries.find(({ id }) => id === who.account)
  if (account === undefined || entry === undefined)
    throw new Problem('session_invalid', 'You are no longer a member of the account.')
  return {
    account: { ...account, operator: account.operator && entry.role === 'owner' },
    person: {
      id: person.id,
      email: person.email,
      password,
      unconfirmed: !proof.isProved && accounts.strangerMails.isLimited,
    },
    role: entry.role,
    disputed: accounts.disputedBy(who.account) !== undefined,
    suspended: accounts.suspensions.isSuspended(who.account),
    accounts: entries,
  } satisfies Session
}

export function withCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie)
  return response
}

/** Ends the browser's previous session and returns the cookie of a new one. Throws Problem `credentials_invalid`. */
export async function startSession(
  { accounts, cookies }: Pick<PeopleDeps, 'accounts' | 'cookies'>,
  request: Request,
  seat: Seat,
  more: { readonly proof?: SessionProof; readonly endsMs?: number } = {},
): Promise<string> {
  const userAgent = request.headers.get('user-agent') ?? ''
  const { account, person } = seat
  const token = await accounts.sessions.create({
    account,
    person,
    userAgent,
    oldToken: cookies.tokenOf(request),
    ...more,
  })
  return cookies.write(request, token)
}

export const findSession = async (
  { accounts, cookies }: Pick<PeopleDeps, 'accounts' | 'cookies'>,
  request: Request,
) => {
  const token = cookies.tokenOf(request)
  return token === undefined ? undefined : accounts.sessions.find(token)
}

/** Throws Problem `password_sign_in_off`. */
export function requirePasswords({ passwordSignIn }: Pick<PeopleDeps, 'passwordSignIn'>): void {
  if (!passwordSignIn) throw new Problem('password_sign_in_off', 'Sign in with the provider (PASSWORD_SIGN_IN=false).')
}

export const signedOut = ({ cookies }: Pick<PeopleDeps, 'cookies'>, request: Request): Response =>
  withCookie(emptyAnswer(), cookies.clear(request))

/** The entry of the audit log for a route that was answered. */
export const createNoteDone =
  ({ audit, addressOf }: Pick<PeopleDeps, 'audit' | 'addressOf'>): NoteDone =>
  async ({ account, key, session }, { action, request, target, detail }) => {
    await audit(action, {
      account,
      ...(session && { actor: session.email }),
      ...(key && { key: key.keyId }),
      ...(target !== undefined && { target }),
      ...(detail !== undefined && { detail }),
      address: addressOf(request),
    })
  }
