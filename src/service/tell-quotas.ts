// Tells the owners of an account by e-mail that it has sent 80 % of its quota, and that the quota is spent.
import type { Accounts } from '../account/accounts.ts'
import type { Quota, QuotaNotice } from '../account/quota.ts'
import type { Logger } from '../log.ts'
import { linkedHtml } from '../notify/delivery/notification-text.ts'
import type { RepeatMails } from '../notify/delivery/repeat-mails.ts'
import type { Rooms } from './open-rooms.ts'
import { publicUrlOf } from './open-watch-room.ts'

const EVERY_MS = 60_000

interface TellQuotasOptions {
  readonly accounts: Pick<Accounts, 'use' | 'quotaNotices'>
  readonly quota: Pick<Quota, 'notice'>
  readonly mails: Pick<RepeatMails, 'send'>
  publicUrl(): string
  nowUs(): number
  readonly log: Logger
}

export function createTellQuotas({ accounts, quota, mails, publicUrl, nowUs, log }: TellQuotasOptions) {
  /** The level that each account was asked about last: the database is asked once a level. */
  const asked = new Map<string, QuotaNotice['level']>()

  async function tell(account: string, { level, text }: QuotaNotice): Promise<void> {
    const url = publicUrl()
    const subject = level === 80 ? '[Stint] 80 % of the quota is sent' : '[Stint] The quota is spent'
    const body = `${text}\n\n${url}`
    for (const to of await accounts.quotaNotices.take(account, level)) {
      const mail = { to, subject, text: body, html: linkedHtml(body, url), id: `quota-${account}-${nowUs()}` }
      const { ok, detail } = await mails.send({ key: `quota ${account} ${to}`, mail, again: async () => mail })
      if (!ok) log.warn({ account, detail }, 'an e-mail about a quota could not be sent')
    }
  }

  async function step(): Promise<void> {
    for (const account of asked.keys()) if (quota.notice(account) === undefined) asked.delete(account)
    for (const [account] of accounts.use.all()) {
      const notice = quota.notice(account)
      if (notice === undefined || asked.get(account) === notice.level) continue
      try {
        await tell(account, notice)
        asked.set(account, notice.level)
      } catch (err) {
        log.warn({ err, account }, 'the owners of an account could not be told about its quota; trying again')
      }
    }
  }

  return { step }
}

/** While there is a quota, and e-mail. */
export function watchQuotas({ accounts, quota, watches, config, clock, log }: Rooms): { stop(): void } {
  const { mails } = watches
  if (mails === undefined || quota.limitBytes === 0) return { stop() {} }
  const { step } = createTellQuotas({
    accounts,
    quota,
    mails,
    log,
    publicUrl: () => publicUrlOf(config),
    nowUs: clock.wallUs,
  })
  const timer = setInterval(() => void step(), EVERY_MS)
  return { stop: () => clearInterval(timer) }
}
