// A topic of ntfy: the text as the body, everything else in headers.
import { toSubject, toText } from '../delivery/notification-text.ts'
import { type ChannelKindSender, isFiring, memberOf, PEOPLE } from './channel-kind.ts'

export const ntfy: ChannelKindSender = {
  ...PEOPLE,
  send({ channel, bodies }, { post }) {
    const { url } = bodies[0]!.data
    const token = memberOf(channel, 'token')
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      title: encodeHeader(toSubject(bodies)),
      priority: isFiring(bodies) ? 'high' : 'default',
      tags: isFiring(bodies) ? 'rotating_light' : 'white_check_mark',
      ...(url !== '' && { click: url }),
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    }
    return post(channel.target, headers, endAt(toText(bodies), MAX_BYTES))
  },
}

/** ntfy turns a longer message (4,096 bytes) into a file. */
const MAX_BYTES = 4000

/** The beginning of the text with an ellipsis, if it is longer; a character is whole or left out. */
function endAt(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const kept = bytes.subarray(0, maxBytes - Buffer.byteLength('…'))
  return `${new TextDecoder().decode(kept, { stream: true })}…`
}

/** Headers hold ASCII; ntfy decodes RFC 2047. */
const encodeHeader = (text: string): string =>
  /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
