// The account, its password and its sessions.
import { type Static, Type } from '@sinclair/typebox'
import { IssuedKey, NEW_KEY } from './keys.ts'
import { BODY_PROBLEMS, SESSION_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { closed, TimeMs } from './shapes.ts'

export const PASSWORD_MIN = 8
export const PASSWORD_MAX = 1024
const EMAIL_MAX = 254
/** A bound for texts that are only compared. */
const GIVEN_MAX = 4096

export const Account = Type.Object({
  id: Type.String(),
  email: Type.String(),
  created_at: TimeMs,
  operator: Type.Boolean({ description: 'The operator sees the totals of all accounts.' }),
})
export type Account = Static<typeof Account>

const Email = Type.String({ format: 'email', maxLength: EMAIL_MAX, examples: ['ada@example.com'] })
const NewPassword = Type.String({
  format: 'password',
  minLength: PASSWORD_MIN,
  maxLength: PASSWORD_MAX,
  examples: ['correct horse battery staple'],
})
const GivenPassword = Type.String({ format: 'password', maxLength: GIVEN_MAX })

export const SignUp = closed({
  email: Email,
  password: NewPassword,
  setup_code: Type.Optional(
    Type.String({
      maxLength: GIVEN_MAX,
      description:
        'Required for the first account where SETUP_CODE is set or others can reach the port: SETUP_CODE, or without it the code that the log shows at the start.',
    }),
  ),
})
export type SignUp = Static<typeof SignUp>

export const SignIn = closed({ email: Type.String({ maxLength: GIVEN_MAX }), password: GivenPassword })

export const ChangePassword = closed({ current_password: GivenPassword, new_password: NewPassword })
export type ChangePassword = Static<typeof ChangePassword>

/** Both are optional to the schema, so that a missing password is answered like a wrong one. */
export const DeleteAccount = closed({
  password: Type.Optional(Type.String({ format: 'password', maxLength: GIVEN_MAX, description: 'Required.' })),
  operator: Type.Optional(
    Type.String({
      maxLength: GIVEN_MAX,
      description:
        'The e-mail address of the account that becomes the operator. Required when the operator deletes its account while there are others.',
    }),
  ),
})

export const SignUpState = Type.Object({
  open: Type.Boolean(),
  setup_code_required: Type.Boolean(),
  signed_in: Type.Boolean(),
})
export type SignUpState = Static<typeof SignUpState>

export const NewAccount = Type.Object({ account: Account, key: IssuedKey })
export type NewAccount = Static<typeof NewAccount>

export const SignedIn = Type.Object({ account: Account })
export type SignedIn = Static<typeof SignedIn>

export const SessionEntry = Type.Object({
  id: Type.String(),
  current: Type.Boolean(),
  user_agent: Type.String(),
  created_at: TimeMs,
  last_seen_at: TimeMs,
  expires_at: TimeMs,
})
export type SessionEntry = Static<typeof SessionEntry>

export const Sessions = Type.Object({ sessions: Type.Array(SessionEntry) })
export type Sessions = Static<typeof Sessions>

const ACCOUNT: Account = {
  id: 'acc_5k0c2v9d1xw7q3ma',
  email: 'ada@example.com',
  created_at: '2026-11-20T21:52:42.171Z',
  operator: true,
}

export const SHOW_SIGN_UP = defineRoute('GET /api/sign-up', {
  tag: 'account',
  access: 'anyone',
  summary: 'Show whether an account can be created and whether you are signed in',
  answers: {
    200: json('The state of sign-up', SignUpState, { open: true, setup_code_required: false, signed_in: false }),
  },
  problems: ['cross_site', 'internal', 'store_unavailable'],
})

export const CREATE_ACCOUNT = defineRoute('POST /api/accounts', {
  tag: 'account',
  access: 'anyone',
  summary: 'Create an account and receive its first key',
  body: jsonBody(SignUp, { email: 'ada@example.com', password: 'correct horse battery staple' }),
  answers: {
    201: json('The account and its key, whose secret is shown this once; also sets the session cookie', NewAccount, {
      account: ACCOUNT,
      key: NEW_KEY,
    }),
  },
  problems: [
    'signup_closed',
    'setup_code_invalid',
    'cross_site',
    'email_taken',
    'rate_limited',
    ...BODY_PROBLEMS,
    ...WRITE_PROBLEMS,
    'internal',
    'store_unavailable',
  ],
})

export const DELETE_ACCOUNT = defineRoute('DELETE /api/account', {
  tag: 'account',
  access: 'session',
  summary: 'Delete the account with its keys, sessions and data',
  body: jsonBody(DeleteAccount, { password: 'correct horse battery staple' }),
  answers: { 204: { description: 'The account is deleted; its data in the stores follows' } },
  problems: [
    ...SESSION_PROBLEMS,
    'password_wrong',
    'operator_needed',
    'rate_limited',
    ...BODY_PROBLEMS,
    ...WRITE_PROBLEMS,
  ],
})

export const CHANGE_PASSWORD = defineRoute('POST /api/password', {
  tag: 'account',
  access: 'session',
  summary: 'Change the password; ends all other sessions',
  body: jsonBody(ChangePassword, {
    current_password: 'correct horse battery staple',
    new_password: 'seven green lamps at noon',
  }),
  answers: { 204: { description: 'The password is changed' } },
  problems: [...SESSION_PROBLEMS, 'password_wrong', 'rate_limited', ...BODY_PROBLEMS, ...WRITE_PROBLEMS],
})

export const SIGN_IN = defineRoute('POST /api/session', {
  tag: 'session',
  access: 'anyone',
  summary: 'Sign in',
  body: jsonBody(SignIn, { email: 'ada@example.com', password: 'correct horse battery staple' }),
  answers: { 201: json('Signed in; also sets the session cookie', SignedIn, { account: ACCOUNT }) },
  problems: [
    'credentials_invalid',
    'cross_site',
    'rate_limited',
    ...BODY_PROBLEMS,
    ...WRITE_PROBLEMS,
    'internal',
    'store_unavailable',
  ],
})

export const SHOW_SESSION = defineRoute('GET /api/session', {
  tag: 'session',
  access: 'session',
  summary: 'Show who is signed in',
  answers: { 200: json('The account of the session', SignedIn, { account: ACCOUNT }) },
  problems: SESSION_PROBLEMS,
})

export const SIGN_OUT = defineRoute('DELETE /api/session', {
  tag: 'session',
  access: 'session',
  summary: 'Sign out',
  answers: { 204: { description: 'The session has ended' } },
  problems: [...SESSION_PROBLEMS, ...WRITE_PROBLEMS],
})

export const LIST_SESSIONS = defineRoute('GET /api/sessions', {
  tag: 'session',
  access: 'session',
  summary: 'List the sessions of the account',
  answers: {
    200: json('Sessions, most recently used first', Sessions, {
      sessions: [
        {
          id: 'ses_1d6k9y3m0uw4r8cx',
          current: true,
          user_agent: 'Mozilla/5.0',
          created_at: '2026-11-20T21:52:42.171Z',
          last_seen_at: '2026-11-21T06:00:00.004Z',
          expires_at: '2026-11-28T06:00:00.004Z',
        },
      ],
    }),
  },
  problems: SESSION_PROBLEMS,
})

export const END_SESSION = defineRoute('DELETE /api/sessions/:id', {
  tag: 'session',
  access: 'session',
  summary: 'End a session',
  answers: { 204: { description: 'The session has ended' } },
  problems: [...SESSION_PROBLEMS, 'not_found', ...WRITE_PROBLEMS],
})

// A new password by e-mail, where SMTP is set up.
export const RequestReset = closed({ email: Type.String({ maxLength: 4096, examples: ['ada@example.com'] }) })

export const ResetRequested = Type.Object({
  sent: Type.Literal(true, { description: 'The same for addresses without an account.' }),
})

export const ResetPassword = closed({
  token: Type.String({ maxLength: 4096, description: 'From the link.' }),
  new_password: Type.String({ format: 'password', minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX }),
})

const PROBLEMS = ['cross_site', 'rate_limited', ...BODY_PROBLEMS, 'internal'] as const

export const REQUEST_RESET = defineRoute('POST /api/password/forgot', {
  tag: 'account',
  access: 'anyone',
  summary: 'Send a link that sets a new password',
  description: 'The link is good once, for 30 minutes. Needs SMTP_URL.',
  body: jsonBody(RequestReset, { email: 'ada@example.com' }),
  answers: { 202: json('If the address has an account, the link is on its way', ResetRequested, { sent: true }) },
  problems: [...PROBLEMS, 'not_found'],
})

export const RESET_PASSWORD = defineRoute('POST /api/password/reset', {
  tag: 'account',
  access: 'anyone',
  summary: 'Set a new password by a link; ends all sessions',
  body: jsonBody(ResetPassword, {
    token: 'q0a1B2c3D4e5F6g7H8i9J0k',
    new_password: 'seven green lamps at noon',
  }),
  answers: { 204: { description: 'The password is set' } },
  problems: [...PROBLEMS, ...WRITE_PROBLEMS, 'credentials_invalid'],
})
