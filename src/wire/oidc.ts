// Signing in at the company's provider (OpenID Connect).
import { Type } from '@sinclair/typebox'
import { defineRoute } from './route.ts'

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
