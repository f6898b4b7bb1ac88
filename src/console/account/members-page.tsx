// The people of the account, their roles, and open invitations. Only owners change others; everyone may leave.
import type { Invitation, Member, Members } from '../../wire/people.ts'
import { page } from '../kit/page.tsx'
import { PageHeader } from '../kit/page-header.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Day } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { askForInvitation, askForName, askForRemoval, askForRole, askForWithdrawal, isMe } from './member-dialogs.tsx'

const EVERY_MS = 15_000

function Heading() {
  const view = useView()
  const { app } = view
  const { account, role } = app.session
  return (
    <PageHeader title="Members" lead={<LeadOf name={account.name} role={role} />}>
      {app.may('owner') && (
        <>
          <button type="button" class="button" onClick={() => askForName(view)}>
            Rename account
          </button>
          <button type="button" class="button button-main" onClick={() => askForInvitation(view)}>
            Invite
          </button>
        </>
      )}
    </PageHeader>
  )
}

const LeadOf = ({ name, role }: { name: string; role: string }) => (
  <>
    People of <bdi>{name}</bdi>. Your role: {role}.{role !== 'owner' && ' Owners invite people and change roles.'}
  </>
)

const Content = ({ answer: { members, invitations } }: { answer: Members }) => (
  <div class="stack">
    <div class="card card-table">
      <Table caption="Members" columns={MEMBER_COLUMNS} rows={members} />
    </div>
    {invitations.length > 0 && (
      <section class="card card-table">
        <h2>Open invitations</h2>
        <Table caption="Open invitations" columns={INVITATION_COLUMNS} rows={invitations} />
      </section>
    )}
  </div>
)

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  {
    label: 'E-mail',
    cell: (member, { app }) => (
      <>
        <strong>{member.email}</strong> {isMe(app, member) && <span class="badge badge-good">you</span>}
      </>
    ),
  },
  { label: 'Role', cell: ({ role }) => <span class="badge">{role}</span> },
  { label: 'Since', class: 'extra', cell: ({ since }) => <Day at={since} /> },
  actionColumn((member, view) => {
    const { app } = view
    const remove = () => askForRemoval(view, member)
    return (
      <>
        {app.may('owner') && (
          <RowAction label="Change role" about={member.email} act={() => askForRole(view, member)} />
        )}
        {isMe(app, member) && <RowAction label="Leave" about={app.session.account.name} act={remove} />}
        {!isMe(app, member) && app.may('owner') && <RowAction label="Remove" about={member.email} act={remove} />}
      </>
    )
  }),
]

const INVITATION_COLUMNS: readonly Column<Invitation>[] = [
  { label: 'E-mail', cell: ({ email }) => <strong>{email}</strong> },
  { label: 'Role', cell: ({ role }) => <span class="badge">{role}</span> },
  { label: 'Expires', class: 'extra', cell: ({ expires_at }) => <Day at={expires_at} /> },
  actionColumn(
    (invitation, view) => (
      <RowAction label="Withdraw" about={invitation.email} act={() => askForWithdrawal(view, invitation)} />
    ),
    'owner',
  ),
]

export const MembersPage = page<Members>({
  name: 'members',
  everyMs: () => EVERY_MS,
  ask: ({ get }) => get('api/members'),
  Heading,
  Content,
})
