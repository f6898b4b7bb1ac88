// A channel in words.

import { CHANNEL_TABLE } from '../../wire/channel-kinds.ts'
import type { Channel } from '../../wire/channels.ts'
import { spellSpan } from '../../wire/span-text.ts'

/** `Slack · https://hooks.slack.com/… · after 15 min · only late, failed`. */
export const describeChannel = (channel: Channel): string =>
  [
    CHANNEL_TABLE[channel.kind].label,
    addressOf(channel),
    channel.delay && `after ${spellSpan(channel.delay)}`,
    channel.conditions && `only ${channel.conditions.join(', ')}`,
    channel.only_firing && 'not when resolved',
  ]
    .filter(Boolean)
    .join(' · ')

/** Where it goes, without what is secret. */
const addressOf = ({ to, url, chat }: Channel): string =>
  [to ?? url, chat].filter((part) => part !== undefined).join(' · ')
