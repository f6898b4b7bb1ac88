// The page of an invitation link. Its token stays in the fragment and travels in bodies. Someone new sets a password; a
// person who exists joins from their own session.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { SignUpState } from '../../wire/accounts.ts'
import type { Invited } from '../../wire/people.ts'
import type { Api } from '../kit/api.ts'
import { explain } from '../kit/explain.ts'
import { Field, Form, type Values } from '../kit/form.tsx'
import { DoorFrame } from './door.tsx'

interface InvitationProps {
  readonly api: Api
  readonly state: SignUpState
  readonly token: string
  setTitle(title: string): void
  showDoor(note?: string): Promise<void>
  enter(): Promise<void>
}

interface Found {
  readonly invited: Invited
  /** The address of the person who is signed in. */
  readonly email: string | undefined
}

export function Invitation(props: InvitationProps) {
  const { api, state, token } = props
  const [found, setFound] = useState<Found>()
  const [failure, setFailure] = useState<ReturnType<typeof explain>>()
  useEffect(() => {
    async function load(): Promise<void> {
      const invited = await api.send('POST', 'api/invitations/look', { token })
      const { person } = state.signed_in ? await api.get('api/session') : { person: undefined }
      setFound({ invited, email: person?.email })
    }
    void load().catch((error) => setFailure(explain(error)))
  }, [])
  const leave = (note?: string) => {
    history.replaceState(null, '', '#/')
    void props.showDoor(note)
  }
  if (failure !== undefined)
    return (
      <Shown title={failure.title} setTitle={props.setTitle}>
        <p class="muted">{failure.detail}</p>
        <button type="button" class="button" onClick={() => leave()}>
          Continue
        </button>
      </Shown>
    )
  if (found === undefined) return <Shown title="Invitation" setTitle={props.setTitle} />
  const { account, email, role, known } = found.invited
  return (
    <Shown title={`Join ${account.name}`} setTitle={props.setTitle}>
      <p>
        {email} is invited as {role}.
      </p>
      {found.email !== email && known ? <SignInFirst email={email} leave={leave} /> : <Join {...props} found={found} />}
    </Shown>
  )
}

interface ShownProps {
  readonly title: string
  readonly children?: ComponentChildren
  setTitle(title: string): void
}

function Shown({ title, children, setTitle }: ShownProps) {
  useLayoutEffect(() => setTitle(title), [title])
  return (
    <DoorFrame>
      <div class="door-place">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </DoorFrame>
  )
}

function SignInFirst({ email, leave }: { email: string; leave(note: string): void }) {
  const why = `Sign in as ${email}, then open the link again.`
  return (
    <>
      <p class="muted">{why}</p>
      <button type="button" class="button button-main" onClick={() => leave(why)}>
        Sign in
      </button>
    </>
  )
}

function Join({ api, token, enter, found }: InvitationProps & { found: Found }) {
  const isKnown = found.email === found.invited.email
  async function submit(body: Values): Promise<void> {
    await api.send('POST', 'api/invitations/accept', { token, ...body })
    history.replaceState(null, '', '#/')
    await enter()
  }
  return (
    <Form submitLabel={isKnown ? 'Join' : 'Create password and join'} submit={submit}>
      {!isKnown && (
        <Field
          name="password"
          label="New password"
          hint="At least 8 characters."
          type="password"
          autocomplete="new-password"
          required
        />
      )}
    </Form>
  )
}
