// The e-mails with the link that confirms the address of a channel, and what the channel then shows as its last answer.
import type { Mail } from '../../notify/delivery/mailer.ts'
import type { MailAnswer, RepeatMails } from '../../notify/delivery/repeat-mails.ts'
import type { LastAnswer, StoredChannel } from '../../notify/notification.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'

interface ConfirmationMailsOptions {
  readonly store: Pick<WatchStore, 'channel' | 'settle'>
  readonly repeat: Pick<RepeatMails, 'send' | 'isWaiting'>
  nowUs(): number
}

export type ConfirmationMails = ReturnType<typeof createConfirmationMails>

export function createConfirmationMails({ store, repeat, nowUs }: ConfirmationMailsOptions) {
  /** A failure, and the success after one. */
  async function settle(id: string, before: LastAnswer | null, { ok, detail }: MailAnswer): Promise<LastAnswer | null> {
    if (ok && before?.ok !== false) return before
    const last = { atUs: nowUs(), ok, detail }
    await store.settle([], { id, last }, nowUs(), 'dropped')
    return last
  }

  return {
    async send({ id, confirm, last }: StoredChannel, mail: Mail): Promise<LastAnswer | null> {
      const findWaiting = async () => {
        const channel = await store.channel(id)
        return channel?.state === 'pending' && channel.confirm === confirm ? channel : undefined
      }
      const answer = await repeat.send({
        key: id,
        mail,
        again: async () => ((await findWaiting()) === undefined ? undefined : mail),
        told: async (answer) => {
          const channel = await findWaiting()
          if (channel !== undefined) await settle(id, channel.last, answer)
        },
      })
      return settle(id, last, answer)
    },
    isWaiting: repeat.isWaiting,
  }
}
