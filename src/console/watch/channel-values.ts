// The fields of a channel's form, and the request that they make.
import type { ChannelMember } from '../../wire/channel-kinds.ts'
import type { Channel } from '../../wire/channels.ts'
import { CONDITIONS } from '../../wire/conditions.ts'
import type { Values } from '../kit/form.tsx'

export const MEMBER_TEXT = {
  url: { label: 'Address' },
  to: { label: 'E-mail' },
  headers: { label: 'Headers', hint: 'One per line, such as Authorization: Bearer 123. Sent with each notification.' },
  token: { label: 'Token', hint: 'Of the bot, or of the ntfy user.' },
  chat: { label: 'Chat', hint: 'The id of the chat, or @channel.' },
  routing_key: { label: 'Integration key', hint: 'Of a PagerDuty service, 32 characters.' },
} as const satisfies Record<ChannelMember, object>

export const CHANNEL_MEMBERS = Object.keys(MEMBER_TEXT) as ChannelMember[]

export function textOf(channel: Channel | undefined, member: ChannelMember): string {
  if (member !== 'headers') return channel?.[member] ?? ''
  return Object.entries(channel?.headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** A change sends only differences: a hidden secret stays as it is. */
export function readChannel(values: Values, channel?: Channel): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const member of CHANNEL_MEMBERS) {
    const text = String(values[member] ?? '')
    if (text === textOf(channel, member)) continue
    body[member] = text === '' ? null : member === 'headers' ? toHeaders(text) : text
  }
  if (values.name !== undefined) body.name = values.name
  const on = values.on as Readonly<Record<string, boolean>>
  const chosen = CONDITIONS.filter((condition) => on[condition])
  body.conditions = chosen.length === CONDITIONS.length ? null : chosen
  if (values.only_firing !== (channel?.only_firing ?? false)) body.only_firing = values.only_firing
  body.delay = values.delay ?? null
  return body
}

/** A line `Name: value` each. */
const toHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [name = '', ...value] = line.split(':')
      return line.trim() === '' ? [] : [[name.trim(), value.join(':').trim()]]
    }),
  )
