// The frame around every page after sign-in: the navigation, and the page itself.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../../wire/sessions.ts'
import { Icon, Logo } from './icon.tsx'
import type { IconName } from './icons.ts'
import { formatRoute } from './route.ts'

/** Pages about events that were sent. */
const DATA: readonly (readonly [page: IconName, label: string])[] = [
  ['home', 'Home'],
  ['runs', 'Runs'],
  ['exceptions', 'Exceptions'],
  ['metrics', 'Metrics'],
  ['watches', 'Alerts & watches'],
]
const SEND: typeof DATA = [['welcome', 'Send data']]
/** How it comes, and who may see it: folded, so that the keyboard is soon at the page. */
const SETTINGS: typeof DATA = [
  ['keys', 'Keys'],
  ['members', 'Members'],
  ['audit', 'Audit log'],
  ['health', 'Health'],
  ['account', 'Account'],
  ['accounts', 'All accounts'],
]

/** The pages of the navigation that this person may see. */
export const entriesOf = ({ role, account }: Session): typeof DATA => [
  ...DATA,
  ...SEND,
  ...SETTINGS.filter(([page]) => (page !== 'audit' || role === 'owner') && (page !== 'accounts' || account.operator)),
]

const OVER_TIME = ['runs', 'metrics', 'exceptions']
const KEPT = ['process', 'from', 'to']

interface FrameProps {
  readonly session: Session
  /** The name of the page. */
  readonly page: string
  /** Its entry in the navigation. */
  readonly entry: string | undefined
  readonly params: URLSearchParams
  readonly children: ComponentChildren
  search(): void
  /** Shows another account. */
  switchTo(account: string): void
}

export function Frame({ session, entry, params, page, search, switchTo, children }: FrameProps) {
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  useLayoutEffect(() => setOpen(false), [page])
  return (
    <div class={`frame ${isOpen ? 'nav-open' : ''}`}>
      <button type="button" class="skip" onClick={() => main.current!.focus()}>
        Skip to content
      </button>
      <header class="side">
        <div class="brand">
          <Logo />
          <span>Stint</span>
        </div>
        <button
          type="button"
          class="menu-toggle"
          aria-expanded={isOpen}
          aria-controls="nav"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
          Menu
        </button>
        <nav class="nav" id="nav" aria-label="Pages">
          <button type="button" class="button nav-search" onClick={search}>
            <Icon name="search" />
            Search
            <kbd>Ctrl K</kbd>
          </button>
          <Entries entries={DATA} entry={entry} params={params} />
          <Settings {...{ session, entry, params, switchTo }} />
        </nav>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {session.suspended && (
          <p class="banner banner-danger" role="status">
            The operator of this Stint has suspended this account: its keys are refused and nothing is notified. You can
            read, export and delete it.
          </p>
        )}
        {children}
      </main>
    </div>
  )
}

interface EntriesProps {
  readonly entries: typeof DATA
  readonly entry: string | undefined
  readonly params: URLSearchParams
}

const Entries = (props: EntriesProps) => (
  <ul>
    <Links {...props} />
  </ul>
)

/** Links to runs, metrics and exceptions keep the process and the range that are shown. */
function Links({ entries, entry, params }: EntriesProps) {
  const kept = new URLSearchParams([...params].filter(([name]) => KEPT.includes(name)))
  return entries.map(([page, label]) => (
    <li key={page}>
      <a
        href={formatRoute(page, OVER_TIME.includes(page) ? kept : {})}
        aria-current={page === entry ? 'page' : undefined}
      >
        <Icon name={page} />
        <span>{label}</span>
      </a>
    </li>
  ))
}

type SettingsProps = Pick<FrameProps, 'session' | 'entry' | 'params' | 'switchTo'>

function Settings({ session, entry, params, switchTo }: SettingsProps) {
  const { account, accounts, person } = session
  const offered = entriesOf(session).filter((it) => SETTINGS.includes(it))
  return (
    <ul class="nav-end">
      {(accounts.length > 1 || account.name !== person.email) && (
        <li class="nav-account">
          {accounts.length > 1 ? (
            <select aria-label="Account" onChange={({ currentTarget }) => switchTo(currentTarget.value)}>
              {accounts.map(({ id, name }) => (
                <option key={id} value={id} selected={id === account.id}>
                  {name}
                </option>
              ))}
            </select>
          ) : (
            <span title="Account">
              <bdi>{account.name}</bdi>
            </span>
          )}
        </li>
      )}
      <Links entries={SEND} entry={entry} params={params} />
      <li>
        <details class="nav-settings" open={offered.some(([page]) => page === entry)}>
          <summary>
            <Icon name="settings" />
            Settings
          </summary>
          <ul>
            <Links entries={offered} entry={entry} params={params} />
            <li>
              <a href="swagger" target="_blank" rel="noopener">
                <Icon name="api" />
                <span>API reference</span>
              </a>
            </li>
          </ul>
        </details>
      </li>
    </ul>
  )
}
