// The choice about an account that a stranger may have made with a person's address, and the proof of an address.
import { type Static, Type } from '@sinclair/typebox'
import { Account, Token } from './accounts.ts'
import { IssuedKey } from './keys.ts'
import { STRANGER_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, closed, orNull, Text, TimeMs } from './shapes.ts'

export const Made = Type.Object({
  what: choice(['key', 'channel', 'member'], { examples: ['key'] }),
  id: Text('key_9c2m5x8v1z4q7w0k'),
  name: Text('first key', 'Of a member the e-mail address.'),
  by: orNull(Type.String(), 'eve@example.com'),
  at: orNull(TimeMs),
  last_used_at: orNull(TimeMs),
  used_from: orNull(
    Type.String({ description: 'Where it was last used from; of a member where they last signed in.' }),
    '198.51.100.20',
  ),
  address: orNull(Type.String({ description: 'Where it was made.' }), '192.0.2.7'),
})
export type Made = Static<typeof Made>

export const Dispute = Type.Object({ account: Type.Pick(Account, ['id', 'name']), made: Type.Array(Made) })
export type Dispute = Static<typeof Dispute>

const route = { tag: 'account', access: 'self', whileDisputed: true } as const

export const SHOW_DISPUTE = defineRoute('GET /api/dispute', {
  ...route,
  summary: 'Show what others may have made in an account of your address',
  description: 'Of an account that answers `account_disputed`, to the person who proved the address first.',
  answers: { 200: json('What is in the account, and who made it', Dispute) },
  problems: ['account_disputed', 'not_found'],
})

export const SETTLE_DISPUTE = defineRoute('POST /api/dispute', {
  ...route,
  summary: 'Keep the account as it is, or leave it and begin again',
  description:
    'Left, the account belongs to its other members; without any it is deleted. The session then shows a new ' +
    'account, whose first key is in the answer.',
  body: jsonBody(closed({ choice: choice(['keep', 'leave']) }), { choice: 'leave' }),
  answers: {
    200: json('The account that the session shows', Type.Object({ account: Account, key: orNull(IssuedKey) })),
  },
  problems: ['account_disputed', 'not_found', ...WRITE_PROBLEMS],
})

const Sent = Type.Object({ sent: Type.Literal(true) })

export const REQUEST_CONFIRMATION = defineRoute('POST /api/address/confirmation', {
  tag: 'session',
  access: 'self',
  summary: 'Send a link that confirms your address',
  description: 'The link is good for 24 hours. Needs SMTP_URL. At most three such e-mails a day go to one address.',
  answers: { 202: json('The link is on its way, unless the address is confirmed already', Sent) },
  problems: ['not_found', ...WRITE_PROBLEMS],
})

export const CONFIRM_ADDRESS = defineRoute('POST /api/address/confirm', {
  tag: 'session',
  access: 'anyone',
  summary: 'Confirm an address by a link',
  description:
    'With a session of the person whose address it is, nothing ends. Without it the password, sessions and links of ' +
    'the person end.',
  body: jsonBody(closed({ token: Token }), { token: 'q0a1B2c3D4e5F6g7H8i9J0k' }),
  answers: {
    200: json(
      'The address is confirmed',
      Type.Object({
        email: Text('ada@example.com'),
        password_ended: Type.Boolean({ description: 'It may be that of a stranger: set one by /api/password/forgot.' }),
      }),
    ),
  },
  problems: ['credentials_invalid', ...STRANGER_PROBLEMS, ...WRITE_PROBLEMS],
})
