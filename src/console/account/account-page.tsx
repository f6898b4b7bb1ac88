// The person's own account: password, sessions, sign-out and deletion.
import { useState } from 'preact/hooks'
import type { Health } from '../../wire/operations.ts'
import type { SessionEntry, Sessions } from '../../wire/sessions.ts'
import { Field, Form } from '../kit/form.tsx'
import { formatBytes } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import { page } from '../kit/page.tsx'
import { PageHeader } from '../kit/page-header.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { Ago, Day } from '../kit/time.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { askForDeletion, askForEnd, askForEndOfAll, describeAgent } from './account-dialogs.tsx'

const EVERY_MS = 15_000

type AccountAnswer = Sessions & Pick<Health, 'use'>

export const AccountPage = page<AccountAnswer>({
  name: 'account',
  everyMs: () => EVERY_MS,
  async ask({ get }) {
    const [sessions, { use }] = await Promise.all([get('api/sessions'), get('api/health')])
    return { ...sessions, use }
  },
  Heading,
  Content,
})

function Heading() {
  const view = useView()
  const { app } = view
  const { email, operator } = app.account
  const { fault, attempt } = useAttempt()
  const endSession = () =>
    attempt(async () => {
      await app.api.send('DELETE', 'api/session')
      app.signedOut()
    })
  return (
    <PageHeader title="Account" lead={operator ? `${email}, operator of this Stint` : email}>
      <button type="button" class="button" onClick={() => askForEndOfAll(view)}>
        Sign out everywhere
      </button>
      {fault}
      <button type="button" class="button" onClick={() => void endSession()}>
        Sign out
      </button>
    </PageHeader>
  )
}

function Content({ answer: { sessions, use } }: { answer: AccountAnswer }) {
  const view = useView()
  const { app } = view
  return (
    <div class="stack">
      {app.session.person.unconfirmed && <Confirmation />}
      <Card title="Sessions" class="card-table">
        <Table caption="Sessions" columns={COLUMNS} rows={sessions} />
      </Card>
      <Card title="Data sent">
        <p>
          {formatBytes(use.bytes_24h)}
          {use.quota_bytes > 0 && ` of ${formatBytes(use.quota_bytes)}`} in the last 24 hours
        </p>
      </Card>
      <div class="columns">
        {app.session.person.password && (
          <Card title="Password">
            <PasswordForm />
          </Card>
        )}
        {app.may('owner') && (
          <Card title="Delete account">
            <p class="muted">Deletes the account, its keys and its data.</p>
            <button type="button" class="button button-danger" onClick={() => askForDeletion(view)}>
              Delete account
            </button>
          </Card>
        )}
      </div>
    </div>
  )
}

/** Shown to people whom an invitation or an earlier version let in without a proof of their address. */
function Confirmation() {
  const { app } = useView()
  const [isSent, setSent] = useState(false)
  const { fault, attempt } = useAttempt()
  const send = () =>
    attempt(async () => {
      await app.api.send('POST', 'api/address/confirmation')
      setSent(true)
    })
  return (
    <Card title="Confirm your address">
      <p>Nobody has proved yet that {app.session.person.email} is yours.</p>
      {fault}
      <button type="button" class="button" onClick={() => void send()}>
        Send link
      </button>
      <p role="status">{isSent && 'Look into your mailbox: the link there is valid for 24 hours.'}</p>
    </Card>
  )
}

const COLUMNS: readonly Column<SessionEntry>[] = [
  {
    label: 'Browser',
    cell: ({ user_agent, current }) => (
      <>
        <span title={user_agent}>{describeAgent(user_agent)}</span>{' '}
        {current && <span class="badge badge-good">this browser</span>}
      </>
    ),
  },
  { label: 'Last seen', cell: ({ last_seen_at: at }) => <Ago at={at} /> },
  { label: 'Signed in', class: 'extra', cell: ({ created_at: at }) => <Ago at={at} /> },
  { label: 'Expires', class: 'extra', cell: ({ expires_at: at }) => <Day at={at} /> },
  actionColumn((session, view) => {
    const about = `session of ${describeAgent(session.user_agent)}`
    return !session.current && <RowAction label="Sign out" about={about} act={() => askForEnd(view, session)} />
  }),
]

function PasswordForm() {
  const { app, again } = useView()
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
