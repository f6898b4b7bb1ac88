// Sessions of people: signing in and out, and the account that a session shows.
import { type Static, Type } from '@sinclair/typebox'
import { Account, GIVEN_MAX, GivenPassword, SignUpState } from './accounts.ts'
import { STRANGER_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { ROLES } from './roles.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, closed, LaterMs, Text, TimeMs } from './shapes.ts'

const SignIn = closed({ email: Type.String({ maxLength: GIVEN_MAX }), password: GivenPassword })

export const Person = Type.Object({ id: Text('per_3m8q1z6v0k5x9d2w'), email: Text('ada@example.com') })

const Owner = choice(ROLES, { examples: ['owner'] })

/** The session of a person: the account that it shows, and those that it may show. */
export const Session = Type.Object({
  account: Account,
  person: Type.Object({
    ...Person.properties,
    password: Type.Boolean({ description: 'false: the person signs in by the provider alone.', examples: [true] }),
    unconfirmed: Type.Boolean({ description: 'A link can be sent that confirms the address.' }),
  }),
  role: Owner,
  disputed: Type.Boolean({ description: 'The account answers `account_disputed` until a choice is made.' }),
  suspended: Type.Boolean({ description: 'The operator suspended the account: it can be read, exported and deleted.' }),
  accounts: Type.Array(Type.Object({ id: Account.properties.id, name: Account.properties.name, role: Owner })),
})
export type Session = Static<typeof Session>

/** The session, if there is one, and whether an account can be created: all that a page needs to begin. */
export const SessionState = Type.Object({
  signed_in: Type.Boolean({ description: 'false: the members of a session are absent.', examples: [true] }),
  sign_up: Type.Omit(SignUpState, ['signed_in']),
  ...Type.Partial(Session).properties,
})
export type SessionState = Static<typeof SessionState>

export const SessionEntry = Type.Object({
  id: Text('ses_1d6k9y3m0uw4r8cx'),
  current: Type.Boolean({ examples: [true] }),
  user_agent: Text('Mozilla/5.0'),
  created_at: TimeMs,
  last_seen_at: TimeMs,
  expires_at: LaterMs,
})
export type SessionEntry = Static<typeof SessionEntry>

export const Sessions = Type.Object({ sessions: Type.Array(SessionEntry) })
export type Sessions = Static<typeof Sessions>

const route = { tag: 'session', access: 'self', whileDisputed: true } as const

export const SIGN_IN = defineRoute('POST /api/session', {
  tag: 'session',
  access: 'anyone',
  summary: 'Sign in',
  body: jsonBody(SignIn, { email: 'ada@example.com', password: 'correct horse battery staple' }),
  answers: { 201: json('Signed in; also sets the session cookie', Session) },
  problems: ['credentials_invalid', 'password_sign_in_off', ...STRANGER_PROBLEMS, ...WRITE_PROBLEMS],
})

export const SHOW_SESSION = defineRoute('GET /api/session', {
  tag: 'session',
  access: 'anyone',
  summary: 'Show who is signed in, and whether an account can be created',
  answers: { 200: json('The session, if there is one', SessionState) },
  problems: ['cross_site', 'internal', 'store_unavailable'],
})

export const SIGN_OUT = defineRoute('DELETE /api/session', {
  ...route,
  audit: 'signed_out',
  summary: 'Sign out',
  answers: { 204: { description: 'The session has ended' } },
})

export const LIST_SESSIONS = defineRoute('GET /api/sessions', {
  ...route,
  summary: 'List your sessions, in all accounts',
  answers: { 200: json('Sessions, most recently used first', Sessions) },
})

export const END_SESSION = defineRoute('DELETE /api/sessions/:id', {
  ...route,
  audit: 'session_ended',
  summary: 'End a session',
  answers: { 204: { description: 'The session has ended' } },
})

export const END_SESSIONS = defineRoute('DELETE /api/sessions', {
  ...route,
  audit: 'session_ended',
  summary: 'Sign out everywhere',
  description: 'All your sessions end, in all accounts and this one, too.',
  answers: { 204: { description: 'All sessions have ended' } },
})

export const ENTER_ACCOUNT = defineRoute('POST /api/session/account', {
  ...route,
  summary: 'Show another account of yours in this session',
  description: 'Pages that still show the account before are refused with `account_changed`.',
  body: jsonBody(closed({ id: Type.String({ maxLength: GIVEN_MAX }) }), { id: 'acc_5k0c2v9d1xw7q3ma' }),
  answers: { 200: json('The session', Session) },
  problems: ['not_found', ...WRITE_PROBLEMS],
})

const PAGE = 'A browser gets an HTML page instead of the problem.'

const atProvider = { tag: 'session', access: 'anyone' } as const

export const BEGIN_OIDC = defineRoute('GET /auth/oidc', {
  ...atProvider,
  summary: 'Sign in at the provider',
  description: `Sends the browser to the provider. ${PAGE}`,
  ownParameters: {
    return_to: Type.String({ description: 'A path of this Stint to show afterwards.', pattern: '^/', examples: ['/'] }),
  },
  answers: { 302: { description: 'To the provider; also sets a cookie for ten minutes' } },
  problems: ['not_found', 'provider_unavailable', 'rate_limited', 'internal'],
})

export const FINISH_OIDC = defineRoute('GET /auth/oidc/callback', {
  ...atProvider,
  summary: 'Come back from the provider',
  description: `Takes the answer of a sign-in that began in the same browser, once. ${PAGE}`,
  answers: { 302: { description: 'To the console; also sets the session cookie' } },
  problems: [
    'not_found',
    'sign_in_expired',
    'sign_in_refused',
    'email_unverified',
    'not_invited',
    'provider_unavailable',
    'rate_limited',
    'internal',
    'store_unavailable',
  ],
})
