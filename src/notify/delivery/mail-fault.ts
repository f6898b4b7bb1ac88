// Why an e-mail could not be sent, as a sentence of the operator's: the mail server's own answer if it gave one,
// otherwise what is between it and SMTP_URL. The address stays out: members of every account read it.

/** Of the server's answer, so many characters are shown. */
const ANSWER_MAX = 300

export interface MailFault {
  readonly response?: string
  readonly responseCode?: number
  readonly code?: string
  readonly command?: string
  readonly message?: string
}

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nobody listens at the address of SMTP_URL'],
  [/ENOTFOUND|EAI_AGAIN|EDNS/, 'the host name of SMTP_URL does not resolve'],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no route to the host of SMTP_URL'],
  [
    /WRONG_VERSION_NUMBER|wrong version number|packet length/i,
    'its port does not begin with TLS; set smtp:// in place of smtps://',
  ],
  [/altnames|Hostname\/IP/i, 'its certificate is for another host name'],
  [/certificate has expired/i, 'its certificate has expired, or the clock of this machine is wrong'],
  [/certificate|self.signed|issuer/i, 'its certificate is by an unknown authority; name that in NODE_EXTRA_CA_CERTS'],
  [
    /timed? ?out|Greeting never/i,
    'it did not answer in time; a port that begins with TLS, such as 465, needs smtps://',
  ],
]

const NO_STARTTLS =
  'it offers no STARTTLS; use smtps://, or in a network that you trust and without a user smtp://…?insecure=true'

export function describeMailFault({ response, responseCode, code = '', command, message = '' }: MailFault): string {
  if (code === 'ETLS' || command === 'STARTTLS') return NO_STARTTLS
  const said = response
    ?.replace(/[\u0000-\u0020]+/g, ' ')
    .trim()
    .slice(0, ANSWER_MAX)
    .toWellFormed()
  if (said) return said
  if (responseCode !== undefined) return `code ${responseCode}`
  const known = CAUSES.find(([pattern]) => pattern.test(`${code} ${message}`))
  return known?.[1] ?? `the connection failed${code === '' ? '' : ` (${code})`}`
}
