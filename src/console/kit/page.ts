// What a page is to the frame around it, and what it is handed.
import type { Account } from '../../wire/accounts.ts'
import type { IssuedKey } from '../../wire/keys.ts'
import type { Api } from './api.ts'
import type { AskProcesses } from './ask-processes.ts'
import { type Child, h } from './dom.ts'
import type { Params } from './route.ts'

export interface Page {
  readonly element: HTMLElement
  /** Called with the view that the address holds, first and whenever it changes. */
  show(params: URLSearchParams): void
  /** Ends what it does in the background. */
  close(): void
}

export interface App {
  readonly api: Api
  readonly askProcesses: AskProcesses
  nowMs(): number
  /** The header that carries an API key. */
  readonly keyHeader: string
  /** Where this server is for callers: `https://stint.example.com`, without a slash at its end. */
  readonly baseUrl: string
  readonly account: Account
  /** The key that sign-up gave, until the page is left: it is shown this once. */
  readonly firstKey: IssuedKey | undefined
  /** Changes the address; `replace` leaves no step to go back to. */
  go(page: string, params?: Params | URLSearchParams, how?: 'replace'): void
  /** Tells those who hear the page. */
  announce(text: string): void
  /** The session has been ended. */
  signedOut(): void
}

export type OpenPage = (app: App) => Page

/** The name of the page, what it is about, and what can be done with all of it. */
export const pageHeader = (title: string, lead: Child, ...actions: readonly Child[]): HTMLElement =>
  h(
    'header.page-header',
    h('div', h('h1', { tabindex: -1 }, title), h('p.lead', lead)),
    actions.length > 0 && h('div.button-row', ...actions),
  )
