// Manages an account's channels: create, change, confirm, test, delete.
import { Problem } from '../../problem.ts'
import type { ChangeChannel, Channel as ChannelAnswer, CreateChannel, NewChannel } from '../../wire/channels.ts'
import type { Deliver } from '../delivery/deliver.ts'
import { DeliveryError } from '../delivery/delivery-error.ts'
import type { Mailer } from '../delivery/mailer.ts'
import { createTokens } from '../delivery/tokens.ts'
import { toBody } from '../evaluate/describe-alert.ts'
import { createId, createSigningSecret, createToken } from '../random-id.ts'
import type { Alert, Channel, NotificationBody, WatchStore } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'

const CHANNELS_MAX = 50
/** Limits an account's tests and confirmations: they may reach people who did not ask for them. */
const MESSAGES = { burst: 10, everyS: 60 }
const CONFIRMATIONS = { burst: 3, everyS: 600 }
const EMAIL = /^[^\s@<>()[\],;:"\\\u0000-\u001f\u007f]+@[^\s@<>()[\],;:"\\\u0000-\u001f\u007f]+\.[^\s@<>()[\],;:"\\]+$/

export interface ManageChannelsOptions {
  readonly store: WatchStore
  readonly deliver: Deliver
  readonly mailer: Mailer | undefined
  publicUrl(): string
  nowUs(): number
  hash(secret: string): string
}

export type ManageChannels = ReturnType<typeof createManageChannels>

/** Methods reject with Problem `not_found`, `fields_invalid`, `limit_reached`, `rate_limited`, `channel_failed`. */
export function createManageChannels({ store, deliver, mailer, publicUrl, nowUs, hash }: ManageChannelsOptions) {
  const tokens = createTokens(nowUs)

  async function find(account: string, id: string): Promise<Channel> {
    const channel = await store.channel(id)
    if (channel?.account !== account) throw new Problem('not_found', 'The account has no channel with this id.')
    return channel
  }

  async function sendConfirmation({ account, id, target, name }: Channel, token: string): Promise<void> {
    if (mailer === undefined) return
    if (!tokens.take(`confirm ${account}`, CONFIRMATIONS))
      throw new Problem('rate_limited', 'Too many e-mail addresses were to be confirmed. Try again later.', {
        retryAfterS: CONFIRMATIONS.everyS,
      })
    const url = `${publicUrl()}/api/channels/confirm?token=${token}`
    const text = `Someone added this address to Stint at ${publicUrl()} as the channel "${name}".\n\nTo receive alerts here, open this link:\n${url}\n\nIf you did not expect this, ignore it: no more e-mails will follow.`
    const html = text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replace(url, `<a href="${url}">${url}</a>`)
      .replaceAll('\n', '<br>')
    const mail = { to: target, subject: '[Stint] Confirm this address', text, html, id: `confirm-${id}-${nowUs()}` }
    await mailer.send(mail).catch(async (error: DeliveryError) => {
      const channel = await store.channel(id)
      if (channel) await store.putChannel({ ...channel, last: { atUs: nowUs(), ok: false, detail: error.message } })
    })
  }

  return {
    list: async (account: string) => (await store.channels(account)).map(answerChannel),
    show: async (account: string, id: string) => answerChannel(await find(account, id)),

    async create(account: string, { name, kind, url, to }: CreateChannel): Promise<NewChannel['channel']> {
      assertTarget(kind, url, to, mailer !== undefined)
      const token = createToken()
      const isEmail = kind === 'email'
      const channel: Channel = {
        id: createId('cha'),
        account,
        name: name.trim(),
        kind,
        target: (isEmail ? to : url) ?? '',
        secret: kind === 'webhook' ? createSigningSecret() : null,
        state: isEmail ? 'pending' : 'ok',
        confirm: isEmail ? hash(token) : null,
        last: null,
        settings: { members: {}, conditions: null, only_firing: false, delay: null },
        createdUs: nowUs(),
      }
      if (!(await store.addChannel(channel, CHANNELS_MAX)))
        throw new Problem('limit_reached', `An account has at most ${CHANNELS_MAX} channels. Delete one first.`)
      if (isEmail) await sendConfirmation(channel, token)
      const answer = answerChannel(channel)
      return {
        ...answer,
        ...(!isEmail && { url: channel.target }),
        ...(channel.secret !== null && { secret: channel.secret }),
      }
    },

    async change(account: string, id: string, { name, url, to, enabled }: ChangeChannel): Promise<ChannelAnswer> {
      const channel = await find(account, id)
      const isEmail = channel.kind === 'email'
      if ((isEmail ? url : to) !== undefined || to !== undefined || url !== undefined)
        assertTarget(channel.kind, isEmail ? url : (url ?? channel.target), isEmail ? (to ?? channel.target) : to, true)
      const target = (isEmail ? to : url) ?? channel.target
      const isNewAddress = isEmail && target !== channel.target
      const token = createToken()
      const isPending = isNewAddress || channel.confirm !== null
      const state = enabled === false ? 'disabled' : isPending ? 'pending' : enabled === true ? 'ok' : channel.state
      const changed: Channel = {
        ...channel,
        name: name?.trim() ?? channel.name,
        target,
        state,
        confirm: isNewAddress ? hash(token) : channel.confirm,
      }
      await store.putChannel(changed)
      if (isNewAddress) await sendConfirmation(changed, token)
      return answerChannel(changed)
    },

    async remove(account: string, id: string): Promise<void> {
      await find(account, id)
      await store.removeChannel(account, id)
    },

    /** The receiver's answer. */
    async test(account: string, id: string): Promise<string> {
      const channel = await find(account, id)
      if (channel.state === 'pending')
        throw new Problem(
          'channel_failed',
          'The e-mail address is not confirmed yet: open the link that was sent to it.',
        )
      if (!tokens.take(`test ${account}`, MESSAGES))
        throw new Problem('rate_limited', 'Too many test notifications.', { retryAfterS: MESSAGES.everyS })
      try {
        const detail = await deliver(channel, createId('msg'), [testBody(channel, nowUs(), publicUrl())])
        await store.putChannel({ ...channel, last: { atUs: nowUs(), ok: true, detail } })
        return detail
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        await store.putChannel({ ...channel, last: { atUs: nowUs(), ok: false, detail: error.message } })
        throw new Problem('channel_failed', error.message, { cause: error })
      }
    },

    async confirm(token: string): Promise<void> {
      const isToken = /^[\w-]{43}$/.test(token)
      const now = nowUs()
      const body = (watch: StoredWatch, alert: Alert) =>
        toBody({ type: 'alert.firing', alert, watch, summary: alert.summary, nowUs: now, publicUrl: publicUrl() })
      if (isToken && (await store.confirmChannel(hash(token), now, body)) !== undefined) return
      throw new Problem('not_found', 'This link is not valid any more. Add the channel again to get a new one.')
    },
  }
}

function assertTarget(
  kind: Channel['kind'],
  url: string | undefined,
  to: string | undefined,
  hasMailer: boolean,
): void {
  const errors: { pointer: string; detail: string }[] = []
  const [wanted, other] = kind === 'email' ? (['to', 'url'] as const) : (['url', 'to'] as const)
  const value = wanted === 'to' ? to : url
  if ((wanted === 'to' ? url : to) !== undefined)
    errors.push({ pointer: `/${other}`, detail: `does not belong to a channel of the kind ${kind}` })
  if (value === undefined) errors.push({ pointer: `/${wanted}`, detail: 'is required' })
  else if (wanted === 'to' && !EMAIL.test(value)) errors.push({ pointer: '/to', detail: 'must be an e-mail address' })
  else if (wanted === 'url' && !isHttpUrl(value))
    errors.push({ pointer: '/url', detail: 'must be an http or https URL without user and password' })
  else if (kind === 'email' && !hasMailer)
    errors.push({ pointer: '/kind', detail: 'e-mail is not set up: the operator must set SMTP_URL' })
  if (errors.length > 0) throw new Problem('fields_invalid', 'The channel cannot be saved.', { errors })
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username + password === ''
}

/** The path of a Slack URL is its secret. */
export function answerChannel({ id, name, kind, target, state, last, createdUs }: Channel): ChannelAnswer {
  const url = kind === 'slack' ? `${new URL(target).origin}/…` : target
  return {
    id,
    name,
    kind,
    ...(kind === 'email' ? { to: target } : { url }),
    state,
    last: last && { at: new Date(last.atUs / 1000).toISOString(), ok: last.ok, detail: last.detail },
    created_at: new Date(createdUs / 1000).toISOString(),
  }
}

const testBody = ({ id, name }: Channel, nowUs: number, publicUrl: string): NotificationBody => {
  const now = new Date(nowUs / 1000).toISOString()
  return {
    type: 'test',
    timestamp: now,
    data: {
      id,
      watch: { id: '', name },
      condition: 'failed',
      process: 'test',
      meta: null,
      uid: null,
      since: now,
      started_at: null,
      resolved_at: null,
      ended_by: null,
      exception: null,
      usual_ms: null,
      summary: `This is a test of the channel ${name}`,
      url: publicUrl,
    },
    facts: [['Channel', name]],
  }
}
