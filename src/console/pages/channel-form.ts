// The dialog that creates or edits a channel, by the table of kinds, and the secret of a webhook, which is shown this
// once.

import {
  CHANNEL_KINDS,
  CHANNEL_TABLE,
  type ChannelKind,
  type ChannelMember,
  channelKind,
  HIDDEN,
} from '../../wire/channel-kinds.ts'
import type { Channel, ChannelAnswer, NewChannel } from '../../wire/channels.ts'
import { CONDITION_TABLE, CONDITIONS } from '../../wire/conditions.ts'
import { confirmAction, revealOnce, secretBox } from '../kit/dialog.ts'
import { h } from '../kit/dom.ts'
import { createAreaField, createField, createSelectField, type Field, offerFields } from '../kit/form.ts'
import type { App } from '../kit/page.ts'

const MEMBER_TEXT = {
  url: { label: 'Address', hint: 'A URL.' },
  to: { label: 'E-mail', hint: 'It receives a confirmation link.' },
  headers: { label: 'Headers', hint: 'One per line, such as Authorization: Bearer 123. Sent with each notification.' },
  token: { label: 'Token', hint: 'Of the bot, or of the ntfy user.' },
  chat: { label: 'Chat', hint: 'The id of the chat, or @channel.' },
  routing_key: { label: 'Integration key', hint: 'Of a PagerDuty service, 32 characters.' },
} as const satisfies Record<ChannelMember, object>
const MEMBERS = Object.keys(MEMBER_TEXT) as ChannelMember[]

/** Edits `channel`, or creates one. `done` is called when it is saved. */
export function askForChannel(app: App, done: () => void, channel?: Channel): void {
  const name = createField('name', 'Name', { required: true, maxlength: 100, value: channel?.name ?? '' })
  const kinds = Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, CHANNEL_TABLE[kind].label]))
  const kind = createSelectField('kind', 'Kind', kinds, channel?.kind ?? 'webhook')
  kind.input.disabled = channel !== undefined
  const chosenKind = () => kind.input.value as ChannelKind
  const members = MEMBERS.map((member) => {
    const { label, hint } = MEMBER_TEXT[member]
    const value = textOf(channel, member)
    const field: Field | Field<HTMLTextAreaElement> =
      member === 'headers'
        ? createAreaField(member, label, value, hint)
        : createField(member, label, { maxlength: 2000, value }, hint)
    return { member, value, field }
  })
  const delay = createField(
    'delay',
    'Only after',
    { placeholder: 'at once', value: channel?.delay ?? '' },
    'Notifies only while the alert has been firing for this long, such as 15m.',
  )
  const boxes = CONDITIONS.map((condition) => ({
    condition,
    input: h('input', { type: 'checkbox', checked: channel?.conditions?.includes(condition) ?? true }),
  }))
  const onlyFiring = h('input', { type: 'checkbox', checked: channel?.only_firing ?? false })

  function showMembers(): void {
    const { required, optional = [] } = channelKind(chosenKind())
    for (const { member, field } of members) {
      offerFields(required.includes(member) || optional.includes(member), field)
      field.input.required = required.includes(member)
    }
  }
  kind.input.addEventListener('change', showMembers)
  showMembers()

  /** A change sends only differences: a hidden secret stays as it is. */
  function read(): Record<string, unknown> {
    const body: Record<string, unknown> = { name: name.input.value }
    for (const { member, field, value } of members) {
      const text = field.input.value.trim()
      if (field.input.disabled || (channel === undefined ? text === '' : text === value)) continue
      body[member] = text === '' ? null : member === 'headers' ? toHeaders(text) : text
    }
    const chosen = boxes.filter(({ input }) => input.checked).map(({ condition }) => condition)
    body.conditions = chosen.length === CONDITIONS.length ? null : chosen
    if (onlyFiring.checked !== (channel?.only_firing ?? false)) body.only_firing = onlyFiring.checked
    body.delay = delay.input.value.trim() || null
    return body
  }

  confirmAction({
    title: channel === undefined ? 'Create channel' : `Edit ${channel.name}`,
    fields: [kind, name, ...members.map(({ field }) => field), delay],
    content: [
      h('div.field-pair', kind.element, name.element),
      ...members.map(({ field }) => field.element),
      h(
        'details',
        h('summary', 'Which alerts'),
        h(
          'fieldset.checks',
          h('legend', 'Conditions'),
          ...boxes.map(({ condition, input }) => h('label', input, ` ${CONDITION_TABLE[condition].label}`)),
        ),
        h('label.check', onlyFiring, ' Only when an alert fires, not when it is resolved'),
        delay.element,
      ),
    ],
    submitLabel: channel === undefined ? 'Create channel' : 'Save channel',
    async submit() {
      if (channel !== undefined) {
        await app.api.send<ChannelAnswer>('PATCH', `api/channels/${channel.id}`, read())
        return done
      }
      const body = { kind: chosenKind(), ...read() }
      const { channel: made } = await app.api.send<NewChannel>('POST', 'api/channels', body)
      return () => {
        if (made.secret !== undefined) revealSecret(made.secret)
        done()
      }
    },
  })
}

function textOf(channel: Channel | undefined, member: ChannelMember): string {
  if (member !== 'headers') return channel?.[member] ?? ''
  return Object.entries(channel?.headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** A line `Name: value` each. */
const toHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [name = '', ...value] = line.split(':')
      return line.trim() === '' ? [] : [[name.trim(), value.join(':').trim()]]
    }),
  )

/** Where it goes, without what is secret. */
export const addressOf = ({ to, url, chat }: Channel): string =>
  [to ?? url?.replace(HIDDEN, '…'), chat].filter((part) => part !== undefined).join(' · ')

const revealSecret = (secret: string): void =>
  revealOnce(
    'Signing secret',
    [
      h('p', 'Your receiver verifies notifications with it. It is not shown again.'),
      secretBox('Signing secret', secret, 'Copy secret'),
    ],
    { keep: 'Save the secret first: it is not shown again.' },
  )
