// The console's entry point in the browser: shows sign-in, or the pages for the signed-in account.
import { Fragment, render, type VNode } from 'preact'
import { systemClock } from '../clock.ts'
import type { IssuedKey } from '../wire/keys.ts'
import { includesRole } from '../wire/roles.ts'
import type { Session, SessionState } from '../wire/sessions.ts'
import { Door } from './door/door.tsx'
import { Invitation } from './door/invitation.tsx'
import { SwitchAccount } from './door/switch-account.tsx'
import { createApi } from './kit/api.ts'
import { createAskProcesses } from './kit/ask-processes.ts'
import { explain } from './kit/explain.ts'
import { ENTRIES, Frame } from './kit/frame.tsx'
import type { App, Page } from './kit/page.ts'
import { PageHeader } from './kit/page-header.tsx'
import { openQuickOpen } from './kit/quick-open.tsx'
import { changeParams, formatRoute, linkToken, parseRoute } from './kit/route.ts'
import { PAGES } from './known-pages.ts'

const HOME = 'home'
/** Pages that Ctrl-K also opens. */
const FURTHER = ['maintenance', 'account'].map((page) => [page, PAGES[page]!.title] as const)

const root = document.getElementById('app')!
const live = document.createElement('div')
live.className = 'hidden'
live.role = 'status'
document.body.append(live)

/** Text that is drawn before its font has loaded moves when it has. */
const FONT_WITHIN_MS = 1_000
const fontLoaded = Promise.race([
  document.fonts.load('1em Inter').catch(() => {}),
  new Promise((done) => setTimeout(done, FONT_WITHIN_MS)),
])

const wallMs = () => systemClock.wallUs() / 1000
const keyHeader = document.querySelector<HTMLMetaElement>('meta[name="stint-key-header"]')?.content ?? ''
const baseUrl = new URL('.', document.baseURI).href.replace(/\/$/, '')

/** The server's clock, which stamps the events. */
const nowMs = () => wallMs() + api.aheadMs()

let leave: (() => void) | undefined
/** What is shown next takes the focus to its heading; the first view leaves it to the browser. */
let hasShown = false
const reopenDoor = () => void showDoor()
const api = createApi(
  wallMs,
  () => {
    if (leave !== undefined) void showDoor('Your session has ended. Sign in to continue.')
  },
  () => {
    if (leave !== undefined) showOtherAccount()
  },
)

let views = 0
/** In place of everything. */
const show = (view: VNode): void => render(<Fragment key={++views}>{view}</Fragment>, root)

function setTitle(title: string): void {
  document.title = `${title} · Stint`
}

/** Nothing of the page stays, also no dialog: it would lie over what is shown next. */
function leavePage(): void {
  leave?.()
  leave = undefined
  for (const dialog of document.querySelectorAll('dialog')) dialog.close()
}

async function showDoor(note?: string): Promise<void> {
  leavePage()
  removeEventListener('hashchange', reopenDoor)
  api.showAccount(undefined)
  try {
    const [known] = await Promise.all([api.get<SessionState>('api/session'), fontLoaded])
    const state = { ...known.sign_up, signed_in: known.signed_in }
    const token = linkToken('invitation')
    hasShown ||= token !== undefined || !state.signed_in
    addEventListener('hashchange', reopenDoor, { once: true }) // a link that is opened in the same tab
    if (token !== undefined) {
      return show(<Invitation {...{ api, state, token, setTitle, showDoor }} enter={() => enter()} />)
    }
    if (state.signed_in && linkToken('reset') === undefined) return await enter(undefined, known)
    show(<Door {...{ api, state, note, setTitle }} enter={(firstKey) => void enter(firstKey)} />)
  } catch (error) {
    showFailure(error)
  }
}

/** In place of everything, with a button that begins again. */
function showNotice(title: string, text: string, again: string, look = 'button-main'): void {
  setTitle(title)
  show(
    <main class="door">
      <h1>{title}</h1>
      <p class="muted">{text}</p>
      <button type="button" class={`button ${look}`} onClick={() => void showDoor()}>
        {again}
      </button>
    </main>,
  )
}

function showFailure(error: unknown): void {
  const { title, detail } = explain(error)
  showNotice(title, detail, 'Try again', '')
}

function openNotFound(name: string): HTMLElement {
  const element = document.createElement('div')
  element.className = 'page'
  render(
    <>
      <PageHeader title="Page not found" lead={`This console has no page “${name}”.`} />
      <p>
        <a class="button" href={formatRoute(HOME)}>
          Go to Home
        </a>
      </p>
    </>,
    element,
  )
  return element
}

/** Another tab has switched the session: this page stops. */
function showOtherAccount(): void {
  leavePage()
  const text = 'Another tab of this browser now shows another account. Nothing was changed here.'
  showNotice('Account changed', text, 'Show that account')
}

