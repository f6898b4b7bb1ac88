// The application around every page: the session, its questions, and the frame.
import type { Account } from '../../wire/accounts.ts'
import type { IssuedKey } from '../../wire/keys.ts'
import type { Role } from '../../wire/roles.ts'
import type { Session } from '../../wire/sessions.ts'
import type { Api } from './api.ts'
import type { AskProcesses } from './ask-processes.ts'
import type { Draw } from './modal.tsx'
import type { Params } from './route.ts'

export interface App {
  readonly api: Api
  readonly askProcesses: AskProcesses
  nowMs(): number
  /** The header that carries an API key. */
  readonly keyHeader: string
  /** The server's address for callers: `https://stint.example.com`, without a trailing slash. */
  readonly baseUrl: string
  readonly account: Account
  readonly session: Session
  /** Does the person's role in the account include this one? Buttons that would be refused are not shown. */
  may(role: Role): boolean
  /** The key issued at sign-up, until the tab is closed or reloaded: it is shown only once. */
  readonly firstKey: IssuedKey | undefined
  /** Changes the URL; `replace` adds no history entry. */
  go(page: string, params?: Params | URLSearchParams, how?: 'replace'): void
  /** Called by a page whose title only its answer knows. */
  setTitle(title: string): void
  /** Sends events with an API key, as the caller's code does. Throws ApiError. */
  sendEvents(secret: string, events: readonly object[]): Promise<void>
  /** Shows a dialog, also over pages that follow; Back and links close it, unless its content is shown only once. */
  open(draw: Draw): void
  /** Aborted when the session is left: nothing may ask or draw any more. */
  readonly left: AbortSignal
  /** Announces a text to screen readers. */
  announce(text: string): void
  /** Call it after the session has ended. */
  signedOut(): void
  /** Call it after the session has changed: another account, name or role. */
  reload(): Promise<void>
}
