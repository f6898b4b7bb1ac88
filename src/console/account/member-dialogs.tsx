// The dialogs that invite people, change a role, and remove a member. The link of an invitation is shown once.
import type { Invitation, Member, NewInvitation } from '../../wire/people.ts'
import type { Role } from '../../wire/roles.ts'
import type { App } from '../kit/app.ts'
import { confirm, confirmDelete } from '../kit/confirm.tsx'
import { SecretBox } from '../kit/copy-button.tsx'
import { Field, SelectField } from '../kit/form.tsx'
import { revealOnce } from '../kit/modal.tsx'
import type { View } from '../kit/view.tsx'

const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer: reads everything',
  member: 'Member: also changes watches and own keys',
  owner: 'Owner: also manages people, all keys and the account',
}
const KEYS_OF_LEFT = { end: 'Keys that read or manage end; keys that only write stay', take: 'Make all of them yours' }

export const isMe = ({ session }: App, { id }: Member): boolean => id === session.person.id

export const askForInvitation = (view: View): void =>
  confirm(view, {
    title: 'Invite a person',
    children: (
      <>
        <Field name="email" label="E-mail" type="email" required />
        <SelectField name="role" label="Role" options={ROLE_LABELS} value="member" />
      </>
    ),
    submitLabel: 'Invite',
    async submit(body) {
      const { invitation } = await view.app.api.send('POST', 'api/invitations', body)
      return () => reveal(view, invitation)
    },
  })

function reveal(view: View, { email, url, mailed, mail }: NewInvitation['invitation']): void {
  const { app } = view
  view.again()
  app.announce('Invitation created')
  const send = `Send this link to ${email}.`
  const text = mailed
    ? `The link is on its way to ${email}.`
    : mail === null
      ? send
      : `${mail}. ${send}`.replace('..', '.')
  // The server may not know the address that people reach it by; this page was reached by it.
  const link = `${app.baseUrl}/${url.slice(url.indexOf('#'))}`
  revealOnce(
    view,
    { title: 'Invitation created', closeLabel: 'Done' },
    <>
      <p class="wrap">{text} It is good once, for seven days, and not shown again.</p>
      <SecretBox name="Link" secret={link} copyLabel="Copy link" />
    </>,
  )
}

export const askForRole = (view: View, member: Member): void =>
  confirm(view, {
    title: `Change the role of ${member.email}?`,
    text: 'The change works at once, also for keys that the person has created.',
    children: <SelectField name="role" label="Role" options={ROLE_LABELS} value={member.role} />,
    submitLabel: 'Change role',
    async submit(body) {
      const { app } = view
      await app.api.send('PATCH', `api/members/${member.id}`, body)
      return isMe(app, member) ? () => void app.reload() : 'Role changed.'
    },
  })

export function askForRemoval(view: View, member: Member): void {
  const { app } = view
  const isLeaving = isMe(app, member)
  confirm(view, {
    title: isLeaving ? `Leave ${app.session.account.name}?` : `Remove ${member.email}?`,
    text: isLeaving
      ? 'You lose access at once. Your keys that read or manage end; those that only write stay.'
      : 'The person loses access at once, and is signed out of this account.',
    children: !isLeaving && <SelectField name="keys" label="Keys of this person" options={KEYS_OF_LEFT} value="end" />,
    submitLabel: isLeaving ? 'Leave account' : 'Remove',
    isDanger: true,
    async submit({ keys }) {
      await app.api.send('DELETE', `api/members/${member.id}${keys === 'take' ? '?keys=take' : ''}`)
      return isLeaving ? () => app.signedOut() : 'Member removed.'
    },
  })
}

export const askForWithdrawal = (view: View, { id, email }: Invitation): void =>
  confirmDelete(view, {
    title: `Withdraw the invitation of ${email}?`,
    text: 'Its link stops working.',
    submitLabel: 'Withdraw',
    path: `api/invitations/${id}`,
    done: 'Invitation withdrawn.',
  })

export const askForName = (view: View): void =>
  confirm(view, {
    title: 'Rename account',
    children: <Field name="name" label="Name" required maxLength={100} value={view.app.session.account.name} />,
    submitLabel: 'Rename',
    async submit(body) {
      const { app } = view
      await app.api.send('PATCH', 'api/account', body)
      return () => void app.reload()
    },
  })