/** The link of a notification names the account that it is about; once it is shown, the address need not. */
function forgetLinkedAccount(): void {
  const { page, params } = parseRoute(location.hash)
  if (!params.has('account')) return
  history.replaceState(null, '', formatRoute(page, changeParams(params, { account: undefined })))
}

function showForeignLink(): void {
  const text = 'This link is about an account that you are not a member of, or that was deleted.'
  showNotice('Another account', text, 'Open my account')
}

/** `firstKey` is set for a new account. */
async function enter(firstKey?: IssuedKey, known?: SessionState): Promise<void> {
  removeEventListener('hashchange', reopenDoor)
  api.showAccount(undefined)
  const state = known ?? (await api.get<SessionState>('api/session'))
  if (!state.signed_in) return void showDoor('Your session has ended. Sign in to continue.')
  const session = state as SessionState & Session // its members are there
  const { account } = session
  const linked = (firstKey === undefined && parseRoute(location.hash).params.get('account')) || account.id
  const other = session.accounts.find(({ id }) => id === linked)
  if (other !== undefined && linked !== account.id) {
    async function leaveFor(id: string): Promise<void> {
      if (id !== account.id) await api.send('POST', 'api/session/account', { id })
      else history.replaceState(null, '', formatRoute(HOME))
      await enter()
    }
    const choose = (id: string) => void leaveFor(id).catch(showFailure)
    return show(<SwitchAccount {...{ linked: other, shown: account, choose, setTitle }} />)
  }
  forgetLinkedAccount()
  if (other === undefined) return showForeignLink()
  api.showAccount(account.id)
  const askProcesses = createAskProcesses(api, nowMs)
  const search = () => {
    if (document.querySelector('dialog[open]') === null)
      openQuickOpen({ askProcesses, pages: [...ENTRIES, ...FURTHER] })
  }
  async function switchTo(id: string): Promise<void> {
    await api.send('POST', 'api/session/account', { id })
    await reload()
  }
  async function reload(): Promise<void> {
    leavePage()
    await enter()
  }
  /** Another owner may have changed the role: what it allows is drawn again. */
  async function checkRole(): Promise<void> {
    const mine = leave
    const now = await api.get<SessionState>('api/session').catch(() => undefined) // the page's own requests report it
    if (now?.signed_in && now.role !== session.role && leave === mine) await reload().catch(showFailure)
  }
  const view = ++views
  /** The entry of the navigation, the parameters and the page. */
  function drawFrame(entry: string, params: URLSearchParams, element: HTMLElement): void {
    const frame = { session, entry, params, search, page: element }
    render(
      <Fragment key={view}>
        <Frame {...frame} switchTo={(id) => void switchTo(id).catch(showFailure)} />
      </Fragment>,
      root,
    )
  }
  let page: Page | undefined
  let shown = ''

  const app: App = {
    api,
    askProcesses,
    nowMs,
    keyHeader,
    baseUrl,
    account,
    session,
    may: (role) => includesRole(session.role, role),
    reload,
    firstKey,
    go(name, params, how) {
      const hash = formatRoute(name, params)
      if (how === 'replace') {
        history.replaceState(null, '', hash)
        follow()
      } else location.hash = hash
    },
    setTitle,
    sendEvents: (secret, events) => api.sendEvents(keyHeader, secret, events),
    announce(text) {
      live.textContent = text
    },
    signedOut: () => void showDoor('Signed out.'),
  }

  /** Back and links leave no dialog over another view, except one whose secret is not shown again. */
  function onRoute(): void {
    for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog:not([closedby=none])')) dialog.close()
    follow()
  }

  function follow(): void {
    const { page: name, params } = parseRoute(location.hash)
    if ((linkToken('invitation') ?? linkToken('reset')) !== undefined) return void showDoor()
    if (params.has('account')) return void reload().catch(showFailure)
    const known = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
    if (known === undefined) {
      if (name === '') {
        app.go(HOME, {}, 'replace')
        return
      }
      page?.close()
      page = undefined
      shown = name
      setTitle('Page not found')
      drawFrame('', params, openNotFound(name))
      return
    }
    if (name !== shown) {
      page?.close()
      page = known.open(app)
    }
    if (page === undefined) return
    drawFrame(known.entry ?? name, params, page.element)
    if (name !== shown) {
      if (shown !== '') void checkRole()
      scrollTo(0, 0)
    }
    setTitle(known.titleOf?.(params) ?? known.title)
    page.show(params)
    if (name === shown) return
    if (hasShown) page.element.querySelector('h1')?.focus()
    hasShown = true
    shown = name
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    search()
  }

  leave?.()
  leave = () => {
    removeEventListener('hashchange', onRoute)
    removeEventListener('keydown', onKey)
    page?.close()
  }
  addEventListener('hashchange', onRoute)
  addEventListener('keydown', onKey)
  if (firstKey !== undefined) app.go('welcome', {}, 'replace')
  else follow()
}

void showDoor()
