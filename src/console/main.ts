// The console's entry point in the browser: shows sign-in, or the pages for the signed-in account.
import { systemClock } from '../clock.ts'
import type { IssuedKey } from '../wire/keys.ts'
import { includesRole } from '../wire/roles.ts'
import type { Session, SessionState } from '../wire/sessions.ts'
import { createApi } from './kit/api.ts'
import { createAskProcesses } from './kit/ask-processes.ts'
import { button, fill, h, note } from './kit/dom.ts'
import { createFrame, ENTRIES } from './kit/frame.ts'
import { type App, type Page, pageHeader } from './kit/page.ts'
import { openQuickOpen } from './kit/quick-open.ts'
import { explain } from './kit/region.ts'
import { changeParams, formatRoute, linkToken, parseRoute } from './kit/route.ts'
import { PAGES } from './known-pages.ts'
import { openDoor } from './pages/door.ts'
import { openInvitation } from './pages/invitation.ts'

const HOME = 'home'
/** Pages that Ctrl-K also opens. */
const FURTHER = ['maintenance', 'members', 'account'].map((page) => [page, PAGES[page]!.title] as const)

const root = document.getElementById('app')!
const live = h('div.hidden', { role: 'status' })
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
    const invitation = openInvitation({ api, state, setTitle, showDoor, enter: () => enter() })
    hasShown ||= invitation !== undefined || !state.signed_in
    if (invitation !== undefined) {
      addEventListener('hashchange', reopenDoor, { once: true })
      return fill(root, invitation)
    }
    if (state.signed_in && linkToken('reset') === undefined) return await enter(undefined, known)
    const door = openDoor({ api, state, note, enter: (_, firstKey) => void enter(firstKey), setTitle })
    fill(root, door.element)
    door.focus()
  } catch (error) {
    showFailure(error)
  }
}

const MAIN = { class: 'button button-main' }

/** In place of everything, with a button that begins again. */
function showNotice(title: string, text: string, again: string, attributes = {}): void {
  setTitle(title)
  fill(
    root,
    h(
      'main.door',
      h('h1', title),
      note(text),
      button(again, () => void showDoor(), attributes),
    ),
  )
}

function showFailure(error: unknown): void {
  const { title, detail } = explain(error)
  showNotice(title, detail, 'Try again')
}

const notFound = (name: string): HTMLElement =>
  h(
    'div.page',
    pageHeader('Page not found', `This console has no page “${name}”.`),
    h('p', h('a.button', { href: formatRoute(HOME) }, 'Go to Home')),
  )

/** Another tab has switched the session: this page stops. */
function showOtherAccount(): void {
  leavePage()
  const text = 'Another tab of this browser now shows another account. Nothing was changed here.'
  showNotice('Account changed', text, 'Show that account', MAIN)
}

/** The link of a notification names the account that it is about; once it is shown, the address need not. */
function forgetLinkedAccount(): void {
  const { page, params } = parseRoute(location.hash)
  if (!params.has('account')) return
  history.replaceState(null, '', formatRoute(page, changeParams(params, { account: undefined })))
}

function showForeignLink(): void {
  const text = 'This link is about an account that you are not a member of, or that was deleted.'
  showNotice('Another account', text, 'Open my account', MAIN)
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
  const isMine = session.accounts.some(({ id }) => id === linked)
  if (isMine && linked !== account.id) await api.send('POST', 'api/session/account', { id: linked })
  forgetLinkedAccount()
  if (!isMine) return showForeignLink()
  if (linked !== account.id) return await enter()
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
  const frame = createFrame(session, search, (id) => void switchTo(id).catch(showFailure))
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
      frame.show('', notFound(name))
      return
    }
    if (name !== shown) {
      page?.close()
      page = known.open(app)
      frame.show(known.entry ?? name, page.element)
      if (shown !== '') void checkRole()
      scrollTo(0, 0)
    }
    setTitle(known.titleOf?.(params) ?? known.title)
    frame.keep(params)
    page?.show(params)
    if (name === shown) return
    if (hasShown) page?.element.querySelector('h1')?.focus()
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
  fill(root, frame.element)
  if (firstKey !== undefined) app.go('welcome', {}, 'replace')
  else follow()
}

void showDoor()
