// Delivers a message to a channel, and removes secrets from the answer, which is shown to the channel's owner.

import type { Message } from '../channels/channel-kind.ts'
import { KINDS } from '../channels/kinds.ts'
import { secretsOf } from '../channels/secrets.ts'
import { DeliveryError } from './delivery-error.ts'
import type { Mailer } from './mailer.ts'
import { type PostOptions, pinnedPost } from './pinned-post.ts'

/** Resolves to the receiver's answer, or rejects with DeliveryError. */
export type Deliver = (message: Message) => Promise<string>

export interface DeliverOptions {
  readonly post: PostOptions
  /** Absent: no SMTP_URL is set. */
  readonly mailer?: Mailer
  publicUrl(): string
  nowUs(): number
}

/** The number of characters of an answer that are shown. */
const SHOWN = 200
/** Statuses of refusals that may pass with time. */
const TEMPORARY = [408, 425, 429]

export function createDeliver({ post: options, mailer, publicUrl, nowUs }: DeliverOptions): Deliver {
  return (message) => {
    const hide = createHide(secretsOf(message.channel))
    const post = async (url: string, headers: Readonly<Record<string, string>>, body: string) => {
      const { status, text, retryAfterS } = await pinnedPost(url, headers, body, options)
      const shown = hide(text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()).slice(0, SHOWN)
      const answer = shown === '' ? `${status}` : `${status} ${shown}`
      if (status >= 200 && status < 300) return answer
      throw new DeliveryError(`The receiver answered ${answer}`, {
        isGone: status === 410,
        isRefused: status >= 400 && status < 500 && !TEMPORARY.includes(status),
        retryAfterS,
      })
    }
    return KINDS[message.channel.kind].send(message, { post, mailer, nowUs: nowUs(), publicUrl: publicUrl() })
  }
}

/** Receivers may repeat what they were sent. */
const createHide =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
