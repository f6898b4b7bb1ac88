// The dialog that creates a channel.
import type { NewChannel } from '../../wire/channels.ts'
import { confirmAction } from '../kit/dialog.ts'
import { createField, createSelectField } from '../kit/form.ts'
import type { App } from '../kit/page.ts'

const KINDS = [
  ['webhook', 'Webhook (signed JSON)'],
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['ntfy', 'ntfy'],
] as const

export function askForChannel(app: App, done: (channel: NewChannel['channel']) => void): void {
  const name = createField('name', 'Name', { required: true, maxlength: 100 })
  const target = createField(
    'url',
    'Address',
    { required: true, maxlength: 2000 },
    'A URL; for e-mail the address, which gets a link to confirm it.',
  )
  const kind = createSelectField('kind', 'Kind', KINDS, 'webhook')
  confirmAction({
    title: 'Create channel',
    text: [],
    fields: [kind, name, target],
    submitLabel: 'Create channel',
    async submit() {
      const { value } = kind.input
      target.input.name = value === 'email' ? 'to' : 'url' // the server's faults are about that member
      const address = value === 'email' ? { to: target.input.value } : { url: target.input.value }
      const body = { name: name.input.value, kind: value, ...address }
      const { channel } = await app.api.send<NewChannel>('POST', 'api/channels', body)
      return () => done(channel)
    },
  })
}
