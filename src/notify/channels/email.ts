// E-mail by the operator's SMTP server. Each e-mail has a link that unsubscribes (RFC 8058).

import { DeliveryError } from '../delivery/delivery-error.ts'
import { toHtml, toSubject, toText } from '../delivery/notification-text.ts'
import type { StoredChannel } from '../notification.ts'
import type { ChannelKindSender } from './channel-kind.ts'

export const NO_EMAIL = 'e-mail is not set up: the operator must set SMTP_URL, MAIL_FROM and PUBLIC_URL'

export const email: ChannelKindSender = {
  rate: { burst: 10, everyS: 180 },
  grouping: 'digest',
  async send({ channel, id, bodies }, { mailer, publicUrl }) {
    if (mailer === undefined) throw new DeliveryError(`Nothing was sent, because ${NO_EMAIL}.`)
    const unsubscribe = unsubscribeUrl(channel, publicUrl)
    return mailer.send({
      to: channel.target,
      subject: toSubject(bodies),
      text: `${toText(bodies)}\n\n-- \nStop these e-mails: ${unsubscribe}`,
      html: `${toHtml(bodies)}<p><small><a href="${unsubscribe}">Stop these e-mails</a></small></p>`,
      id,
      ...(bodies.length === 1 && { thread: `alert-${bodies[0]!.data.id}` }),
      unsubscribe,
    })
  },
}

const unsubscribeUrl = ({ id, secret }: StoredChannel, publicUrl: string): string =>
  `${publicUrl}/api/channels/unsubscribe?token=${id}.${secret}`
