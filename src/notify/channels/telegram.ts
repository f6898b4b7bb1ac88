// A bot of Telegram: https://core.telegram.org/bots/api#sendmessage
import { describe } from '../delivery/notification-text.ts'
import { type ChannelKindSender, JSON_TYPE, memberOf, PEOPLE } from './channel-kind.ts'
import { serverOf } from './secrets.ts'

/** Of a message, in characters after its entities are read. */
const TEXT = 4096
const LINES = 3000
const VALUE = 300

export const telegram: ChannelKindSender = {
  ...PEOPLE,
  faults: (channel) =>
    /^\d+:[\w-]+$/.test(memberOf(channel, 'token'))
      ? []
      : [{ pointer: '/token', detail: 'must be the token of a bot, such as 123456:AA…' }],
  send({ channel, bodies }, { post }) {
    const { title, lines, facts, url } = describe(bodies)
    const rows = facts.slice(0, 10).map(([label, value]) => `${label}: ${Bun.escapeHTML(value.slice(0, VALUE))}`)
    const text = [
      `<b>${Bun.escapeHTML(title)}</b>`,
      ...(lines.length > 0 ? [Bun.escapeHTML(lines.join('\n').slice(0, LINES))] : []),
      ...rows,
      ...(url === '' ? [] : [`<a href="${Bun.escapeHTML(url)}">Open in Stint</a>`]),
    ].join('\n')
    const body = {
      chat_id: memberOf(channel, 'chat'),
      text: text.length > 2 * TEXT ? Bun.escapeHTML(title.slice(0, TEXT)) : text,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }
    const server = serverOf(channel).replace(/\/+$/, '')
    return post(`${server}/bot${memberOf(channel, 'token')}/sendMessage`, JSON_TYPE, JSON.stringify(body))
  },
}
