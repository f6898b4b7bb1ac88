// Before an account is shown: signing in and, where it is open, up; a forgotten password; each leads to the other.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SignUpState } from '../../wire/accounts.ts'
import type { IssuedKey } from '../../wire/keys.ts'
import type { Api } from '../kit/api.ts'
import { Field, Form, type Values } from '../kit/form.tsx'
import { Logo } from '../kit/icon.tsx'
import { linkToken } from '../kit/route.ts'

interface DoorProps {
  readonly api: Api
  readonly state: SignUpState
  /** Why the sign-in page is shown again. */
  readonly note: string | undefined
  enter(firstKey?: IssuedKey): void
  setTitle(title: string): void
}

type View = 'sign-in' | 'sign-up' | 'finish' | 'reset' | 'was-reset'

const TITLES: Readonly<Record<View, string>> = {
  'sign-in': 'Sign in',
  'sign-up': 'Create account',
  finish: 'Create account',
  reset: 'Set a new password',
  'was-reset': 'Sign in',
}

export function Door(props: DoorProps) {
  const { api, state, note, setTitle } = props
  const [[link, token]] = useState(findLink)
  const [view, setView] = useState<View>(link ?? (state.open && note === undefined ? 'sign-up' : 'sign-in'))
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    setTitle(TITLES[view])
    place.current!.querySelector<HTMLElement>('input')?.focus()
  }, [view])
  return (
    <DoorFrame motto="See when your jobs fail, hang or go silent.">
      <div class="door-place" ref={place} key={view}>
        <h1 tabIndex={-1}>{TITLES[view]}</h1>
        {view === 'sign-in' && <SignIn {...props} turn={() => setView('sign-up')} />}
        {view === 'sign-up' && <SignUp {...props} turn={() => setView('sign-in')} />}
        {view === 'finish' && <Finish {...props} token={token} />}
        {view === 'reset' && <Reset api={api} token={token} done={() => setView('was-reset')} />}
        {view === 'was-reset' && (
          <>
            <p class="banner" role="status">
              Password set. Sign in with it.
            </p>
            <SignInForm {...props} />
          </>
        )}
      </div>
    </DoorFrame>
  )
}

/** The view of an e-mailed link, and its token. */
function findLink(): readonly [view?: View, token?: string] {
  const [reset, finish] = [linkToken('reset'), linkToken('sign-up')]
  if (reset !== undefined) return ['reset', reset]
  return finish === undefined ? [] : ['finish', finish]
}

/** The logo above a card. */
export const DoorFrame = ({ motto, children }: { motto?: string; children: ComponentChildren }) => (
  <main class="door" id="main">
    <div class="brand">
      <Logo />
      <span>Stint</span>
    </div>
    {motto !== undefined && <p class="motto">{motto}</p>}
    <div class="card">{children}</div>
  </main>
)

type TurnProps = DoorProps & { turn(): void }

function SignIn({ turn, ...props }: TurnProps) {
  const { provider, passwords, open } = props.state
  return (
    <>
      {props.note !== undefined && (
        <p class="banner" role="status">
          {props.note}
        </p>
      )}
      {provider !== null && (
        <p>
          <a class="button" href={`/auth/oidc?return_to=${encodeURIComponent(`/${location.hash}`)}`}>
            Sign in with {provider.name}
          </a>
        </p>
      )}
      {passwords && <SignInForm {...props} />}
      {passwords && <Forgotten api={props.api} />}
      {open ? (
        <Turn text="New here?" label="Create account" act={turn} />
      ) : (
        <p class="door-turn muted">Sign-up is closed. The operator of this server can open it with SIGNUP=open.</p>
      )}
    </>
  )
}

function SignUp({ api, state, enter, turn }: TurnProps) {
  const [isSent, setSent] = useState(false)
  async function submit(body: Values): Promise<void> {
    const answer = await api.send('POST', 'api/accounts', body)
    if ('key' in answer) enter(answer.key)
    else setSent(true)
  }
  const lead = state.by_link
    ? 'A link goes to your address. With it you set a password and get an API key.'
    : 'You get an API key, and see your first run a minute later.'
  return (
    <>
      <p class="muted">{lead}</p>
      <Form submitLabel={state.by_link ? 'Send link' : 'Create account'} submit={submit}>
        <EmailField />
        {!state.by_link && <NewPasswordField name="password" label="Password" />}
        {state.setup_code_required && (
          <Field
            name="setup_code"
            label="Setup code"
            hint="The server log shows it at the first start, so that only the operator can create the first account."
            required
            spellcheck={false}
          />
        )}
      </Form>
      <p role="status">{isSent && 'Look into your mailbox: the link there is valid for 24 hours.'}</p>
      <Turn text="Already have an account?" label="Sign in" act={turn} />
    </>
  )
}

const Turn = ({ text, label, act }: { text: string; label: string; act(): void }) => (
  <p class="door-turn muted">
    {text}{' '}
    <button type="button" class="link" onClick={act}>
      {label}
    </button>
  </p>
)

function SignInForm({ api, enter }: Pick<DoorProps, 'api' | 'enter'>) {
  async function submit(body: Values): Promise<void> {
    await api.send('POST', 'api/session', body)
    enter()
  }
  return (
    <Form submitLabel="Sign in" submit={submit}>
      <EmailField />
      <Field name="password" label="Password" type="password" autocomplete="current-password" required />
    </Form>
  )
}

/** Sends a link by e-mail; the server reports if e-mail is not set up. */
function Forgotten({ api }: { api: Api }) {
  const [isSent, setSent] = useState(false)
  async function submit(body: Values): Promise<void> {
    await api.send('POST', 'api/password/forgot', body)
    setSent(true)
  }
  return (
    <details class="door-turn">
      <summary>Forgot your password?</summary>
      <Form submitLabel="Send link" submit={submit}>
        <EmailField />
      </Form>
      <p role="status">
        {isSent && 'If the address has an account, a link is on its way. It is valid for 30 minutes.'}
      </p>
      <p class="muted">
        Without e-mail, the operator of this server can set a new one: stop the server, run{' '}
        <code>stint reset-password</code> on its DATA_DIR, and start it again.
      </p>
    </details>
  )
}

function Reset({ api, token, done }: { api: Api; token: string | undefined; done(): void }) {
  async function submit(body: Values): Promise<void> {
    await api.send('POST', 'api/password/reset', { token, ...body })
    history.replaceState(null, '', '#/')
    done()
  }
  return (
    <Form submitLabel="Set password" submit={submit}>
      <NewPasswordField name="new_password" label="New password" />
    </Form>
  )
}

/** By the link of a sign-up. */
function Finish({ api, token, enter }: DoorProps & { token: string | undefined }) {
  async function submit(body: Values): Promise<void> {
    const { key } = await api.send('POST', 'api/accounts/confirm', { token, ...body })
    history.replaceState(null, '', '#/')
    enter(key)
  }
  return (
    <Form submitLabel="Create account" submit={submit}>
      <NewPasswordField name="password" label="Password" />
    </Form>
  )
}

const EmailField = () => <Field name="email" label="E-mail" type="email" autocomplete="username" required />

const NewPasswordField = ({ name, label }: { name: string; label: string }) => (
  <Field
    name={name}
    label={label}
    required
    hint="At least 8 characters; a few words are easy to remember."
    type="password"
    autocomplete="new-password"
  />
)
