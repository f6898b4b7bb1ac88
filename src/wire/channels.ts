// Channels: where notifications go.
import { type Static, Type } from '@sinclair/typebox'
import { CHANNEL_KINDS, type ChannelKind, type ChannelMember, channelKind, HIDDEN } from './channel-kinds.ts'
import { CONDITIONS } from './conditions.ts'
import { WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, closed, GivenName, orNull, Text, TimeMs } from './shapes.ts'
import { Span, WatchName } from './watches.ts'

const secretOf = (pattern: string, fault: string, description: string, example: string) =>
  Type.String({ maxLength: 500, pattern: `^(?:${pattern}|${HIDDEN})$`, fault, description, examples: [example] })

const MEMBERS = {
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
    fault: 'must be an http or https URL',
    examples: ['https://example.com/stint'],
  }),
  to: Type.String({ maxLength: 254, format: 'email', examples: ['ada@example.com'] }),
  headers: Type.Record(
    Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }),
    Type.String({ maxLength: 1000, pattern: `^(?:[ -~]*|${HIDDEN})$`, fault: 'must consist of printable ASCII' }),
    { maxProperties: 10, additionalProperties: false, description: 'Sent with each notification of a webhook.' },
  ),
  token: secretOf('[!-~]+', 'must be a token', 'Of a Telegram bot, or of ntfy.', '123456:AA…'),
  chat: Type.String({
    pattern: '^(?:-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64})$',
    fault: 'must be the id of a chat or @channel',
    description: 'Where a Telegram bot posts.',
    examples: ['-1001234567890'],
  }),
  routing_key: secretOf('[A-Za-z0-9]{32}', 'must be an integration key of 32 characters', 'Of PagerDuty.', 'R0…'),
} satisfies Record<ChannelMember, unknown>
export const CHANNEL_MEMBERS = Object.keys(MEMBERS) as ChannelMember[]
export type ChannelMembers = { readonly [M in ChannelMember]?: string | Readonly<Record<string, string>> }

const Filters = {
  conditions: Type.Optional(
    orNull(
      Type.Array(choice(CONDITIONS), {
        minItems: 1,
        uniqueItems: true,
        description: 'Only alerts of these conditions; null: all.',
      }),
    ),
  ),
  only_firing: Type.Optional(Type.Boolean({ description: 'No notification when an alert ends.' })),
  delay: Type.Optional(orNull(Span('Only alerts that still fire after this span. Null: at once.', '15m'))),
}

export const CreateChannel = closed({
  name: Type.Optional(GivenName('phone', 'Absent: the e-mail address, or the label of the kind.')),
  kind: Type.Optional(
    choice(CHANNEL_KINDS, {
      description: 'Absent: by the URL (Slack, Discord, Teams, ntfy, Mattermost …, else webhook), or by what is given.',
    }),
  ),
  ...Type.Partial(Type.Object(MEMBERS)).properties,
  ...Filters,
})
export type CreateChannel = Static<typeof CreateChannel>

export const ChangeChannel = closed({
  name: Type.Optional(WatchName),
  url: Type.Optional(orNull(MEMBERS.url)),
  to: Type.Optional(MEMBERS.to),
  headers: Type.Optional(orNull(MEMBERS.headers)),
  token: Type.Optional(orNull(MEMBERS.token)),
  chat: Type.Optional(MEMBERS.chat),
  routing_key: Type.Optional(MEMBERS.routing_key),
  ...Filters,
  enabled: Type.Optional(Type.Boolean({ description: 'true: use a disabled channel again; false: disable it.' })),
})
export type ChangeChannel = Static<typeof ChangeChannel>

const CHANNEL_STATES = ['untested', 'delivered', 'failing', 'pending', 'disabled'] as const

const Common = {
  id: Text('cha_9d3k7f1w5b8r2t6y'),
  name: Text('on call'),
  kind: choice(CHANNEL_KINDS, { examples: ['webhook'] }),
  url: Type.Optional(
    Text('https://example.com/stint', `Secret parts are ${HIDDEN}; for a viewer everything after the host.`),
  ),
  to: Type.Optional(Type.String()),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: `Each value is ${HIDDEN}.` })),
  token: Type.Optional(Type.String({ description: `Always ${HIDDEN}.` })),
  chat: Type.Optional(Type.String()),
  routing_key: Type.Optional(Type.String({ description: `Always ${HIDDEN}.` })),
  conditions: orNull(Type.Array(choice(CONDITIONS))),
  only_firing: Type.Boolean(),
  delay: orNull(Type.String()),
  state: choice(CHANNEL_STATES, {
    description:
      '`untested`: nothing was sent yet. `delivered`, `failing`: the last notification. `pending`: the e-mail ' +
      'address is not confirmed yet. `disabled`: its receiver answered 410 or unsubscribed, or you did.',
  }),
  last: orNull(Type.Object({ at: TimeMs, ok: Type.Boolean(), detail: Type.String() })),
  former_until: Type.Optional(
    Type.String({ ...TimeMs, description: 'After its secret was replaced: until then the one before signs, too.' }),
  ),
  created_at: TimeMs,
}

export const Channel = Type.Object(Common)
export type Channel = Static<typeof Channel>

