// The confirmations before another session is ended, or the account deleted.
import { useState } from 'preact/hooks'
import type { SessionEntry } from '../../wire/sessions.ts'
import { ApiError } from '../kit/api.ts'
import { ConfirmDialog, confirm, confirmDelete } from '../kit/confirm.tsx'
import { Field, type Values } from '../kit/form.tsx'
import { useView, type View } from '../kit/view.tsx'

export const askForEnd = (view: View, { id, user_agent }: SessionEntry): void =>
  confirmDelete(view, {
    title: 'Sign out this browser?',
    text: `${describeAgent(user_agent)} has to sign in again.`,
    submitLabel: 'Sign out',
    path: `api/sessions/${encodeURIComponent(id)}`,
    done: 'Session ended.',
  })

export const askForEndOfAll = (view: View): void =>
  confirm(view, {
    title: 'Sign out everywhere?',
    text: 'All your sessions end, this one, too. Your keys keep working.',
    submitLabel: 'Sign out everywhere',
    isDanger: true,
    async submit() {
      await view.app.api.send('DELETE', 'api/sessions')
      return () => view.app.signedOut()
    },
  })

export const askForDeletion = ({ open }: View): void => open((close) => <DeletionDialog close={close} />)

/** Which field an error of the deletion is about. */
const FIELD_OF: Readonly<Record<string, string>> = { password_wrong: 'password', operator_needed: 'operator' }

function DeletionDialog({ close }: { close(): void }) {
  const { app } = useView()
  const [needsOperator, setNeedsOperator] = useState(false)
  const hasPassword = app.session.person.password
  async function submit({ password = '', operator }: Values): Promise<() => void> {
    try {
      const body = { id: app.account.id, ...(hasPassword && { password }), ...(operator !== undefined && { operator }) }
      await app.api.send('DELETE', 'api/account', body)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'operator_needed') setNeedsOperator(true)
      const { status, code, title, detail } = error
      const field = FIELD_OF[code]
      throw field === undefined ? error : new ApiError(status, code, title, detail, [{ pointer: `/${field}`, detail }])
    }
    return () => app.signedOut()
  }
  return (
    <ConfirmDialog
      title="Delete account?"
      text={
        <>
          <p>
            Its keys stop working at once, and everything they sent is deleted from the stores. This cannot be undone.
          </p>
          {!hasPassword && (
            <p>You have no password: sign out, sign in again, and delete the account within five minutes.</p>
          )}
        </>
      }
      submitLabel="Delete account and data"
      isDanger
      submit={submit}
      close={close}
    >
      {hasPassword && <Field name="password" label="Password" type="password" autocomplete="current-password" />}
      {needsOperator && <Field name="operator" label="E-mail address of the next operator" type="email" />}
    </ConfirmDialog>
  )
}

/** `Chrome 156 on Linux`; the beginning of the header if it is not recognised. */
export function describeAgent(userAgent: string): string {
  const [, name = '', version = ''] = /(Firefox|Edg|OPR|Chrome|Version|curl|stint)\/(\d+)/.exec(userAgent) ?? []
  const [system = ''] = /Windows|Android|iPhone|iPad|Mac OS|Linux/.exec(userAgent) ?? []
  const known: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' }
  if (name === '') return userAgent.slice(0, 60) || 'Unknown'
  return [`${known[name] ?? name} ${version}`, system].filter((part) => part !== '').join(' on ')
}
