// Address of each kind of channel; sending is in notify/channels. Free of schemas: it is in the console's bundle.

export type ChannelMember = 'url' | 'to' | 'headers' | 'token' | 'chat' | 'routing_key'

export interface ChannelKindEntry {
  readonly label: string
  /** Members of a request. */
  readonly required: readonly ChannelMember[]
  readonly optional?: readonly ChannelMember[]
  /** Never returned: of a URL only the host, of headers only the names. Stored ones are sent to no other server. */
  readonly secret?: readonly ChannelMember[]
}

export const CHANNEL_TABLE = {
  email: { label: 'E-mail', required: ['to'] },
  webhook: { label: 'Webhook (signed JSON)', required: ['url'], optional: ['headers'], secret: ['headers'] },
  slack: { label: 'Slack', required: ['url'], secret: ['url'] },
  ntfy: { label: 'ntfy', required: ['url'], optional: ['token'], secret: ['token'] },
  discord: { label: 'Discord', required: ['url'], secret: ['url'] },
  teams: { label: 'Microsoft Teams (Workflows)', required: ['url'], secret: ['url'] },
  telegram: {
    label: 'Telegram',
    required: ['token', 'chat'],
    optional: ['url'],
    secret: ['token'],
  },
  pagerduty: {
    label: 'PagerDuty',
    required: ['routing_key'],
    optional: ['url'],
    secret: ['routing_key'],
  },
} as const satisfies Record<string, ChannelKindEntry>

export type ChannelKind = keyof typeof CHANNEL_TABLE
export const CHANNEL_KINDS = Object.keys(CHANNEL_TABLE) as ChannelKind[]
export const channelKind = (kind: ChannelKind): ChannelKindEntry => CHANNEL_TABLE[kind]

/** Returned instead of a secret. Sent back in a change, it keeps the stored value. */
export const HIDDEN = '…'
