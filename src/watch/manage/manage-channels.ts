// Manages an account's channels: create, change, confirm, test, delete.

import { NO_EMAIL } from '../../notify/channels/email.ts'
import type { Deliver } from '../../notify/delivery/deliver.ts'
import { DeliveryError } from '../../notify/delivery/delivery-error.ts'
import { createTokens } from '../../notify/delivery/tokens.ts'
import type { LastAnswer, NotificationBody, StoredChannel } from '../../notify/notification.ts'
import { Problem } from '../../problem.ts'
import type {
  ChangeChannel,
  ChangedChannel,
  Channel,
  CreateChannel,
  NewChannel,
  NewSecret,
} from '../../wire/channels.ts'
import type { Role } from '../../wire/roles.ts'
import { iso } from '../conditions/wording.ts'
import { plainBody } from '../engine/describe-alert.ts'
import { createId, createSigningSecret, createToken } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import { NO_SETTINGS } from '../storage/rows.ts'
import { answerChannel, withChanges, withNameAndKind } from './channel-shape.ts'
import type { ConfirmationMails } from './confirmation-mails.ts'
import { createSubscriptions } from './subscriptions.ts'

const CHANNELS_MAX = 50
/** Time in which a receiver can be given the new secret. */
const OVERLAP_US = 86_400_000_000
/** Limits an account's tests: they may reach people who did not ask for them. */
const MESSAGES = { burst: 10, everyS: 60 }

/** E-mails that a stranger can cause to an address. */
export interface StrangerMails {
  /** The strangers may be anybody: no text of theirs is mailed. */
  readonly isLimited: boolean
  /** May one more be sent to the address? Then it is counted. */
  take(address: string): Promise<boolean>
}

interface ManageChannelsOptions {
  readonly store: WatchStore
  readonly deliver: Deliver
  /** Undefined without a mail server. */
  readonly mails: ConfirmationMails | undefined
  readonly strangerMails: StrangerMails
  publicUrl(): string
  nowUs(): number
  hash(secret: string): string
}

