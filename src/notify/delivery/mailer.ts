// Sends e-mail by SMTP. The only file that uses nodemailer.
import { createTransport } from 'nodemailer'
import { isLoopback } from '../../parse-settings.ts'
import { type Secret, textOf } from '../../secret.ts'
import { DeliveryError } from './delivery-error.ts'
import { describeMailFault, type MailFault } from './mail-fault.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The same for each attempt: mail servers and clients detect duplicates by it. */
  readonly id: string
  /** E-mails with the same are one thread. */
  readonly thread?: string
  /** A URL that a POST disables the channel with (RFC 8058). */
  readonly unsubscribe?: string
}

export type Mailer = ReturnType<typeof createMailer>

interface MailerOptions {
  /** `smtp://user:password@host:587` (STARTTLS), `smtps://…`, or `smtp://host?insecure=true`. */
  readonly url: Secret
  readonly from: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 20_000

export function createMailer({ url, from, timeoutMs = TIMEOUT_MS }: MailerOptions) {
  const underWay = new Set<ReturnType<typeof openTransport>>()
  const domain = /@([^>\s]+)>?$/.exec(from)?.[1] ?? 'stint'
  return {
    /** The server's answer. Rejects with DeliveryError. */
    async send({ to, subject, text, html, id, thread, unsubscribe }: Mail): Promise<string> {
      const transport = openTransport(textOf(url), timeoutMs)
      underWay.add(transport)
      try {
        const sent = await transport.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          ...(thread !== undefined && { references: `<${thread}@${domain}>` }),
          headers: {
            'auto-submitted': 'auto-generated',
            ...(unsubscribe !== undefined && {
              'list-unsubscribe': `<${unsubscribe}>`,
              'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
            }),
          },
          disableFileAccess: true,
          disableUrlAccess: true,
        })
        return sent.response
      } catch (cause) {
        const fault = cause as MailFault
        const { responseCode, code } = fault
        // a wrong password or an offer of TLS is the operator's to fix; other 5xx are about this e-mail
        const isPermanent = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500
        const isDeferred = responseCode !== undefined && responseCode >= 400 && responseCode < 500
        throw new DeliveryError(`The mail server did not take the e-mail: ${describeMailFault(fault)}`, {
          cause,
          isPermanent,
          isDeferred,
        })
      } finally {
        underWay.delete(transport)
        transport.close()
      }
    },
    close: () => underWay.forEach((transport) => void transport.close()),
  }
}

/** For one e-mail, each of which has a connection of its own. */
function openTransport(url: string, timeoutMs: number) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url)
  const isTls = protocol === 'smtps:'
  const isLocal = isLoopback(hostname)
  const isInsecure = searchParams.get('insecure') === 'true'
  const user = decodeURIComponent(username)
  return createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 465 : 587) : Number(port),
    secure: isTls,
    // A password must never cross a network unencrypted, and a link, as in each e-mail, only if the operator says so.
    requireTLS: !isTls && !isLocal && (user !== '' || !isInsecure),
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    // For this machine itself a certificate proves nothing.
    tls: { rejectUnauthorized: !isLocal },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
}
