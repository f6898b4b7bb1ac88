// The operator's confirmations before an account of somebody else is suspended, resumed or deleted.
import type { OperatedAccount } from '../../wire/operator.ts'
import { confirm } from '../kit/confirm.tsx'
import { Field } from '../kit/form.tsx'
import type { View } from '../kit/view.tsx'

export const askForSuspension = (view: View, { id, name }: OperatedAccount): void =>
  confirm(view, {
    title: `Suspend ${name}?`,
    text:
      'Its keys are refused on every node, and its watches are not checked. Its people can sign in, read and ' +
      'export. Clients of Stint keep what they send.',
    submitLabel: 'Suspend',
    isDanger: true,
    async submit() {
      await view.app.api.send('POST', `api/operator/accounts/${id}/suspend`)
      return 'Account suspended.'
    },
  })

export const askForResumption = (view: View, { id, name }: OperatedAccount): void =>
  confirm(view, {
    title: `Resume ${name}?`,
    text: 'Its keys work again. The time since it was suspended counts as a downtime of its watches.',
    submitLabel: 'Resume',
    async submit() {
      await view.app.api.send('POST', `api/operator/accounts/${id}/resume`)
      return 'Account resumed.'
    },
  })

export const askForOperatedDeletion = (view: View, { id, name }: OperatedAccount): void =>
  confirm(view, {
    title: `Delete ${name}?`,
    text:
      'Its keys stop working at once, people in no other account are removed, and everything it sent is ' +
      'deleted from the stores. This cannot be undone.',
    children: <Field name="id" label={`Id of the account, to confirm: ${id}`} required />,
    submitLabel: 'Delete account and data',
    isDanger: true,
    async submit(body) {
      await view.app.api.send('DELETE', `api/operator/accounts/${id}`, body)
      return 'Account deleted.'
    },
  })
