// E-mails with links. One that a stranger can cause contains no address and no link of the stranger's making. An e-mail
// that is sent again gets a new link, so that the link works when it arrives.
import type { Clock } from '../clock.ts'
import type { LinkMails, MakeLink } from '../http/accounts/session-answers.ts'
import type { Logger } from '../log.ts'
import { linkedHtml } from '../notify/delivery/notification-text.ts'
import type { MailAnswer, RepeatMails } from '../notify/delivery/repeat-mails.ts'
import type { Config } from '../settings.ts'
import { publicUrlOf } from './open-watch-room.ts'

const ANSWERS_WITHIN_MS = 5_000

export function createLinkMails(repeat: RepeatMails, config: Config, clock: Clock, log: Logger): LinkMails {
  /**
   * `write` makes the text around a link that works now; nothing is sent where there is no link. A newer e-mail about
   * the same takes the place of one that waits.
   */
  async function send(
    kind: string,
    to: string,
    subject: string,
    link: MakeLink,
    write: (url: string) => string,
    about = to,
  ) {
    const id = `${kind}-${clock.wallUs()}`
    const make = async () => {
      const url = await link()
      if (url === undefined) return undefined
      const text = write(url)
      return { to, subject: `[Stint] ${subject}`, text, html: linkedHtml(text, url), id }
    }
    const mail = await make()
    if (mail === undefined) return NOT_WANTED
    const note = async (answer: MailAnswer) => {
      if (!answer.ok) log.warn({ detail: answer.detail }, 'a link could not be mailed')
      return answer
    }
    return repeat.send({ key: `${kind} ${about}`, mail, again: make, told: note }).then(note)
  }
  const here = publicUrlOf(config)
  return {
    async invitation(to, { id, by, account, link }) {
      const where = account === undefined ? 'an account' : `the account ${account.replaceAll(/\s+/g, ' ')}`
      const who = by === undefined ? 'Somebody invites you' : `${by} invites you`
      const end = by === undefined ? 'If you expected no invitation' : `If you do not know ${by}`
      const write = (url: string) =>
        `${who} to ${where} on Stint.\n\nTo accept within 7 days, open this link:\n${url}\n\n` +
        `${end}, ignore this e-mail.`
      const late = Promise.withResolvers<MailAnswer>()
      const timer = setTimeout(() => late.resolve(NO_ANSWER), ANSWERS_WITHIN_MS)
      const answer = send('invitation', to, 'Invitation', link, write, id).finally(() => clearTimeout(timer))
      return Promise.race([answer, late.promise])
    },
    async reset(to, link) {
      const write = (url: string) =>
        'Someone, probably you, asked for a new password.\n\nTo set one within 30 minutes, open this ' +
        `link:\n${url}\n\n` +
        'Otherwise ignore this e-mail: your password stays as it is.'
      await send('reset', to, 'Set a new password', link, write)
    },
    async signUp(to, link) {
      const write = (url: string) =>
        `Someone, probably you, asked for an account on Stint at ${here}.\n\nTo set a password and create it within ` +
        `24 hours, open this link:\n${url}\n\nOtherwise ignore this e-mail: no account is made.`
      await send('sign-up', to, 'Create your account', link, write)
    },
    async known(to, link) {
      const write = (url: string) =>
        `Someone, probably you, asked for an account on Stint at ${here}. There is one with this address: sign ` +
        `in.\n\nTo set a new password within 30 minutes, open this link:\n${url}\n\n` +
        `Otherwise ignore this e-mail: nothing changes.`
      await send('known', to, 'You have an account', link, write)
    },
    async confirmation(to, link) {
      const write = (url: string) =>
        `Someone, probably you, uses this address on Stint at ${here}.\n\nTo confirm that it is yours within 24 ` +
        `hours, open this link where you are signed in:\n${url}\n\nElsewhere it ends the password, too, because ` +
        `somebody else may have set it.\n\nOtherwise ignore this e-mail.`
      await send('confirm', to, 'Confirm your address', link, write)
    },
  }
}

const NO_ANSWER: MailAnswer = {
  ok: false,
  detail: `The mail server has not answered within ${ANSWERS_WITHIN_MS / 1000} s. The e-mail may still arrive`,
}
const NOT_WANTED: MailAnswer = { ok: false, detail: 'The link is no longer wanted' }
