// Channels: where notifications go.
import { type Static, Type } from '@sinclair/typebox'
import { BODY_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, closed, orNull, TimeMs } from './shapes.ts'
import { GivenName, MANAGE_PROBLEMS } from './watches.ts'

export const CHANNEL_KINDS = ['email', 'webhook', 'slack', 'ntfy'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

const Address = Type.String({
  minLength: 1,
  maxLength: 2000,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  fault: 'must be an http or https URL',
  examples: ['https://example.com/stint'],
})
const To = Type.String({ maxLength: 254, format: 'email', examples: ['ada@example.com'] })

export const CreateChannel = closed({
  name: GivenName,
  kind: choice(CHANNEL_KINDS),
  url: Type.Optional(Address),
  to: Type.Optional(To),
})
export type CreateChannel = Static<typeof CreateChannel>

export const ChangeChannel = closed({
  name: Type.Optional(GivenName),
  url: Type.Optional(Address),
  to: Type.Optional(To),
  enabled: Type.Optional(Type.Boolean({ description: 'true: use a disabled channel again; false: disable it.' })),
})
export type ChangeChannel = Static<typeof ChangeChannel>

const Common = {
  id: Type.String(),
  name: Type.String(),
  kind: choice(CHANNEL_KINDS),
  url: Type.Optional(Type.String({ description: 'Of a Slack channel only the host, after its creation.' })),
  to: Type.Optional(Type.String()),
  state: choice(['ok', 'pending', 'disabled'] as const, {
    description:
      '`pending`: the e-mail address is not confirmed yet. `disabled`: its receiver answered 410, or you did.',
  }),
  last: orNull(Type.Object({ at: TimeMs, ok: Type.Boolean(), detail: Type.String() })),
  created_at: TimeMs,
}

export const Channel = Type.Object(Common)
export type Channel = Static<typeof Channel>

export const NewChannel = Type.Object({
  channel: Type.Object({
    ...Common,
    secret: Type.Optional(Type.String({ description: 'Signs the notifications of a webhook. Shown this once.' })),
  }),
})
export type NewChannel = Static<typeof NewChannel>

export const ChannelAnswer = Type.Object({ channel: Channel })
export type ChannelAnswer = Static<typeof ChannelAnswer>
export const Channels = Type.Object({ channels: Type.Array(Channel) })
export type Channels = Static<typeof Channels>
export const TestAnswer = Type.Object({ detail: Type.String({ description: "The receiver's answer." }) })

const CHANNEL: Channel = {
  id: 'cha_9d3k7f1w5b8r2t6y',
  name: 'on call',
  kind: 'webhook',
  url: 'https://example.com/stint',
  state: 'ok',
  last: { at: '2026-11-21T03:10:02.000Z', ok: true, detail: '204' },
  created_at: '2026-11-20T21:52:42.171Z',
}

const CHANGE_PROBLEMS = [...MANAGE_PROBLEMS, ...WRITE_PROBLEMS] as const
const route = { tag: 'watches', access: 'manage' } as const

export const LIST_CHANNELS = defineRoute('GET /api/channels', {
  ...route,
  summary: 'List channels',
  answers: { 200: json('The channels, by name', Channels, { channels: [CHANNEL] }) },
  problems: MANAGE_PROBLEMS,
})

export const CREATE_CHANNEL = defineRoute('POST /api/channels', {
  ...route,
  summary: 'Create a channel',
  description:
    '`email` has `to`, all others have `url`. A webhook is signed as Standard Webhooks describes. An e-mail channel is pending until the link in its first e-mail is opened.',
  body: jsonBody(CreateChannel, { name: CHANNEL.name, kind: 'webhook', url: 'https://example.com/stint' }),
  answers: {
    201: json('The channel; the secret of a webhook is shown this once', NewChannel, {
      channel: { ...CHANNEL, last: null, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    }),
  },
  problems: [...CHANGE_PROBLEMS, ...BODY_PROBLEMS, 'limit_reached'],
})

export const SHOW_CHANNEL = defineRoute('GET /api/channels/:id', {
  ...route,
  summary: 'Show a channel',
  answers: { 200: json('The channel', ChannelAnswer, { channel: CHANNEL }) },
  problems: [...MANAGE_PROBLEMS, 'not_found'],
})

export const CHANGE_CHANNEL = defineRoute('PATCH /api/channels/:id', {
  ...route,
  summary: 'Change a channel',
  body: jsonBody(ChangeChannel, { enabled: true }),
  answers: { 200: json('The channel', ChannelAnswer, { channel: CHANNEL }) },
  problems: [...CHANGE_PROBLEMS, ...BODY_PROBLEMS, 'not_found'],
})

export const DELETE_CHANNEL = defineRoute('DELETE /api/channels/:id', {
  ...route,
  summary: 'Delete a channel',
  description: 'Watches no longer use it; what was not delivered yet is dropped.',
  answers: { 204: { description: 'It is deleted' } },
  problems: [...CHANGE_PROBLEMS, 'not_found'],
})

export const TEST_CHANNEL = defineRoute('POST /api/channels/:id/test', {
  ...route,
  summary: 'Send a test notification',
  answers: { 200: json('It was delivered', TestAnswer, { detail: '204' }) },
  problems: [...CHANGE_PROBLEMS, 'not_found', 'channel_failed'],
})

export const CONFIRM_CHANNEL = defineRoute('GET /api/channels/confirm', {
  tag: 'watches',
  access: 'anyone',
  summary: 'Confirm an e-mail address by the link that was sent to it',
  ownParameters: { token: Type.String({ description: 'From the link.' }) },
  answers: { 200: { description: 'It is confirmed', body: 'The address is confirmed.' } },
  problems: ['not_found', 'rate_limited', 'internal', 'store_unavailable'],
})
