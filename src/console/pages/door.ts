// Sign-in and, if it is open, sign-up; each links to the other.
import type { Account, NewAccount, SignUpState } from '../../wire/accounts.ts'
import type { IssuedKey } from '../../wire/keys.ts'
import type { Session } from '../../wire/sessions.ts'
import type { Api } from '../kit/api.ts'
import { button, type Child, fill, h, note } from '../kit/dom.ts'
import { createField, createForm } from '../kit/form.ts'
import { logo } from '../kit/icons.ts'
import { linkToken } from '../kit/route.ts'

interface DoorOptions {
  readonly api: Api
  readonly state: SignUpState
  /** Why the sign-in page is shown again. */
  readonly note: string | undefined
  enter(account: Account, firstKey?: IssuedKey): void
  setTitle(title: string): void
}

export function openDoor(options: DoorOptions) {
  const { state, note: reason } = options
  const place = h('div.door-place')
  const banner = reason !== undefined && h('p.banner', { role: 'status' }, reason)

  const show = (title: string, ...content: readonly Child[]) => {
    options.setTitle(title)
    fill(place, h('h1', { tabindex: -1 }, title), ...content)
  }
  const turn = (text: string, label: string, to: () => void) =>
    h('p.door-turn.muted', text, ' ', button(label, to, { class: 'link' }))

  function showSignIn(): void {
    const other = state.open
      ? turn('New here?', 'Create account', () => {
          showSignUp()
          focus()
        })
      : h('p.door-turn.muted', 'Sign-up is closed. The operator of this server can open it with SIGNUP=open.')
    const ways = state.passwords ? [signInForm(options), forgotten(options)] : []
    show('Sign in', banner, atProvider(state), ...ways, other)
  }
  function showSignUp(): void {
    const lead = note('You get an API key, and see your first run a minute later.')
    const other = turn('Already have an account?', 'Sign in', () => {
      showSignIn()
      focus()
    })
    show('Create account', lead, signUpForm(options), other)
  }
  const focus = () => place.querySelector<HTMLElement>('input')?.focus()

  const token = linkToken('reset')
  if (token !== undefined) {
    const form = resetForm(options, token, () => {
      history.replaceState(null, '', '#/')
      show('Sign in', h('p.banner', { role: 'status' }, 'Password set. Sign in with it.'), signInForm(options))
    })
    show('Set a new password', form)
  } else if (state.open && reason === undefined) showSignUp()
  else showSignIn()
  const brand = h('div.brand', logo(), h('span', 'Stint'))
  const motto = h('p.motto', 'Times any part of anyone’s code.')
  return { element: h('main.door', { id: 'main' }, brand, motto, h('div.card', place)), focus }
}

/** Leads to the provider, and back to the page that was asked for. */
function atProvider({ provider }: SignUpState): HTMLElement | false {
  if (provider === null) return false
  const back = encodeURIComponent(`/${location.hash}`)
  return h('p', h('a.button', { href: `/auth/oidc?return_to=${back}` }, `Sign in with ${provider.name}`))
}

/** Sends a link by e-mail; the server reports if e-mail is not set up. */
function forgotten({ api }: DoorOptions): HTMLElement {
  const email = emailField()
  const sent = h('p', { role: 'status' })
  const form = createForm({
    fields: [email],
    submitLabel: 'Send link',
    async submit() {
      await api.send('POST', 'api/password/forgot', { email: email.input.value })
      sent.textContent = 'If the address has an account, a link is on its way. It is valid for 30 minutes.'
    },
  })
  return h(
    'details.door-turn',
    h('summary', 'Forgot your password?'),
    form,
    sent,
    note(
      'Without e-mail, the operator of this server can set a new one: stop the server, run ',
      h('code', 'stint reset-password'),
      ' on its DATA_DIR, and start it again.',
    ),
  )
}

function resetForm({ api }: DoorOptions, token: string, done: () => void): HTMLFormElement {
  const password = newPasswordField('new_password', 'New password')
  return createForm({
    fields: [password],
    submitLabel: 'Set password',
    async submit() {
      await api.send('POST', 'api/password/reset', { token, new_password: password.input.value })
      done()
    },
  })
}

function signInForm({ api, enter }: DoorOptions): HTMLFormElement {
  const email = emailField()
  const password = createField('password', 'Password', {
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  })
  return createForm({
    fields: [email, password],
    submitLabel: 'Sign in',
    async submit() {
      const body = { email: email.input.value, password: password.input.value }
      const { account } = await api.send<Session>('POST', 'api/session', body)
      enter(account)
    },
  })
}

function signUpForm({ api, enter, state }: DoorOptions): HTMLFormElement {
  const email = emailField()
  const password = newPasswordField('password', 'Password')
  const code = createField(
    'setup_code',
    'Setup code',
    { required: true, spellcheck: 'false' },
    'The server log shows it at the first start, so that only the operator can create the first account.',
  )
  const fields = state.setup_code_required ? [email, password, code] : [email, password]
  return createForm({
    fields,
    submitLabel: 'Create account',
    async submit() {
      const body = Object.fromEntries(fields.map(({ input }) => [input.name, input.value]))
      const made = await api.send<NewAccount>('POST', 'api/accounts', body)
      enter(made.account, made.key)
    },
  })
}

const emailField = () => createField('email', 'E-mail', { type: 'email', autocomplete: 'username', required: true })

const newPasswordField = (name: string, label: string) =>
  createField(
    name,
    label,
    { type: 'password', autocomplete: 'new-password', required: true },
    'At least 8 characters; a few words are easy to remember.',
  )
