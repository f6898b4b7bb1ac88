// The Members page: people of the account, their roles, open invitations. Only owners change others; everyone may
// leave.
import type { Invitation, Member, MemberAnswer, Members, NewInvitation } from '../../wire/people.ts'
import type { Role } from '../../wire/roles.ts'
import { actionColumn, createDataTable, rowAction } from '../kit/data-table.ts'
import { confirmAction, createAsk, revealOnce, secretBox } from '../kit/dialog.ts'
import { button, h, note } from '../kit/dom.ts'
import { createField, createSelectField } from '../kit/form.ts'
import { formatFullDay, parseTime, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'

const EVERY_MS = 15_000
const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer: reads everything',
  member: 'Member: also changes watches and own keys',
  owner: 'Owner: also manages people, all keys and the account',
}

export function openMembersPage(app: App): Page {
  const { api, session } = app
  const isOwner = app.may('owner')
  const region = createRegion()
  const day = (at: string) => timeElement(at, formatFullDay(parseTime(at)))
  const isMe = ({ id }: Member) => id === session.person.id

  const table = createDataTable<Member>({
    caption: 'Members',
    columns: [
      {
        label: 'E-mail',
        cell: (member) => [h('strong', member.email, ' '), isMe(member) && h('span.badge.badge-good', 'you')],
      },
      { label: 'Role', cell: ({ role }) => h('span.badge', role) },
      { label: 'Since', isExtra: true, cell: ({ since }) => day(since) },
      actionColumn(true, (member) => [
        isOwner && rowAction('Change role', member.email, () => askForRole(member)),
        isMe(member)
          ? rowAction('Leave', account(), () => askForRemoval(member))
          : isOwner && rowAction('Remove', member.email, () => askForRemoval(member)),
      ]),
    ],
  })
  const account = () => session.account.name

  const invited = createDataTable<Invitation>({
    caption: 'Open invitations',
    columns: [
      { label: 'E-mail', cell: ({ email }) => h('strong', email) },
      { label: 'Role', cell: ({ role }) => h('span.badge', role) },
      { label: 'Expires', isExtra: true, cell: ({ expires_at }) => day(expires_at) },
      actionColumn(isOwner, (invitation) => [
        rowAction('Withdraw', invitation.email, () => askForWithdrawal(invitation)),
      ]),
    ],
  })
  const invitations = h('section.card.card-table', h('h2', 'Open invitations'), invited.element)
  const content = h('div.stack', h('div.card.card-table', table.element), invitations)

  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<Members>('api/members', {}, signal),
    show({ members, invitations: open }) {
      table.show(members)
      invited.show(open)
      invitations.hidden = open.length === 0
      region.ready(app.nowMs(), content)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })
  const done = (text: string) => () => {
    poll.now()
    app.announce(text)
  }
  const ask = createAsk(app, () => poll.now())

  function askForInvitation(): void {
    const email = createField('email', 'E-mail', { type: 'email', required: true })
    const role = createSelectField('role', 'Role', ROLE_LABELS, 'member')
    confirmAction({
      title: 'Invite a person',
      fields: [email, role],
      submitLabel: 'Invite',
      async submit() {
        const body = { email: email.input.value.trim(), role: role.input.value }
        const { invitation } = await api.send<NewInvitation>('POST', 'api/invitations', body)
        return () => reveal(invitation)
      },
    })
  }

  function reveal({ email, url, mailed }: NewInvitation['invitation']): void {
    poll.now()
    app.announce('Invitation created')
    const text = mailed ? `The link is on its way to ${email}.` : `Send this link to ${email}.`
    const lead = h('p', `${text} It is good once, for seven days, and not shown again.`)
    // The server may not know the address that people reach it by; this page was reached by it.
    const link = `${app.baseUrl}/${url.slice(url.indexOf('#'))}`
    revealOnce('Invitation created', [lead, secretBox('Link', link, 'Copy link')], { close: 'Done' })
  }

  function askForRole(member: Member): void {
    const role = createSelectField('role', 'Role', ROLE_LABELS, member.role)
    confirmAction({
      title: `Change the role of ${member.email}?`,
      text: ['The change works at once, also for keys that the person has created.'],
      fields: [role],
      submitLabel: 'Change role',
      async submit() {
        await api.send<MemberAnswer>('PATCH', `api/members/${member.id}`, { role: role.input.value })
        return isMe(member) ? () => void app.reload() : done('Role changed.')
      },
    })
  }

  function askForRemoval(member: Member): void {
    const isLeaving = isMe(member)
    const kept = { end: 'Keys that read or manage end; keys that only write stay', take: 'Make all of them yours' }
    const keys = createSelectField('keys', 'Keys of this person', kept, 'end')
    confirmAction({
      title: isLeaving ? `Leave ${account()}?` : `Remove ${member.email}?`,
      text: [
        isLeaving
          ? 'You lose access at once. Your keys that read or manage end; those that only write stay.'
          : 'The person loses access at once, and is signed out of this account.',
      ],
      ...(!isLeaving && { fields: [keys] }),
      submitLabel: isLeaving ? 'Leave account' : 'Remove',
      danger: true,
      async submit() {
        const take = !isLeaving && keys.input.value === 'take'
        await api.send('DELETE', `api/members/${member.id}${take ? '?keys=take' : ''}`)
        return isLeaving ? () => app.signedOut() : done('Member removed.')
      },
    })
  }

  function askForWithdrawal({ id, email }: Invitation): void {
    ask({
      title: `Withdraw the invitation of ${email}?`,
      text: ['Its link stops working.'],
      submitLabel: 'Withdraw',
      danger: true,
      send: ['DELETE', `api/invitations/${id}`],
      done: 'Invitation withdrawn.',
    })
  }

  function askForName(): void {
    const name = createField('name', 'Name', { required: true, maxlength: 100, value: account() })
    confirmAction({
      title: 'Rename account',
      fields: [name],
      submitLabel: 'Rename',
      async submit() {
        await api.send('PATCH', 'api/account', { name: name.input.value })
        return () => void app.reload()
      },
    })
  }

  region.loading()
  const actions = isOwner
    ? [button('Rename account', askForName), button('Invite', askForInvitation, { class: 'button button-main' })]
    : []
  return {
    element: h(
      'div.page',
      pageHeader('Members', `People of ${account()}. Your role: ${session.role}.`, ...actions),
      !isOwner && note('Owners invite people and change roles.'),
      region.element,
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}
