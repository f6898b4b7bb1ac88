// What the form of a channel says for each kind: what its address looks like, and where its vendor describes it.
import type { ChannelKind, ChannelMember } from '../../wire/channel-kinds.ts'

interface KindText {
  readonly label: string
  readonly placeholder?: string
  readonly hint: string
  readonly link?: readonly [label: string, url: string]
}

export const KIND_TEXT: Readonly<Record<ChannelKind, KindText>> = {
  email: { label: 'E-mail', placeholder: 'ops@example.com', hint: 'It receives a link that confirms the address.' },
  slack: {
    label: 'Slack',
    placeholder: 'https://hooks.slack.com/services/T000/B000/XXXX',
    hint: 'The URL of an incoming webhook, also of Mattermost.',
    link: ['Create a webhook at Slack', 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/'],
  },
  discord: {
    label: 'Discord',
    placeholder: 'https://discord.com/api/webhooks/000/XXXX',
    hint: 'Channel settings, Integrations, Webhooks.',
    link: ['How to at Discord', 'https://support.discord.com/hc/en-us/articles/228383668-Intro-to-Webhooks'],
  },
  teams: {
    label: 'Teams',
    placeholder: 'https://….logic.azure.com/workflows/…',
    hint: 'The URL of a workflow that posts to a channel when a webhook request is received.',
    link: [
      'How to at Microsoft',
      'https://support.microsoft.com/en-us/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498',
    ],
  },
  ntfy: {
    label: 'ntfy',
    placeholder: 'https://ntfy.sh/my-jobs',
    hint: 'The URL of a topic that nobody guesses.',
    link: ['How to at ntfy', 'https://docs.ntfy.sh/publish/'],
  },
  telegram: {
    label: 'Telegram',
    hint: 'Create a bot with @BotFather and add it to the chat.',
    link: ['How to at Telegram', 'https://core.telegram.org/bots/tutorial#obtain-your-bot-token'],
  },
  pagerduty: {
    label: 'PagerDuty',
    hint: 'Add the integration “Events API V2” to a service.',
    link: ['How to at PagerDuty', 'https://support.pagerduty.com/main/docs/services-and-integrations'],
  },
  webhook: {
    label: 'Webhook',
    placeholder: 'https://example.com/stint',
    hint: 'Any receiver of JSON. Each notification is signed.',
    link: ['How to verify the signature', 'https://www.standardwebhooks.com/'],
  },
}

export const MEMBER_TEXT = {
  url: { label: 'Address' },
  to: { label: 'E-mail' },
  headers: { label: 'Headers', hint: 'One per line, such as Authorization: Bearer 123. Sent with each notification.' },
  token: { label: 'Token', hint: 'Of the bot, or of the ntfy user.' },
  chat: { label: 'Chat', hint: 'The id of the chat, or @channel.' },
  routing_key: { label: 'Integration key', hint: 'Of a PagerDuty service, 32 characters.' },
} as const satisfies Record<ChannelMember, object>

export const CHANNEL_MEMBERS = Object.keys(MEMBER_TEXT) as ChannelMember[]
