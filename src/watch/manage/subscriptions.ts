// E-mail channels are used with their recipient's consent: a link confirms the address, another one unsubscribes it.
// Opening a link changes nothing, because mail scanners open links; the page's button does.
import { timingSafeEqual } from 'node:crypto'
import { linkedHtml } from '../../notify/delivery/notification-text.ts'
import type { Tokens } from '../../notify/delivery/tokens.ts'
import type { StoredChannel } from '../../notify/notification.ts'
import { Problem } from '../../problem.ts'
import { toBody } from '../engine/describe-alert.ts'
import { createToken } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { StoredAlert } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { ConfirmationMails } from './confirmation-mails.ts'

const CONFIRMATIONS = { burst: 3, everyS: 600 }

interface SubscriptionsOptions {
  readonly store: WatchStore
  /** Undefined without a mail server. */
  readonly mails: ConfirmationMails | undefined
  /** The e-mail shows the channel's name. */
  readonly isNamed: boolean
  readonly tokens: Tokens
  publicUrl(): string
  nowUs(): number
  hash(secret: string): string
}

export function createSubscriptions({ store, mails, isNamed, tokens, publicUrl, nowUs, hash }: SubscriptionsOptions) {
  /** Rejects with Problem `not_found`. */
  async function findByLink(token: string): Promise<StoredChannel> {
    const [, id = '', secret = ''] = /^(cha_\w{1,40})\.([\w-]{20,100})$/.exec(token) ?? []
    const channel = id === '' ? undefined : await store.channel(id)
    if (channel?.kind === 'email' && channel.secret !== null && isSame(channel.secret, secret)) return channel
    throw new Problem('not_found', 'This link is not valid any more: the channel was deleted.')
  }

  return {
    /** To be called before the hash of a link's token is stored. Throws Problem `rate_limited`. */
    reserve(account: string): void {
      if (mails !== undefined && !tokens.take(`confirm ${account}`, CONFIRMATIONS))
        throw new Problem('rate_limited', 'Too many e-mail addresses were to be confirmed. Try again later.', {
          retryAfterS: CONFIRMATIONS.everyS,
        })
    },
    /** Sends the link that confirms the address. Returns the last answer that the channel then shows. */
    async ask(channel: StoredChannel, token: string): Promise<StoredChannel['last']> {
      if (mails === undefined) return channel.last
      const { id, target, name } = channel
      const url = `${publicUrl()}/api/channels/confirm?token=${token}`
      const text = [
        `Someone added this address to Stint at ${publicUrl()} as ${isNamed ? `the channel "${name}"` : 'a channel'}.`,
        `To receive alerts here, open this link and confirm:\n${url}`,
        'If you did not expect this, ignore it: no more e-mails will follow.',
      ].join('\n\n')
      const html = linkedHtml(text, url)
      const subject = '[Stint] Confirm this address'
      return mails.send(channel, { to: target, subject, text, html, id: `confirm-${id}-${nowUs()}` })
    },

    /** The channel that the link would confirm. Rejects with Problem `not_found`. */
    async confirmable(token: string): Promise<StoredChannel> {
      const channel = isToken(token) ? await store.channelToConfirm(hash(token)) : undefined
      return channel ?? outdated()
    },
    async confirm(token: string): Promise<StoredChannel> {
      const now = nowUs()
      const body = (watch: StoredWatch, alert: StoredAlert) =>
        toBody({ type: 'alert.firing', alert, watch, summary: alert.summary, nowUs: now, publicUrl: publicUrl() })
      const channel = isToken(token) ? await store.confirmChannel(hash(token), now, body) : undefined
      return channel ?? outdated()
    },

    /** The channel that the link would unsubscribe. Rejects with Problem `not_found`. */
    unsubscribable: findByLink,
    /** Before it is used again, its address must be confirmed again. */
    async unsubscribe(token: string): Promise<StoredChannel> {
      const channel = await findByLink(token)
      const last = { atUs: nowUs(), ok: false, detail: 'Unsubscribed by its recipient.' }
      const changed = { id: channel.id, state: 'disabled' as const, confirm: hash(createToken()), last }
      await store.settle([], changed, nowUs(), 'dropped')
      return { ...channel, ...changed }
    },
  }
}

const isToken = (token: string): boolean => /^[\w-]{43}$/.test(token)

function outdated(): never {
  throw new Problem(
    'not_found',
    'This link was used already, or is not valid any more. If no alerts arrive, ask a member of the account for ' +
      'another one (stint channel change NAME --enable).',
  )
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}
