// How each kind of channel is addressed, and its form; sending is in notify/channels. Free of schemas, for the console.

export type ChannelMember = 'url' | 'to' | 'headers' | 'token' | 'chat' | 'routing_key'

interface ChannelKindEntry {
  readonly label: string
  /** Members of a request. */
  readonly required: readonly ChannelMember[]
  readonly optional?: readonly ChannelMember[]
  /** Never returned: of a URL only the host, of headers only the names. Stored ones are sent to no other server. */
  readonly secret?: readonly ChannelMember[]
  /** In the form: what its address looks like, where it comes from, and the page of its vendor. */
  readonly placeholder?: string
  readonly hint: string
  readonly link?: readonly [label: string, url: string]
}

export const CHANNEL_TABLE = {
  email: {
    label: 'E-mail',
    required: ['to'],
    placeholder: 'ops@example.com',
    hint: 'It receives a link that confirms the address.',
  },
  webhook: {
    label: 'Webhook',
    required: ['url'],
    optional: ['headers'],
    secret: ['headers'],
    placeholder: 'https://example.com/stint',
    hint: 'Any receiver of JSON. Each notification is signed.',
    link: ['How to verify the signature', 'https://www.standardwebhooks.com/'],
  },
  slack: {
    label: 'Slack',
    required: ['url'],
    secret: ['url'],
    placeholder: 'https://hooks.slack.com/services/T000/B000/XXXX',
    hint: 'The URL of an incoming webhook, also of Mattermost.',
    link: ['Create a webhook at Slack', 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/'],
  },
  ntfy: {
    label: 'ntfy',
    required: ['url'],
    optional: ['token'],
    secret: ['token'],
    placeholder: 'https://ntfy.sh/my-jobs',
    hint: 'The URL of a topic that nobody guesses.',
    link: ['How to at ntfy', 'https://docs.ntfy.sh/publish/'],
  },
  discord: {
    label: 'Discord',
    required: ['url'],
    secret: ['url'],
    placeholder: 'https://discord.com/api/webhooks/000/XXXX',
    hint: 'Channel settings, Integrations, Webhooks.',
    link: ['How to at Discord', 'https://support.discord.com/hc/en-us/articles/228383668-Intro-to-Webhooks'],
  },
  teams: {
    label: 'Microsoft Teams',
    required: ['url'],
    secret: ['url'],
    placeholder: 'https://….logic.azure.com/workflows/…',
    hint: 'The URL of a workflow that posts to a channel when a webhook request is received.',
    link: [
      'How to at Microsoft',
      'https://support.microsoft.com/en-us/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498',
    ],
  },
  telegram: {
    label: 'Telegram',
    required: ['token', 'chat'],
    optional: ['url'],
    secret: ['token'],
    hint: 'Create a bot with @BotFather and add it to the chat.',
    link: ['How to at Telegram', 'https://core.telegram.org/bots/tutorial#obtain-your-bot-token'],
  },
  pagerduty: {
    label: 'PagerDuty',
    required: ['routing_key'],
    optional: ['url'],
    secret: ['routing_key'],
    hint: 'Add the integration “Events API V2” to a service.',
    link: ['How to at PagerDuty', 'https://support.pagerduty.com/main/docs/services-and-integrations'],
  },
} as const satisfies Record<string, ChannelKindEntry>

export type ChannelKind = keyof typeof CHANNEL_TABLE
export const CHANNEL_KINDS = Object.keys(CHANNEL_TABLE) as ChannelKind[]
export const channelKind = (kind: ChannelKind): ChannelKindEntry => CHANNEL_TABLE[kind]

/** The URLs that the vendors hand out. Groups are members, which then replace the URL. */
const URLS: Readonly<Partial<Record<ChannelKind, RegExp>>> = {
  /** Mattermost's incoming webhooks take what Slack's do; a Discord webhook with /slack behind it, too. */
  slack:
    /^https:\/\/(?:hooks\.slack(?:-gov)?\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/.+\/slack$)|^https?:\/\/[^?#]+\/hooks\/[a-z0-9]{26}$/,
  ntfy: /^https?:\/\/ntfy\./,
  discord: /^https:\/\/(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/api\/webhooks\//,
  teams: /^https:\/\/[^/?#]+\.(?:logic\.azure\.com|api\.powerplatform\.com|webhook\.office\.com)(?:[:/]|$)/,
  telegram:
    /^https:\/\/api\.telegram\.org\/(?:bot(?<token>\d+:[\w-]+)\/\w*(?:\?(?:[^#]*&)?chat_id=(?<chat>-?\d{1,20}|(?:@|%40)\w{1,64}))?)?/,
  pagerduty:
    /^https:\/\/events\.pagerduty\.com\/integration\/(?<routing_key>[A-Za-z0-9]{32})\/|^https:\/\/events\.(?:eu\.)?pagerduty\.com\//,
}

/** The kind of a channel by the URL that its vendor hands out; any other URL is a webhook. */
export const kindOfUrl = (url: string): ChannelKind => CHANNEL_KINDS.find((kind) => URLS[kind]?.test(url)) ?? 'webhook'

/** The members that are in a URL of this kind. */
export function membersOfUrl(
  kind: ChannelKind,
  url: string,
): Partial<Record<Exclude<ChannelMember, 'headers'>, string>> {
  const found = Object.entries(URLS[kind]?.exec(url)?.groups ?? {}).filter(([, text]) => text !== undefined)
  return found.length === 0
    ? { url }
    : Object.fromEntries(found.map(([member, text]) => [member, text.replace('%40', '@')]))
}

/** Returned instead of a secret. Sent back in a change, it keeps the stored value. */
export const HIDDEN = '…'
