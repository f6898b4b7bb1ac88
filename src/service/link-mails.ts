// Links that people get by e-mail. One that a stranger can cause holds no address and no link of the stranger's making.
import type { Clock } from '../clock.ts'
import type { LinkMails } from '../http/accounts/session-answers.ts'
import type { Mailer } from '../notify/delivery/mailer.ts'
import { linkedHtml } from '../notify/delivery/notification-text.ts'
import type { Config } from '../settings.ts'
import { publicUrlOf } from './open-watch-room.ts'

export function createLinkMails(mailer: Mailer, config: Config, clock: Clock): LinkMails {
  const send = async (kind: string, to: string, subject: string, text: string, url: string) => {
    const id = `${kind}-${clock.wallUs()}`
    await mailer.send({ to, subject: `[Stint] ${subject}`, text, html: linkedHtml(text, url), id })
  }
  const here = publicUrlOf(config)
  return {
    async invitation(to, { by, account, url }) {
      const where = account === undefined ? 'an account' : `the account ${account.replaceAll(/\s+/g, ' ')}`
      const who = by === undefined ? 'Somebody invites you' : `${by} invites you`
      const end = by === undefined ? 'If you expected no invitation' : `If you do not know ${by}`
      const text = `${who} to ${where} on Stint.\n\nTo accept within 7 days, open this link:\n${url}\n\n${end}, ignore this e-mail.`
      await send('invitation', to, 'Invitation', text, url)
    },
    async reset(to, url) {
      const text =
        'Someone, probably you, asked for a new password.\n\nTo set one within 30 minutes, open this ' +
        `link:\n${url}\n\n` +
        'Otherwise ignore this e-mail: your password stays as it is.'
      await send('reset', to, 'Set a new password', text, url)
    },
    async signUp(to, url) {
      const text =
        `Someone, probably you, asked for an account on Stint at ${here}.\n\nTo set a password and create it within 24 ` +
        `hours, open this link:\n${url}\n\nOtherwise ignore this e-mail: no account is made.`
      await send('sign-up', to, 'Create your account', text, url)
    },
    async known(to, url) {
      const text =
        `Someone, probably you, asked for an account on Stint at ${here}. There is one with this address: sign in.\n\n` +
        `To set a new password within 30 minutes, open this link:\n${url}\n\nOtherwise ignore this e-mail: nothing changes.`
      await send('known', to, 'You have an account', text, url)
    },
    async confirmation(to, url) {
      const text =
        `Someone, probably you, uses this address on Stint at ${here}.\n\nTo confirm that it is yours within 24 hours, ` +
        `open this link:\n${url}\n\nOtherwise ignore this e-mail.`
      await send('confirm', to, 'Confirm your address', text, url)
    },
  }
}
