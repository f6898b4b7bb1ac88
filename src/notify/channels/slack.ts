// An incoming webhook of Slack or a compatible service (Mattermost, Rocket.Chat).
import { toMrkdwn } from '../delivery/notification-text.ts'
import { type ChannelKindSender, JSON_TYPE, PEOPLE } from './channel-kind.ts'

export const slack: ChannelKindSender = {
  ...PEOPLE,
  send: ({ channel, bodies }, { post }) => post(channel.target, JSON_TYPE, JSON.stringify({ text: toMrkdwn(bodies) })),
}
