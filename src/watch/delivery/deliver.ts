// Delivers to one channel, depending on its kind. Several notifications become one digest; a webhook gets them individually.
import { createHmac } from 'node:crypto'
import type { Channel, NotificationBody } from '../storage/watch-store.ts'
import { DeliveryError } from './delivery-error.ts'
import type { Mailer } from './mailer.ts'
import { toHtml, toMrkdwn, toSubject, toText } from './notification-text.ts'
import { type PostOptions, pinnedPost } from './pinned-post.ts'

/** `id` is the same for every attempt. Resolves to the receiver's answer, or rejects with DeliveryError. */
export type Deliver = (channel: Channel, id: string, bodies: readonly NotificationBody[]) => Promise<string>

export interface DeliverOptions {
  readonly post: PostOptions
  /** Absent: no SMTP_URL is set. */
  readonly mailer?: Mailer
  nowUs(): number
}

/** The number of characters of an answer that are shown. */
const SHOWN = 200

export function createDeliver({ post, mailer, nowUs }: DeliverOptions): Deliver {
  async function send(channel: Channel, headers: Record<string, string>, body: string): Promise<string> {
    const { status, text } = await pinnedPost(channel.target, headers, body, post)
    const shown = text
      .replace(/[\u0000-\u001f\u007f]+/g, ' ')
      .trim()
      .slice(0, SHOWN)
    const answer = shown === '' ? `${status}` : `${status} ${shown}`
    if (status >= 200 && status < 300) return answer
    throw new DeliveryError(`The receiver answered ${answer}`, { isGone: status === 410 })
  }

  return async (channel, id, bodies) => {
    switch (channel.kind) {
      case 'webhook': {
        const { facts: _, ...webhook } = bodies[0]!
        const body = JSON.stringify(webhook)
        const signed = signWebhook(channel.secret ?? '', id, nowUs(), body)
        return send(channel, { 'content-type': 'application/json', ...signed }, body)
      }
      case 'slack':
        return send(channel, { 'content-type': 'application/json' }, JSON.stringify({ text: toMrkdwn(bodies) }))
      case 'ntfy':
        return send(channel, ntfyHeaders(bodies), toText(bodies))
      case 'email':
        if (mailer === undefined) throw new DeliveryError('E-mail is not set up: the operator must set SMTP_URL.')
        return mailer.send({
          to: channel.target,
          subject: toSubject(bodies),
          text: toText(bodies),
          html: toHtml(bodies),
          id,
        })
      default:
        return channel.kind satisfies never
    }
  }
}

function ntfyHeaders(bodies: readonly NotificationBody[]): Record<string, string> {
  const isFiring = bodies.some(({ type }) => type === 'alert.firing' || type === 'alert.reminder')
  const { url } = bodies[0]!.data
  return {
    'content-type': 'text/plain; charset=utf-8',
    title: encodeHeader(toSubject(bodies)),
    priority: isFiring ? 'high' : 'default',
    tags: isFiring ? 'rotating_light' : 'white_check_mark',
    ...(url !== '' && { click: url }),
  }
}

/** Headers hold ASCII; ntfy decodes RFC 2047. */
const encodeHeader = (text: string): string =>
  /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`

// The headers of Standard Webhooks (standardwebhooks.com): an id that stays the same over retries, the time of sending, and an HMAC-SHA-256 over both and the body.
/** `secret` is `whsec_` and base64. */
export function signWebhook(secret: string, id: string, nowUs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowUs / 1e6))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
