// Signing in at the company's provider (OpenID Connect), and by a one-time code.
import { type Static, Type } from '@sinclair/typebox'
import { Given } from './accounts.ts'
import { STRANGER_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { Session } from './sessions.ts'
import { closed, LaterMs, Text } from './shapes.ts'

const PAGE = 'A browser gets an HTML page instead of the problem.'

const route = { tag: 'session', access: 'anyone' } as const

export const BEGIN_OIDC = defineRoute('GET /auth/oidc', {
  ...route,
  summary: 'Sign in at the provider',
  description: `Sends the browser to the provider. ${PAGE}`,
  ownParameters: {
    return_to: Type.String({ description: 'A path of this Stint to show afterwards.', pattern: '^/', examples: ['/'] }),
  },
  answers: { 302: { description: 'To the provider; also sets a cookie for ten minutes' } },
  problems: ['not_found', 'provider_unavailable', 'rate_limited', 'internal'],
})

export const FINISH_OIDC = defineRoute('GET /auth/oidc/callback', {
  ...route,
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

export const SignInCode = Type.Object({
  code: Text('4w9e0c2k7t1y5b8n4w9e0c2k', 'Good once; shown this once.'),
  expires_at: LaterMs,
})
export type SignInCode = Static<typeof SignInCode>

export const CREATE_SIGN_IN_CODE = defineRoute('POST /api/session/code', {
  ...route,
  access: 'self',
  audit: 'sign_in_code_made',
  summary: 'Create a one-time code for `stint account login --code`',
  description: 'It signs you in elsewhere, once, within five minutes.',
  answers: { 201: json('The code', SignInCode) },
})

export const SIGN_IN_BY_CODE = defineRoute('POST /api/session/by-code', {
  ...route,
  summary: 'Sign in by a one-time code',
  body: jsonBody(closed({ code: Given('From `/api/session/code`.') }), { code: '4w9e0c2k7t1y5b8n4w9e0c2k' }),
  answers: { 201: json('Signed in; also sets the session cookie', Session) },
  problems: ['credentials_invalid', ...STRANGER_PROBLEMS, ...WRITE_PROBLEMS],
})
