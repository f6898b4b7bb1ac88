// Manages an account's channels: create, change, confirm, test, delete.

import type { Deliver } from '../../notify/delivery/deliver.ts'
import { DeliveryError } from '../../notify/delivery/delivery-error.ts'
import type { Mailer } from '../../notify/delivery/mailer.ts'
import { createTokens } from '../../notify/delivery/tokens.ts'
import { Problem } from '../../problem.ts'
import type {
  ChangeChannel,
  ChangedChannel,
  Channel as ChannelAnswer,
  CreateChannel,
  NewChannel,
} from '../../wire/channels.ts'
import type { Role } from '../../wire/roles.ts'
import { plainBody } from '../log/describe-alert.ts'
import { createId, createSigningSecret, createToken } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import { NO_SETTINGS } from '../storage/rows.ts'
import type { Channel, NotificationBody } from '../storage/watch-store.ts'
import { answerChannel, withChanges } from './channel-shape.ts'
import { createSubscriptions } from './subscriptions.ts'

const CHANNELS_MAX = 50
/** Limits an account's tests: they may reach people who did not ask for them. */
const MESSAGES = { burst: 10, everyS: 60 }

export interface ManageChannelsOptions {
  readonly store: WatchStore
  readonly deliver: Deliver
  readonly mailer: Mailer | undefined
  publicUrl(): string
  nowUs(): number
  hash(secret: string): string
}

/** Methods reject with Problem `not_found`, `fields_invalid`, `limit_reached`, `rate_limited`, `channel_failed`. */
export function createManageChannels({ store, deliver, mailer, publicUrl, nowUs, hash }: ManageChannelsOptions) {
  const tokens = createTokens(nowUs)
  const subscriptions = createSubscriptions({ store, mailer, tokens, publicUrl, nowUs, hash })

  async function find(account: string, id: string): Promise<Channel> {
    const channel = await store.channel(id)
    if (channel?.account !== account) throw new Problem('not_found', 'The account has no channel with this id.')
    return channel
  }

  return {
    list: async (account: string, role: Role): Promise<ChannelAnswer[]> =>
      (await store.channels(account)).map((channel) => answerChannel(channel, role === 'viewer')),
    show: async (account: string, id: string, role: Role) => answerChannel(await find(account, id), role === 'viewer'),

    async create(account: string, { kind, ...body }: CreateChannel): Promise<NewChannel['channel']> {
      const token = createToken()
      const isEmail = kind === 'email'
      const empty: Channel = {
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
      if (isEmail && mailer === undefined)
        throw new Problem('fields_invalid', 'The channel cannot be saved.', {
          errors: [{ pointer: '/kind', detail: 'e-mail is not set up: the operator must set SMTP_URL' }],
        })
      if (isEmail) subscriptions.reserve(account)
      if (!(await store.addChannel(channel, CHANNELS_MAX)))
        throw new Problem('limit_reached', `An account has at most ${CHANNELS_MAX} channels. Delete one first.`)
      if (isEmail) await subscriptions.ask(channel, token)
      return {
        ...answerChannel(channel),
        ...(body.url !== undefined && { url: body.url }),
        ...(kind === 'webhook' && { secret: channel.secret! }),
      }
    },

    async change(account: string, id: string, { enabled, ...body }: ChangeChannel): Promise<ChangedChannel> {
      const channel = await find(account, id)
      const next = withChanges(channel, body)
      const isNewTarget = targetOf(next) !== targetOf(channel)
      const mustConfirm =
        channel.kind === 'email' && (next.target !== channel.target || (enabled === true && channel.confirm !== null))
      const token = createToken()
      const again = channel.confirm !== null ? 'pending' : 'ok'
      const state = enabled === undefined ? channel.state : enabled ? again : 'disabled'
      const changed: Channel = {
        ...next,
        state: mustConfirm && enabled !== false ? 'pending' : state,
        confirm: mustConfirm ? hash(token) : channel.confirm,
        last: isNewTarget ? null : channel.last,
      }
      if (mustConfirm) subscriptions.reserve(account)
      await store.putChannel(changed)
      if (mustConfirm) await subscriptions.ask(changed, token)
      return { channel: answerChannel(changed), changed: !Bun.deepEquals(changed, channel) }
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
      if (!tokens.take(`test ${account}`, MESSAGES))
        throw new Problem('rate_limited', 'Too many test notifications.', { retryAfterS: MESSAGES.everyS })
      // it may have been changed meanwhile
      const note = (ok: boolean, detail: string) =>
        store.settle([], { id, last: { atUs: nowUs(), ok, detail } }, nowUs(), 'dropped')
      try {
        const bodies = [testBody(channel, nowUs(), publicUrl())]
        const detail = await deliver({ channel, id: createId('msg'), bodies, isStillFiring: false })
        await note(true, detail)
        return detail
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        await note(false, error.message)
        throw new Problem('channel_failed', error.message, { cause: error })
      }
    },

    links: subscriptions,
  }
}

const targetOf = ({ target, settings }: Channel): string => JSON.stringify([target, settings.members])

const testBody = ({ id, name }: Channel, nowUs: number, publicUrl: string): NotificationBody => {
  const summary = `This is a test of the channel ${name}`
  const data = { id, watch: { id: '', name }, condition: 'failed', process: 'test', summary, url: publicUrl } as const
  return plainBody('test', nowUs, data, [['Channel', name]])
}