export const NewChannel = Type.Object({
  channel: Type.Object({
    ...Common,
    secret: Type.Optional(
      Text('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'Signs the notifications of a webhook. Shown this once.'),
    ),
  }),
  test: Type.Optional(
    Type.Object({ detail: Type.String() }, { description: "With `test=true`: the receiver's answer." }),
  ),
})
export type NewChannel = Static<typeof NewChannel>

const ChannelAnswer = Type.Object({ channel: Channel })
/** Secrets cannot be compared by what is returned. */
export const ChangedChannel = Type.Object({ channel: Channel, changed: Type.Boolean({ examples: [true] }) })
export type ChangedChannel = Static<typeof ChangedChannel>
export const Channels = Type.Object({
  channels: Type.Array(Channel),
  email: Type.Boolean({ description: 'Whether e-mail is set up, so that a channel of this kind can be created.' }),
})
export type Channels = Static<typeof Channels>
const TestAnswer = Type.Object({ detail: Text('204', "The receiver's answer.") })

const route = { tag: 'watches', access: 'manage' } as const

/** `ntfy`: `url`, optionally `token` */
function wordMembers(kind: ChannelKind): string {
  const { required, optional = [] } = channelKind(kind)
  const quote = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(' and ')
  return `\`${kind}\`: ${quote(required)}${optional.length === 0 ? '' : `, optionally ${quote(optional)}`}`
}

export const LIST_CHANNELS = defineRoute('GET /api/channels', {
  ...route,
  access: 'view',
  hasTag: true,
  summary: 'List channels',
  answers: { 200: json('The channels, by name', Channels) },
})

export const CREATE_CHANNEL = defineRoute('POST /api/channels', {
  ...route,
  audit: 'channel_created',
  summary: 'Create a channel',
  ownParameters: {
    test: choice(['true', 'false'], {
      description:
        'true: first send a test notification. The channel is created only if the receiver accepts it, and the ' +
        'answer says what it answered. An e-mail address is sent the link that confirms it.',
    }),
  },
  description:
    `Without \`kind\`, the URL decides. ${CHANNEL_KINDS.map(wordMembers).join('; ')}. A \`url\` that is optional ` +
    "replaces the vendor's address. A webhook is signed as Standard Webhooks describes. An e-mail channel is pending " +
    'until its first e-mail is confirmed.',
  body: jsonBody(CreateChannel, { name: 'on call', url: 'https://example.com/stint' }),
  answers: { 201: json('The channel; the secret of a webhook is shown this once', NewChannel) },
  problems: ['limit_reached', 'channel_failed'],
})

export const SHOW_CHANNEL = defineRoute('GET /api/channels/:id', {
  ...route,
  access: 'view',
  summary: 'Show a channel',
  answers: { 200: json('The channel', ChannelAnswer) },
})

export const CHANGE_CHANNEL = defineRoute('PATCH /api/channels/:id', {
  ...route,
  audit: 'channel_changed',
  summary: 'Change a channel',
  description:
    `Only what is named changes; null removes an optional member, and ${HIDDEN} keeps a secret. A change of the ` +
    'address to another scheme, host or port must give the secrets that are sent there again.',
  body: jsonBody(ChangeChannel, { delay: '15m', conditions: ['failed', 'late'] }),
  answers: { 200: json('The channel, and whether anything changed', ChangedChannel) },
})

const NewSecret = Type.Object({
  channel: Type.Object({
    ...Common,
    secret: Text('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'Shown this once.'),
    former_until: { ...TimeMs, description: 'Until then the secret before it signs, too.' },
  }),
})
export type NewSecret = Static<typeof NewSecret>

export const REPLACE_SECRET = defineRoute('POST /api/channels/:id/secret', {
  ...route,
  audit: 'channel_secret_replaced',
  summary: 'Replace the secret that signs a webhook',
  description:
    'For a day each notification has two signatures in `webhook-signature`, by the new secret and by the one before ' +
    'it, so that the receiver can be changed meanwhile.',
  answers: { 200: json('The channel with its new secret', NewSecret) },
})

export const DELETE_CHANNEL = defineRoute('DELETE /api/channels/:id', {
  ...route,
  audit: 'channel_deleted',
  summary: 'Delete a channel',
  description: 'Watches no longer use it; what was not delivered yet is dropped.',
  answers: { 204: { description: 'It is deleted' } },
})

export const TEST_CHANNEL = defineRoute('POST /api/channels/:id/test', {
  ...route,
  audit: 'channel_tested',
  summary: 'Send a test notification',
  answers: { 200: json('It was delivered', TestAnswer) },
  problems: ['channel_failed'],
})

const LINK_PROBLEMS = ['not_found', 'rate_limited', 'internal', 'store_unavailable'] as const
const ownParameters = { token: Type.String({ description: 'From the link.' }) }
const link = { tag: 'watches', access: 'anyone', ownParameters } as const
const page = (description: string) => ({ 200: { description, body: '<!doctype html>…' } })

export const ASK_CONFIRMATION = defineRoute('GET /api/channels/confirm', {
  ...link,
  summary: 'Show the page that confirms an e-mail address',
  description: 'It changes nothing: scanners open links.',
  answers: page('A page with a button'),
  problems: LINK_PROBLEMS,
})

export const CONFIRM_CHANNEL = defineRoute('POST /api/channels/confirm', {
  ...link,
  summary: 'Confirm an e-mail address',
  answers: page('It is confirmed'),
  problems: [...LINK_PROBLEMS, ...WRITE_PROBLEMS],
})

export const ASK_UNSUBSCRIPTION = defineRoute('GET /api/channels/unsubscribe', {
  ...link,
  summary: 'Show the page that unsubscribes an e-mail address',
  answers: page('A page with a button'),
  problems: LINK_PROBLEMS,
})

export const UNSUBSCRIBE_CHANNEL = defineRoute('POST /api/channels/unsubscribe', {
  ...link,
  summary: 'Disable the channel of an e-mail address, by the link in each of its e-mails',
  description: 'Mail programs send this request by themselves (RFC 8058).',
  answers: page('It is disabled'),
  problems: [...LINK_PROBLEMS, ...WRITE_PROBLEMS],
})
