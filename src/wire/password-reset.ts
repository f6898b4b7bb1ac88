// A new password by e-mail, where SMTP is set up.
import { type Static, Type } from '@sinclair/typebox'
import { PASSWORD_MAX, PASSWORD_MIN } from './accounts.ts'
import { BODY_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { closed } from './shapes.ts'

export const RequestReset = closed({ email: Type.String({ maxLength: 4096, examples: ['ada@example.com'] }) })
export type RequestReset = Static<typeof RequestReset>

export const ResetRequested = Type.Object({
  sent: Type.Literal(true, { description: 'The same for addresses without an account.' }),
})
export type ResetRequested = Static<typeof ResetRequested>

export const ResetPassword = closed({
  token: Type.String({ maxLength: 4096, description: 'From the link.' }),
  new_password: Type.String({ format: 'password', minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX }),
})
export type ResetPassword = Static<typeof ResetPassword>

const PROBLEMS = ['cross_site', 'rate_limited', ...BODY_PROBLEMS, 'internal'] as const

export const REQUEST_RESET = defineRoute({
  method: 'POST',
  path: '/api/password/forgot',
  tag: 'account',
  access: 'anyone',
  summary: 'Send a link that sets a new password',
  description: 'The link is good once, for 30 minutes. Needs SMTP_URL.',
  body: jsonBody(RequestReset, { email: 'ada@example.com' }),
  answers: { 202: json('If the address has an account, the link is on its way', ResetRequested, { sent: true }) },
  problems: [...PROBLEMS, 'not_found'],
})

export const RESET_PASSWORD = defineRoute({
  method: 'POST',
  path: '/api/password/reset',
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
