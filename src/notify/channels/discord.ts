// A webhook of Discord: https://discord.com/developers/docs/resources/webhook#execute-webhook
import { describe, escapeMarkdown } from '../delivery/notification-text.ts'
import { type ChannelKindSender, isFiring, JSON_TYPE, PEOPLE } from './channel-kind.ts'

const RED = 0xd1242f
const GREEN = 0x1a7f37
// Discord's limits, in characters
const TITLE = 256
const DESCRIPTION = 3000
const FIELDS = 20
const FIELD_VALUE = 1024

export const discord: ChannelKindSender = {
  ...PEOPLE,
  send({ channel, bodies }, { post, nowUs }) {
    const { title, lines, facts, url } = describe(bodies)
    const embed = {
      title: title.slice(0, TITLE),
      ...(url !== '' && { url }),
      color: isFiring(bodies) ? RED : GREEN,
      timestamp: new Date(nowUs / 1000).toISOString(),
      ...(lines.length > 0 && { description: lines.map(escapeMarkdown).join('\n').slice(0, DESCRIPTION) }),
      // Discord refuses a message with an empty field
      fields: facts
        .filter(([, value]) => value.trim() !== '')
        .slice(0, FIELDS)
        .map(([name, value]) => ({
          name,
          value: escapeMarkdown(value).slice(0, FIELD_VALUE),
          inline: value.length < 40,
        })),
    }
    // no name in a notification may mention a person or a role
    const body = { username: 'Stint', embeds: [embed], allowed_mentions: { parse: [] } }
    return post(channel.target, JSON_TYPE, JSON.stringify(body))
  },
}
