// The console's entry point in the browser: shows sign-in, or the pages for the signed-in account.
import { Fragment, render, type VNode } from 'preact'
import { systemClock } from '../clock.ts'
import type { IssuedKey } from '../wire/keys.ts'
import type { Session, SessionState } from '../wire/sessions.ts'
import { ConfirmAddress } from './door/confirm-address.tsx'
import { DisputePage } from './door/dispute.tsx'
import { Door } from './door/door.tsx'
import { Invitation } from './door/invitation.tsx'
import { SwitchAccount } from './door/switch-account.tsx'
import { createApi } from './kit/api.ts'
import { explain } from './kit/explain.ts'
import { changeParams, formatRoute, linkToken, parseRoute } from './kit/route.ts'
import { HOME, SignedIn } from './signed-in.tsx'

const root = document.getElementById('app')!
const live = document.createElement('div')
live.className = 'hidden'
live.role = 'status'
document.body.append(live)

try {
  localStorage.removeItem('authorized') // the API key, which /swagger of 2.0 left there
} catch {
  // the browser stores nothing
}

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

/** Set while pages are shown. */
let leave: AbortController | undefined
/** Each view after the first moves the focus to its heading; the first leaves it to the browser. */
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

/** To screen readers. */
function announce(text: string): void {
  live.textContent = text
}

function setTitle(title: string): void {
  document.title = `${title} · Stint`
}

/** Nothing of the page stays, also no dialog: it would lie over what is shown next. */
function leavePage(): void {
  leave?.abort()
  leave = undefined
  for (const dialog of document.querySelectorAll('dialog')) dialog.close()
}

async function showDoor(note?: string): Promise<void> {
  leavePage()
  removeEventListener('hashchange', reopenDoor)
  api.showAccount(undefined)
  try {
    const [known] = await Promise.all([api.get('api/session'), fontLoaded])
    const state = { ...known.sign_up, signed_in: known.signed_in }
    const token = linkToken('invitation')
    hasShown ||= token !== undefined || !state.signed_in
    addEventListener('hashchange', reopenDoor, { once: true }) // a link that is opened in the same tab
    if (token !== undefined) {
      return show(<Invitation {...{ api, state, token, setTitle, showDoor }} enter={() => enter()} />)
    }
    const confirmation = linkToken('confirm')
    if (confirmation !== undefined)
      return show(<ConfirmAddress {...{ api, token: confirmation, setTitle, showDoor }} />)
    if (state.signed_in && linkToken('reset') === undefined && linkToken('sign-up') === undefined)
      return await enter(undefined, known)
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
  const state = known ?? (await api.get('api/session'))
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
  if (session.disputed)
    return show(<DisputePage {...{ api, setTitle, fail: showFailure, enter: (key) => void enter(key) }} />)
  api.showAccount(account.id)
  leavePage()
  leave = new AbortController()
  async function reload(): Promise<void> {
    leavePage()
    await enter().catch(showFailure)
  }
  async function switchTo(id: string): Promise<void> {
    await api.send('POST', 'api/session/account', { id })
    await reload()
  }
  show(
    <SignedIn
      {...{ api, nowMs, keyHeader, baseUrl, session, firstKey, setTitle, announce, reload }}
      left={leave.signal}
      takesFocus={hasShown}
      showDoor={(note) => void showDoor(note)}
      switchTo={(id) => void switchTo(id).catch(showFailure)}
    />,
  )
  hasShown = true
}

void showDoor()
