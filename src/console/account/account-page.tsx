// The person's own account: password, sessions, sign-out and deletion.
import { useState } from 'preact/hooks'
import type { SessionEntry, Sessions } from '../../wire/sessions.ts'
import { Field, Form } from '../kit/form.tsx'
import { Card } from '../kit/icon.tsx'
import type { App } from '../kit/page.ts'
import { PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Ago, Day } from '../kit/time.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { askForDeletion, askForEnd, askForEndOfAll, describeAgent } from './account-dialogs.tsx'

const EVERY_MS = 15_000

const ask = ({ app, signal }: Question<Sessions>): Promise<Sessions> =>
  app.api.get<Sessions>('api/sessions', {}, signal)

function Heading({ app }: Pick<Shown<Sessions>, 'app'>) {
  const { email, operator } = app.account
  return (
    <PageHeader title="Account" lead={operator ? `${email}, operator of this Stint` : email}>
      <button type="button" class="button" onClick={() => askForEndOfAll(app)}>
        Sign out everywhere
      </button>
      <SignOut app={app} />
    </PageHeader>
  )
}

function SignOut({ app }: { app: App }) {
  const { fault, attempt } = useAttempt()
  const endSession = () =>
    attempt(async () => {
      await app.api.send('DELETE', 'api/session')
      app.signedOut()
    })
  return (
    <>
      {fault}
      <button type="button" class="button" onClick={() => void endSession()}>
        Sign out
      </button>
    </>
  )
}

const Content = ({ app, answer: { sessions }, nowMs, again }: Shown<Sessions>) => (
  <div class="stack">
    <Card title="Sessions" class="card-table">
      <Table caption="Sessions" columns={columnsOf(app, nowMs, again)} rows={sessions} />
    </Card>
    <div class="columns">
      {app.session.person.password && (
        <Card title="Password">
          <PasswordForm app={app} again={again} />
        </Card>
      )}
      {app.may('owner') && (
        <Card title="Delete account">
          <p class="muted">Deletes the account, its keys and its data.</p>
          <button type="button" class="button button-danger" onClick={() => askForDeletion(app)}>
            Delete account
          </button>
        </Card>
      )}
    </div>
  </div>
)

const columnsOf = (app: App, nowMs: number, again: () => void): Column<SessionEntry>[] => [
  {
    label: 'Browser',
    cell: ({ user_agent, current }) => (
      <>
        <span title={user_agent}>{describeAgent(user_agent)}</span>{' '}
        {current && <span class="badge badge-good">this browser</span>}
      </>
    ),
  },
  { label: 'Last seen', cell: ({ last_seen_at }) => <Ago at={last_seen_at} nowMs={nowMs} /> },
  { label: 'Signed in', class: 'extra', cell: ({ created_at }) => <Ago at={created_at} nowMs={nowMs} /> },
  { label: 'Expires', class: 'extra', cell: ({ expires_at }) => <Day at={expires_at} /> },
  actionColumn(true, (session) => {
    const about = `session of ${describeAgent(session.user_agent)}`
    return !session.current && <RowAction label="Sign out" about={about} act={() => askForEnd(app, session, again)} />
  }),
]

function PasswordForm({ app, again }: { app: App; again(): void }) {
  const [isDone, setDone] = useState(false)
  async function submit({ current_password = '', new_password = '' }): Promise<void> {
    setDone(false)
    await app.api.send('POST', 'api/password', { current_password, new_password })
    setDone(true)
    again()
  }
  return (
    <Form submitLabel="Change password" submit={submit} isCleared>
      <Field name="current_password" label="Current password" type="password" autocomplete="current-password" />
      <Field
        name="new_password"
        label="New password"
        hint="At least 8 characters. All other sessions end."
        type="password"
        autocomplete="new-password"
      />
      <input type="text" autocomplete="username" value={app.account.email} hidden />
      {isDone && (
        <p class="banner banner-good" role="status">
          Password changed. All other sessions have ended.
        </p>
      )}
    </Form>
  )
}

export const openAccountPage = openPollPage<Sessions>({
  className: 'account',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
