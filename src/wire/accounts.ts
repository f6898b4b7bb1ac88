// The account and the password. Sessions are in sessions.ts.
import { type Static, type StringOptions, Type } from '@sinclair/typebox'
import { IssuedKey } from './keys.ts'
import { STRANGER_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { closed, GivenName, orNull, Text, TimeMs } from './shapes.ts'

export const PASSWORD_MIN = 8
export const PASSWORD_MAX = 1024
export const EMAIL_MAX = 254
/** A bound for texts that are only compared. */
export const GIVEN_MAX = 4096

export const Account = Type.Object({
  id: Text('acc_5k0c2v9d1xw7q3ma'),
  email: Text('ada@example.com', 'The address that made the account.'),
  name: Text('Example Ltd'),
  created_at: TimeMs,
  operator: Type.Boolean({
    description: 'You are an owner of the operator’s account, which sees the totals of all.',
    examples: [true],
  }),
})
export type Account = Static<typeof Account>

export const Email = Type.String({ format: 'email', maxLength: EMAIL_MAX, examples: ['ada@example.com'] })
export const NewPassword = Type.String({
  format: 'password',
  minLength: PASSWORD_MIN,
  maxLength: PASSWORD_MAX,
  examples: ['correct horse battery staple'],
})
export const GivenPassword = Type.String({ format: 'password', maxLength: GIVEN_MAX })

/** A text that is only compared. */
export const Given = (description: string, more: StringOptions = {}) =>
  Type.String({ ...more, maxLength: GIVEN_MAX, description })

export const Token = Given('From the link.')

const ResetRequested = Type.Object({
  sent: Type.Literal(true, { description: 'The same for addresses without an account.' }),
})

const SignUp = closed({
  email: Email,
  password: Type.Optional(NewPassword),
  setup_code: Type.Optional(
    Given(
      'Required for the first account where SETUP_CODE is set or others can reach the port: SETUP_CODE, or ' +
        'without it the code that the log shows at the start.',
    ),
  ),
})

/** The password is optional to the schema, so that a missing one is answered like a wrong one. */
const DeleteAccount = closed({
  id: Given('The id of the account of this session.'),
  password: Type.Optional(
    Given('Required, unless you signed in by the provider at most five minutes ago.', { format: 'password' }),
  ),
  operator: Type.Optional(
    Given(
      'The id of the account that becomes the operator, or the e-mail address that made it. Required when the ' +
        'operator deletes its account while there are others.',
    ),
  ),
})

export const SignUpState = Type.Object({
  open: Type.Boolean({ examples: [true] }),
  setup_code_required: Type.Boolean(),
  by_link: Type.Boolean({ description: 'Signing up sends a link to the address, which makes the account.' }),
  passwords: Type.Boolean({ description: 'People may sign in by a password.', examples: [true] }),
  provider: orNull(
    Type.Object({ name: Type.String() }, { description: 'Sign in there by `/auth/oidc`; null without a provider.' }),
    { name: 'Example Ltd' },
  ),
  signed_in: Type.Boolean(),
})
export type SignUpState = Static<typeof SignUpState>

export const NewAccount = Type.Object({ account: Account, key: IssuedKey })
export type NewAccount = Static<typeof NewAccount>

const route = { tag: 'account', access: 'anyone' } as const

export const SHOW_SIGN_UP = defineRoute('GET /api/sign-up', {
  ...route,
  summary: 'Show whether an account can be created and whether you are signed in',
  answers: { 200: json('The state of sign-up', SignUpState) },
  problems: ['cross_site', 'internal', 'store_unavailable'],
})

export const CREATE_ACCOUNT = defineRoute('POST /api/accounts', {
  ...route,
  summary: 'Create an account and receive its first key',
  body: jsonBody(SignUp, { email: 'ada@example.com', password: 'correct horse battery staple' }),
  answers: {
    201: json('The account and its key, whose secret is shown this once; also sets the session cookie', NewAccount),
    202: json('With SIGNUP=open and SMTP_URL: a link is on its way to the address, known or not', ResetRequested),
  },
  description:
    'With SIGNUP=open and SMTP_URL the address is enough: a link goes to it, which makes the account. The first ' +
    'account is made at once.',
  problems: ['signup_closed', 'setup_code_invalid', 'email_taken', ...STRANGER_PROBLEMS, ...WRITE_PROBLEMS],
})

export const CONFIRM_ACCOUNT = defineRoute('POST /api/accounts/confirm', {
  ...route,
  summary: 'Create an account by the link of a sign-up, and receive its first key',
  body: jsonBody(closed({ token: Token, password: NewPassword }), {
    token: 'q0a1B2c3D4e5F6g7H8i9J0k',
    password: 'correct horse battery staple',
  }),
  answers: { 201: json('As from `POST /api/accounts`', NewAccount) },
  problems: ['signup_closed', 'email_taken', 'credentials_invalid', ...STRANGER_PROBLEMS, ...WRITE_PROBLEMS],
})

export const DELETE_ACCOUNT = defineRoute('DELETE /api/account', {
  ...route,
  access: 'own',
  whileSuspended: true,
  summary: 'Delete the account with its keys, sessions and data',
  body: jsonBody(DeleteAccount, { id: 'acc_5k0c2v9d1xw7q3ma', password: 'correct horse battery staple' }),
  answers: { 204: { description: 'The account is deleted; its data in the stores follows' } },
  problems: ['password_wrong', 'operator_needed', ...WRITE_PROBLEMS],
})

export const CHANGE_ACCOUNT = defineRoute('PATCH /api/account', {
  ...route,
  access: 'own',
  audit: 'account_renamed',
  summary: 'Rename the account',
  body: jsonBody(closed({ name: GivenName('Example Ltd') }), { name: 'Example Ltd' }),
  answers: { 200: json('The account', Type.Object({ account: Account })) },
})

export const CHANGE_PASSWORD = defineRoute('POST /api/password', {
  ...route,
  access: 'self',
  whileDisputed: true,
  audit: 'password_changed',
  summary: 'Change the password; ends all other sessions',
  body: jsonBody(closed({ current_password: GivenPassword, new_password: NewPassword }), {
    current_password: 'correct horse battery staple',
    new_password: 'seven green lamps at noon',
  }),
  answers: { 204: { description: 'The password is changed' } },
  problems: ['password_wrong'],
})

// A new password by e-mail, where SMTP is set up.
const RequestReset = closed({ email: Type.String({ maxLength: GIVEN_MAX, examples: ['ada@example.com'] }) })
export const REQUEST_RESET = defineRoute('POST /api/password/forgot', {
  ...route,
  summary: 'Send a link that sets a new password',
  description: 'The link is good once, for 30 minutes. Needs SMTP_URL.',
  body: jsonBody(RequestReset, { email: 'ada@example.com' }),
  answers: { 202: json('If the address has an account, the link is on its way', ResetRequested) },
  problems: ['cross_site', 'rate_limited', 'internal', 'not_found'],
})

export const RESET_PASSWORD = defineRoute('POST /api/password/reset', {
  ...route,
  summary: 'Set a new password by a link; ends all sessions',
  body: jsonBody(closed({ token: Token, new_password: NewPassword }), {
    token: 'q0a1B2c3D4e5F6g7H8i9J0k',
    new_password: 'seven green lamps at noon',
  }),
  answers: { 204: { description: 'The password is set' } },
  problems: [...STRANGER_PROBLEMS, ...WRITE_PROBLEMS, 'credentials_invalid'],
})
