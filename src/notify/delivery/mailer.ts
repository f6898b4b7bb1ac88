// Sends e-mail by SMTP. The only file that uses nodemailer.
import { createTransport } from 'nodemailer'
import { isLoopback } from '../../parse-settings.ts'
import { DeliveryError } from './delivery-error.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The same for each attempt: mail servers and clients detect duplicates by it. */
  readonly id: string
  /** A URL that a POST disables the channel with (RFC 8058). */
  readonly unsubscribe?: string
}

export type Mailer = ReturnType<typeof createMailer>

interface MailerOptions {
  /** `smtp://user:password@host:587` (STARTTLS) or `smtps://…`. */
  readonly url: string
  readonly from: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 20_000
/** Of the server's answer, so many characters are shown. */
const ANSWER_MAX = 300

export function createMailer({ url, from, timeoutMs = TIMEOUT_MS }: MailerOptions) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isTls = protocol === 'smtps:'
  const isLocal = isLoopback(hostname)
  const user = decodeURIComponent(username)
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 465 : 587) : Number(port),
    secure: isTls,
    // A password must never cross a network unencrypted.
    requireTLS: !isTls && !isLocal && user !== '',
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    // For this machine itself a certificate proves nothing.
    tls: { rejectUnauthorized: !isLocal },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
  const domain = /@([^>\s]+)>?$/.exec(from)?.[1] ?? 'stint'
  return {
    /** The server's answer. Rejects with DeliveryError. */
    async send({ to, subject, text, html, id, unsubscribe }: Mail): Promise<string> {
      try {
        const sent = await transport.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
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
        const { response, responseCode, code } = cause as { response?: string; responseCode?: number; code?: string }
        const said = response
          ?.replace(/[\u0000-\u0020]+/g, ' ')
          .trim()
          .slice(0, ANSWER_MAX)
          .toWellFormed()
        const why = said || (responseCode === undefined ? (code ?? 'the connection failed') : `code ${responseCode}`)
        // a wrong password or an offer of TLS is the operator's to fix; other 5xx are about this e-mail
        const isPermanent = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500
        const isDeferred = responseCode !== undefined && responseCode >= 400 && responseCode < 500
        throw new DeliveryError(`The mail server did not take the e-mail: ${why}`, { cause, isPermanent, isDeferred })
      }
    },
    close: () => transport.close(),
  }
}
