// The table of all kinds of channels. A new kind is its file, a line here, and how it is addressed in
// wire/channel-kinds.ts.
import type { ChannelKind } from '../../wire/channel-kinds.ts'
import type { ChannelKindSender } from './channel-kind.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { ntfy } from './ntfy.ts'
import { pagerduty } from './pagerduty.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

export const KINDS = { email, webhook, slack, ntfy, discord, teams, telegram, pagerduty } satisfies {
  readonly [K in ChannelKind]: ChannelKindSender
} as { readonly [K in ChannelKind]: ChannelKindSender }
