// The page of an invitation link. Its token stays in the fragment and travels in bodies. Someone new sets a password; a
// person who exists joins from their own session.
import type { SignUpState } from '../../wire/accounts.ts'
import type { Invited } from '../../wire/people.ts'
import type { Session } from '../../wire/sessions.ts'
import type { Api } from '../kit/api.ts'
import { button, type Child, fill, h, note } from '../kit/dom.ts'
import { createField, createForm } from '../kit/form.ts'
import { logo } from '../kit/icons.ts'
import { explain } from '../kit/region.ts'
import { linkToken } from '../kit/route.ts'

interface InvitationOptions {
  readonly api: Api
  readonly state: SignUpState
  setTitle(title: string): void
  showDoor(note?: string): Promise<void>
  enter(): Promise<void>
}

/** Undefined when the address of this page is no invitation. */
export function openInvitation({ api, state, setTitle, showDoor, enter }: InvitationOptions): HTMLElement | undefined {
  const token = linkToken('invitation')
  if (token === undefined) return undefined
  const place = h('div.door-place')
  const show = (title: string, ...content: readonly Child[]) => {
    setTitle(title)
    fill(place, h('h1', { tabindex: -1 }, title), ...content)
  }
  const toDoor = (text?: string) => {
    history.replaceState(null, '', '#/')
    void showDoor(text)
  }
  const joined = async () => {
    history.replaceState(null, '', '#/')
    await enter()
  }
  const accept = (body: object) => api.send<Session>('POST', 'api/invitations/accept', { token, ...body })

  async function load(): Promise<void> {
    try {
      const invited = await api.send<Invited>('POST', 'api/invitations/look', { token })
      const { person } = state.signed_in ? await api.get<Session>('api/session') : { person: undefined }
      showInvitation(invited, person?.email)
    } catch (error) {
      const { title, detail } = explain(error)
      show(
        title,
        note(detail),
        button('Continue', () => toDoor()),
      )
    }
  }

  function showInvitation({ account, email, role, known }: Invited, signedIn: string | undefined): void {
    const title = `Join ${account.name}`
    const lead = h('p', `${email} is invited as ${role}.`)
    if (signedIn === email)
      show(title, lead, createForm({ fields: [], submitLabel: 'Join', submit: () => accept({}).then(joined) }))
    else if (known) {
      const why = `Sign in as ${email}, then open the link again.`
      show(
        title,
        lead,
        note(why),
        button('Sign in', () => toDoor(why), { class: 'button button-main' }),
      )
    } else {
      const attributes = { type: 'password', autocomplete: 'new-password', required: true, minlength: 8 }
      const password = createField('password', 'New password', attributes, 'At least 8 characters.')
      const submit = () => accept({ password: password.input.value }).then(joined)
      show(title, lead, createForm({ fields: [password], submitLabel: 'Create password and join', submit }))
    }
  }

  show('Invitation')
  void load()
  return h('main.door', { id: 'main' }, h('div.brand', logo(), h('span', 'Stint')), h('div.card', place))
}