/** Methods reject with Problem `not_found`, `fields_invalid`, `limit_reached`, `rate_limited`, `channel_failed`. */
export function createManageChannels(options: ManageChannelsOptions) {
  const { store, deliver, mails, strangerMails, publicUrl, nowUs, hash } = options
  const tokens = createTokens(nowUs)
  const isNamed = !strangerMails.isLimited
  const subscriptions = createSubscriptions({ store, mails, isNamed, tokens, publicUrl, nowUs, hash })

  async function find(account: string, id: string): Promise<StoredChannel> {
    const channel = await store.channel(id)
    if (channel?.account !== account) throw new Problem('not_found', 'The account has no channel with this id.')
    return channel
  }

  /** The channel with its receiver's answer. Rejects with Problem `rate_limited` or `channel_failed`. */
  async function tryOut(channel: StoredChannel): Promise<StoredChannel & { readonly last: LastAnswer }> {
    if (!tokens.take(`test ${channel.account}`, MESSAGES))
      throw new Problem('rate_limited', 'Too many test notifications.', { retryAfterS: MESSAGES.everyS })
    const bodies = [testBody(channel, nowUs(), publicUrl())]
    try {
      const detail = await deliver({ channel, id: createId('msg'), bodies, isStillFiring: false })
      return { ...channel, last: { atUs: nowUs(), ok: true, detail } }
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      throw new Problem('channel_failed', error.message, { cause: error })
    }
  }

  return {
    hasEmail: mails !== undefined,
    list: async (account: string, role: Role): Promise<Channel[]> =>
      (await store.channels(account)).map((channel) => answerChannel(channel, nowUs(), role === 'viewer')),
    show: async (account: string, id: string, role: Role) =>
      answerChannel(await find(account, id), nowUs(), role === 'viewer'),

    /** With a test the channel is kept only if its receiver accepts it, so that a request can be repeated. */
    async create(account: string, sent: CreateChannel, isTested = false): Promise<NewChannel> {
      const { kind, ...body } = withNameAndKind(sent)
      const token = createToken()
      const isEmail = kind === 'email'
      const empty: StoredChannel = {
        id: createId('cha'),
        account,
        name: '',
        kind,
        target: '',
        secret: kind === 'webhook' ? createSigningSecret() : isEmail ? createToken() : null,
        state: isEmail ? 'pending' : 'ok',
        confirm: isEmail ? hash(token) : null,
        last: null,
        settings: NO_SETTINGS,
        createdUs: nowUs(),
      }
      const channel = withChanges(empty, body)
      if (isEmail && mails === undefined)
        throw new Problem('fields_invalid', 'The channel cannot be saved.', {
          errors: [{ pointer: '/kind', detail: NO_EMAIL }],
        })
      if (isTested && (await store.channels(account)).length >= CHANNELS_MAX) throw tooMany()
      if (isEmail) subscriptions.reserve(account)
      const tested = isTested && !isEmail ? await tryOut(channel).catch(notCreated) : undefined
      if (!(await store.addChannel(tested ?? channel, CHANNELS_MAX))) throw tooMany()
      const isAsked = isEmail && (await strangerMails.take(channel.target))
      const last = isAsked ? await subscriptions.ask(channel, token) : (tested?.last ?? null)
      if (isTested && isEmail && last !== null && !mails?.isWaiting(channel.id)) {
        await store.removeChannel(account, channel.id)
        notCreated(new Problem('channel_failed', last.detail))
      }
      const detail = last?.detail ?? `A link that confirms the address was sent to ${channel.target}.`
      return {
        channel: {
          ...answerChannel({ ...channel, last }, nowUs()),
          ...(sent.url !== undefined && sent.url === body.url && { url: sent.url }),
          ...(kind === 'webhook' && { secret: channel.secret! }),
        },
        ...(isTested && { test: { detail } }),
      }
    },

    async change(account: string, id: string, { enabled, ...body }: ChangeChannel): Promise<ChangedChannel> {
      const channel = await find(account, id)
      const next = withChanges(channel, body)
      const isNewTarget = targetOf(next) !== targetOf(channel)
      const mustConfirm =
        channel.kind === 'email' && (next.target !== channel.target || (enabled === true && channel.confirm !== null))
      const token = createToken()
      if (mustConfirm) subscriptions.reserve(account)
      // beyond the limit nothing is sent, and the link that was sent before stays valid
      const isAsked = mustConfirm && (await strangerMails.take(next.target))
      const isNewLink = mustConfirm && (isAsked || isNewTarget || channel.confirm === null)
      const again = channel.confirm !== null ? 'pending' : 'ok'
      const state = enabled === undefined ? channel.state : enabled ? again : 'disabled'
      const changed: StoredChannel = {
        ...next,
        state: mustConfirm && enabled !== false ? 'pending' : state,
        confirm: isNewLink ? hash(token) : channel.confirm,
        last: isNewTarget ? null : channel.last,
      }
      await store.putChannel(changed)
      const last = isAsked ? await subscriptions.ask(changed, token) : changed.last
      return { channel: answerChannel({ ...changed, last }, nowUs()), changed: !Bun.deepEquals(changed, channel) }
    },

    /** The secret before it goes on to sign for a day. */
    async replaceSecret(account: string, id: string): Promise<NewSecret> {
      const channel = await find(account, id)
      if (channel.kind !== 'webhook' || channel.secret === null)
        throw new Problem('not_found', 'The channel has no secret: only the notifications of a webhook are signed.')
      const [secret, untilUs] = [createSigningSecret(), nowUs() + OVERLAP_US]
      if (!(await store.replaceSecret(id, secret, untilUs))) await find(account, id)
      return { channel: { ...answerChannel(channel, nowUs()), secret, former_until: iso(untilUs) } }
    },

    async remove(account: string, id: string): Promise<{ readonly name: string }> {
      const channel = await find(account, id)
      await store.removeChannel(account, id)
      return channel
    },

    /** The receiver's answer. */
    async test(account: string, id: string): Promise<string> {
      const channel = await find(account, id)
      if (channel.confirm !== null)
        throw new Problem(
          'channel_failed',
          channel.state === 'disabled'
            ? 'The channel is disabled, and its address is not confirmed: enable it to send a link that confirms it.'
            : 'The e-mail address is not confirmed yet: open the link that was sent to it.',
        )
      // it may have been changed meanwhile
      const note = (last: LastAnswer) => store.settle([], { id, last }, nowUs(), 'dropped')
      try {
        const { last } = await tryOut(channel)
        await note(last)
        return last.detail
      } catch (error) {
        if (error instanceof Problem && error.code === 'channel_failed')
          await note({ atUs: nowUs(), ok: false, detail: error.message })
        throw error
      }
    },

    links: subscriptions,
  }
}

const tooMany = () => new Problem('limit_reached', `An account has at most ${CHANNELS_MAX} channels. Delete one first.`)

/** Rethrows the refusal of a test, with what it means for the channel. */
function notCreated(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'channel_failed') throw error
  const why = error.message.replace(/[.\s]*$/, '.')
  throw new Problem('channel_failed', `${why} The channel was not created.`, { cause: error })
}

const targetOf = ({ target, settings }: StoredChannel): string => JSON.stringify([target, settings.members])

const testBody = ({ id, name }: StoredChannel, nowUs: number, publicUrl: string): NotificationBody => {
  const summary = `This is a test of the channel ${name}`
  const data = { id, watch: { id: '', name }, condition: 'failed', process: 'test', summary, url: publicUrl } as const
  return plainBody('test', nowUs, data, [['Channel', name]])
}
