// The dialog that creates a channel, and the secret of a webhook, which is shown this once.
import type { NewChannel } from '../../wire/channels.ts'
import { copyButton } from '../kit/copy-button.ts'
import { confirmAction, openDialog } from '../kit/dialog.ts'
import { button, h } from '../kit/dom.ts'
import { createField, createSelectField } from '../kit/form.ts'
import type { App } from '../kit/page.ts'

const KINDS = [
  ['webhook', 'Webhook (signed JSON)'],
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['ntfy', 'ntfy'],
] as const

/** `done` is called when the channel exists. */
export function askForChannel(app: App, done: (channel: NewChannel['channel']) => void): void {
  const name = createField('name', 'Name', { required: true, maxlength: 100 })
  const target = createField(
    'url',
    'Address',
    { required: true, maxlength: 2000 },
    'A URL; for e-mail an address, which receives a confirmation link.',
  )
  const kind = createSelectField('kind', 'Kind', KINDS, 'webhook')
  confirmAction({
    title: 'Create channel',
    fields: [kind, name, target],
    submitLabel: 'Create channel',
    async submit() {
      const { value } = kind.input
      target.input.name = value === 'email' ? 'to' : 'url' // the server's errors name that member
      const address = value === 'email' ? { to: target.input.value } : { url: target.input.value }
      const body = { name: name.input.value, kind: value, ...address }
      const { channel } = await app.api.send<NewChannel>('POST', 'api/channels', body)
      return () => {
        if (channel.secret !== undefined) revealSecret(channel.secret)
        done(channel)
      }
    },
  })
}

function revealSecret(secret: string): void {
  const close = button('I’ve saved it', () => dialog.close(), { class: 'button button-main' })
  const dialog = openDialog('Signing secret', [
    h('p', 'Your receiver verifies notifications with it. It is not shown again.'),
    h(
      'div.secret',
      h('code.secret-text', { tabindex: 0, 'aria-label': 'Signing secret' }, secret),
      copyButton('Copy secret', () => secret),
    ),
    h('div.form-buttons', close),
  ])
}
