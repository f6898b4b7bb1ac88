// The people of the account, their roles, and open invitations. Only owners change others; everyone may leave.
import type { Invitation, Member, Members } from '../../wire/people.ts'
import type { App } from '../kit/page.ts'
import { PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Day } from '../kit/time.tsx'
import { askForInvitation, askForName, askForRemoval, askForRole, askForWithdrawal, isMe } from './member-dialogs.tsx'

const EVERY_MS = 15_000

const ask = ({ app, signal }: Question<Members>): Promise<Members> => app.api.get<Members>('api/members', {}, signal)

function Heading({ app, again }: Pick<Shown<Members>, 'app' | 'again'>) {
  const { account, role } = app.session
  return (
    <PageHeader title="Members" lead={<LeadOf name={account.name} role={role} />}>
      {app.may('owner') && (
        <>
          <button type="button" class="button" onClick={() => askForName(app)}>
            Rename account
          </button>
          <button type="button" class="button button-main" onClick={() => askForInvitation(app, again)}>
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

function Content({ app, answer: { members, invitations }, again }: Shown<Members>) {
  return (
    <div class="stack">
      <div class="card card-table">
        <Table caption="Members" columns={memberColumns(app, again)} rows={members} />
      </div>
      {invitations.length > 0 && (
        <section class="card card-table">
          <h2>Open invitations</h2>
          <Table caption="Open invitations" columns={invitationColumns(app, again)} rows={invitations} />
        </section>
      )}
    </div>
  )
}

const memberColumns = (app: App, again: () => void): Column<Member>[] => [
  {
    label: 'E-mail',
    cell: (member) => (
      <>
        <strong>{member.email}</strong> {isMe(app, member) && <span class="badge badge-good">you</span>}
      </>
    ),
  },
  { label: 'Role', cell: ({ role }) => <span class="badge">{role}</span> },
  { label: 'Since', class: 'extra', cell: ({ since }) => <Day at={since} /> },
  actionColumn(true, (member) => {
    const remove = () => askForRemoval(app, member, again)
    return (
      <>
        {app.may('owner') && (
          <RowAction label="Change role" about={member.email} act={() => askForRole(app, member, again)} />
        )}
        {isMe(app, member) && <RowAction label="Leave" about={app.session.account.name} act={remove} />}
        {!isMe(app, member) && app.may('owner') && <RowAction label="Remove" about={member.email} act={remove} />}
      </>
    )
  }),
]

const invitationColumns = (app: App, again: () => void): Column<Invitation>[] => [
  { label: 'E-mail', cell: ({ email }) => <strong>{email}</strong> },
  { label: 'Role', cell: ({ role }) => <span class="badge">{role}</span> },
  { label: 'Expires', class: 'extra', cell: ({ expires_at }) => <Day at={expires_at} /> },
  actionColumn(app.may('owner'), (invitation) => (
    <RowAction label="Withdraw" about={invitation.email} act={() => askForWithdrawal(app, invitation, again)} />
  )),
]

export const openMembersPage = openPollPage<Members>({
  className: 'members',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
