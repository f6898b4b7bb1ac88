// What /swagger/json says of the account routes: schemas and examples of their answers.
import type { ProblemCode } from '../../problem.ts'
import { type Answer, jsonAnswer, problemAnswers } from './describe-answers.ts'

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
const maybeTime = { ...time, nullable: true }
const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const list = (items: unknown) => ({ type: 'array', items })
const scopes = list({ type: 'string', enum: ['write', 'read'] })

const ACCOUNT = {
  schema: object({ id: text, email: text, created_at: time, operator: { type: 'boolean' } }),
  example: {
    id: 'acc_5k0c2v9d1xw7q3ma',
    email: 'ada@example.com',
    created_at: '2026-11-20T21:52:42.171Z',
    operator: true,
  },
}
const ISSUED_KEY = {
  schema: object({ id: text, name: text, prefix: text, scopes, secret: text }),
  example: {
    id: 'key_8r1n4t0zp6hs2bqe',
    name: 'first key',
    prefix: 'stint_SVVgM7',
    scopes: ['write', 'read'],
    secret: 'stint_ shown this once',
  },
}
const KEY = {
  schema: object({
    id: text,
    name: text,
    prefix: text,
    scopes,
    created_at: time,
    last_used_at: maybeTime,
    expires_at: maybeTime,
    revoked_at: maybeTime,
  }),
  example: {
    id: 'key_8r1n4t0zp6hs2bqe',
    name: 'first key',
    prefix: 'stint_SVVgM7',
    scopes: ['write', 'read'],
    created_at: '2026-11-20T21:52:42.171Z',
    last_used_at: '2026-11-21T06:00:00.004Z',
    expires_at: null,
    revoked_at: null,
  },
}
const SESSION = {
  schema: object({
    id: text,
    current: { type: 'boolean' },
    user_agent: text,
    created_at: time,
    last_seen_at: time,
    expires_at: time,
  }),
  example: {
    id: 'ses_1d6k9y3m0uw4r8cx',
    current: true,
    user_agent: 'Mozilla/5.0',
    created_at: '2026-11-20T21:52:42.171Z',
    last_seen_at: '2026-11-21T06:00:00.004Z',
    expires_at: '2026-11-28T06:00:00.004Z',
  },
}

const gone = (description: string): Answer => ({ description })
const BODY: ProblemCode[] = ['body_too_large', 'content_type_unsupported', 'json_malformed', 'fields_invalid']
const SESSION_ONLY = [{ session: [] }]

interface Description {
  summary: string
  status: number
  answer: Answer
  refusals: ProblemCode[]
  /** Needs no session. */
  open?: boolean
}

const describe = (tag: string, { summary, status, answer, refusals, open }: Description) => ({
  tags: [tag],
  summary,
  security: open ? [] : SESSION_ONLY,
  responses: {
    [status]: answer,
    ...problemAnswers(...refusals, ...(status === 200 ? [] : (['disk_failed', 'disk_low'] as const)), 'internal'),
  },
})

export const accountDetails = {
  signUpState: describe('account', {
    summary: 'Whether an account can be made, and whether you are signed in',
    status: 200,
    answer: jsonAnswer(
      'How things stand',
      object({ open: { type: 'boolean' }, setup_code_required: { type: 'boolean' }, signed_in: { type: 'boolean' } }),
      { open: true, setup_code_required: false, signed_in: false },
    ),
    refusals: ['cross_site'],
    open: true,
  }),
  signUp: describe('account', {
    summary: 'Make an account and receive its first key',
    status: 201,
    answer: jsonAnswer(
      'The account and its key; the secret is shown this once. A session cookie comes with it',
      object({ account: ACCOUNT.schema, key: ISSUED_KEY.schema }),
      { account: ACCOUNT.example, key: ISSUED_KEY.example },
    ),
    refusals: ['signup_closed', 'setup_code_invalid', 'cross_site', 'email_taken', 'rate_limited', ...BODY],
    open: true,
  }),
  deleteAccount: describe('account', {
    summary: 'Delete the account with its keys, sessions and data',
    status: 204,
    answer: gone('The account is gone; its data in the stores follows'),
    refusals: ['session_invalid', 'cross_site'],
  }),
  changePassword: describe('account', {
    summary: 'Change the password; all other sessions end',
    status: 204,
    answer: gone('The password is changed'),
    refusals: ['session_invalid', 'credentials_invalid', 'cross_site', 'rate_limited', ...BODY],
  }),
  signIn: describe('session', {
    summary: 'Sign in',
    status: 201,
    answer: jsonAnswer('Signed in; the session cookie comes with it', object({ account: ACCOUNT.schema }), {
      account: ACCOUNT.example,
    }),
    refusals: ['credentials_invalid', 'cross_site', 'rate_limited', ...BODY],
    open: true,
  }),
  signOut: describe('session', {
    summary: 'Sign out',
    status: 204,
    answer: gone('The session has ended'),
    refusals: ['session_invalid', 'cross_site'],
  }),
  whoAmI: describe('session', {
    summary: 'Who is signed in',
    status: 200,
    answer: jsonAnswer('The account of the session', object({ account: ACCOUNT.schema }), { account: ACCOUNT.example }),
    refusals: ['session_invalid', 'cross_site'],
  }),
  listSessions: describe('session', {
    summary: 'Where the account is signed in',
    status: 200,
    answer: jsonAnswer('Sessions, the one last seen first', object({ sessions: list(SESSION.schema) }), {
      sessions: [SESSION.example],
    }),
    refusals: ['session_invalid', 'cross_site'],
  }),
  revokeSession: describe('session', {
    summary: 'End a session',
    status: 204,
    answer: gone('The session has ended'),
    refusals: ['session_invalid', 'cross_site', 'not_found'],
  }),
  listKeys: describe('keys', {
    summary: 'List the keys, with those that ended in the last 30 days',
    status: 200,
    answer: jsonAnswer('Keys, the newest first', object({ keys: list(KEY.schema) }), { keys: [KEY.example] }),
    refusals: ['session_invalid', 'cross_site'],
  }),
  createKey: describe('keys', {
    summary: 'Make a key',
    status: 201,
    answer: jsonAnswer('The key; its secret is shown this once', object({ key: ISSUED_KEY.schema }), {
      key: ISSUED_KEY.example,
    }),
    refusals: ['session_invalid', 'cross_site', ...BODY],
  }),
  revokeKey: describe('keys', {
    summary: 'Revoke a key, at once',
    status: 204,
    answer: gone('The key no longer works'),
    refusals: ['session_invalid', 'cross_site', 'not_found'],
  }),
  rotateKey: describe('keys', {
    summary: 'Replace a key by a new one of the same name and scopes',
    status: 201,
    answer: jsonAnswer('The new key; the old one ends after the overlap', object({ key: ISSUED_KEY.schema }), {
      key: ISSUED_KEY.example,
    }),
    refusals: ['session_invalid', 'cross_site', 'not_found', ...BODY],
  }),
}
