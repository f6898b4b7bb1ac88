// The pages of the account that a person is signed in to, in their frame; the address says which page.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { includesRole } from '../wire/roles.ts'
import type { App } from './kit/app.ts'
import { createAskProcesses } from './kit/ask-processes.ts'
import { entriesOf, Frame } from './kit/frame.tsx'
import { useDialogs } from './kit/modal.tsx'
import { PageHeader } from './kit/page-header.tsx'
import { QuickOpen } from './kit/quick-open.tsx'
import { formatRoute, linkToken, parseRoute, type Route } from './kit/route.ts'
import { Link } from './kit/view.tsx'
import { PAGES } from './known-pages.ts'

export const HOME = 'home'
/** Pages that Ctrl-K also opens. */
const FURTHER = [['maintenance', PAGES.maintenance!.title]] as const

interface Props
  extends Pick<App, 'api' | 'nowMs' | 'keyHeader' | 'baseUrl' | 'session' | 'firstKey' | 'setTitle' | 'announce'> {
  readonly left: AbortSignal
  /** Whether the first page takes the focus, too. */
  readonly takesFocus: boolean
  /** Shows the door, or what its link is for. */
  showDoor(note?: string): void
  /** After the session has changed. */
  reload(): Promise<void>
  switchTo(account: string): void
}

export function SignedIn({ showDoor, switchTo, takesFocus, ...given }: Props) {
  const { api, session, left, firstKey, setTitle } = given
  const [route, setRoute] = useState<Route>()
  const [dialogs, open] = useDialogs()
  const hasShown = useRef(takesFocus)
  const [app] = useState<App>(() => ({
    ...given,
    account: session.account,
    open,
    signedOut: () => showDoor('Signed out.'),
    askProcesses: createAskProcesses(api, given.nowMs),
    may: (role) => includesRole(session.role, role),
    go(name, params, how) {
      const hash = formatRoute(name, params)
      if (how !== 'replace') location.hash = hash
      else {
        history.replaceState(null, '', hash)
        follow()
      }
    },
    sendEvents: (secret, events) => api.sendEvents(given.keyHeader, secret, events),
  }))

  function follow(): void {
    const next = parseRoute(location.hash)
    const { page, params } = next
    if ((linkToken('invitation') ?? linkToken('reset') ?? linkToken('confirm')) !== undefined) return void showDoor()
    if (params.has('account')) return void given.reload()
    if (page === '') return void app.go(HOME, {}, 'replace')
    const known = pageOf(page)
    setTitle(known === undefined ? 'Page not found' : (known.titleOf?.(params) ?? known.title))
    setRoute(next)
  }
  /** Back and links leave no dialog over another view, except one whose secret is not shown again. */
  function onRoute(): void {
    for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog:not([closedby=none])')) dialog.close()
    follow()
  }
  function search(): void {
    const pages = [...entriesOf(session), ...FURTHER]
    if (document.querySelector('dialog[open]') === null)
      open((close) => <QuickOpen {...{ api, pages, close }} nowMs={app.nowMs} askProcesses={app.askProcesses} />)
  }
  function onKey(event: KeyboardEvent): void {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    search()
  }
  /** Another owner may have changed the role, the operator suspended the account: what they allow is drawn again. */
  async function checkRole(): Promise<void> {
    const now = await api.get('api/session').catch(() => undefined) // the page's own requests report it
    if (left.aborted || !now?.signed_in) return
    if (now.role !== session.role || now.suspended !== session.suspended) await given.reload()
  }
  useLayoutEffect(() => {
    addEventListener('hashchange', onRoute, { signal: left })
    addEventListener('keydown', onKey, { signal: left })
    if (firstKey !== undefined) app.go('welcome', {}, 'replace')
    else follow()
  }, [])
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    if (route === undefined) return
    if (!isFirst.current) void checkRole()
    isFirst.current = false
    scrollTo(0, 0)
    if (hasShown.current) document.querySelector<HTMLElement>('main h1')?.focus()
    hasShown.current = true
  }, [route?.page])

  if (route === undefined) return null
  const { page, params } = route
  const known = pageOf(page)
  return (
    <>
      <Frame {...{ session, page, params, search, switchTo }} entry={known && (known.entry ?? page)}>
        {known === undefined ? <NotFound name={page} /> : <known.Page key={page} {...{ app, params }} />}
      </Frame>
      {dialogs}
    </>
  )
}

const pageOf = (name: string) => (Object.hasOwn(PAGES, name) ? PAGES[name] : undefined)

const NotFound = ({ name }: { name: string }) => (
  <div class="page">
    <PageHeader title="Page not found" lead={`This console has no page “${name}”.`} />
    <p>
      <Link class="button" to={HOME}>
        Go to Home
      </Link>
    </p>
  </div>
)
