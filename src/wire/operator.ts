// The operator's view of all accounts, and its changes to them.
import { type Static, Type } from '@sinclair/typebox'
import { WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { Count, choice, closed, orNull, Text, TimeMs } from './shapes.ts'

/** Most first; `created`: the newest first. */
const ACCOUNT_SORTS = ['bytes', 'events', 'exceptions', 'emails', 'seen', 'created'] as const
export type AccountSort = (typeof ACCOUNT_SORTS)[number]

const figure = (of: string) => Type.Integer({ minimum: 0, description: `${of} in the last 24 h, on this node.` })

export const OperatedAccount = Type.Object({
  id: Text('acc_4w9e0c2k7t1y5b8n'),
  name: Text('Example Ltd'),
  email: Text('ada@example.com', 'The address that made it.'),
  created_at: TimeMs,
  operator: Type.Boolean({ description: 'It is the operator’s own, which cannot be suspended or deleted here.' }),
  suspended_at: orNull(TimeMs, undefined, 'Its keys are refused since then; null: it is not suspended.'),
  bytes: figure('Bytes accepted'),
  events: figure('Events accepted'),
  exceptions: figure('Exceptions accepted'),
  emails: figure('Notifications and invitations sent by e-mail'),
  seen_at: orNull(TimeMs, undefined, 'When one of its keys was used or one of its people was there, to a minute.'),
})
export type OperatedAccount = Static<typeof OperatedAccount>

export const OperatedAccounts = Type.Object({
  accounts: Type.Array(OperatedAccount),
  next: orNull(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
  found: Type.Integer({ minimum: 0, description: 'How many accounts `q` and `state` select.' }),
  total: Count,
  suspended: Count,
})
export type OperatedAccounts = Static<typeof OperatedAccounts>

const OperatedAnswer = Type.Object({ account: OperatedAccount })

const route = { tag: 'operator', access: 'operate' } as const

export const LIST_OPERATED = defineRoute('GET /api/operator/accounts', {
  ...route,
  summary: 'List all accounts by what they use',
  description:
    'For the session of an owner of the operator’s account. Figures are of the last 24 hours, counted by the node ' +
    'that answers; an account that grows meanwhile may come twice.',
  parameters: ['limit', 'cursor'],
  ownParameters: {
    sort: choice(ACCOUNT_SORTS, { description: 'What to order by, most or newest first; `bytes` by default.' }),
    q: Type.String({ description: 'Only accounts with this text in name, address or id. Empty: all.', maxLength: 200 }),
    state: choice(['suspended'], { description: 'Only suspended accounts.' }),
  },
  answers: { 200: json('A page of accounts', OperatedAccounts) },
})

export const SUSPEND_ACCOUNT = defineRoute('POST /api/operator/accounts/:id/suspend', {
  ...route,
  audit: 'account_suspended',
  summary: 'Suspend an account',
  description:
    'All its keys are refused (403 `account_suspended`) within a second on every node, its watches are not checked ' +
    'and nothing is notified. Its people can sign in, read and export. Not the operator’s own account.',
  answers: { 200: json('The account', OperatedAnswer) },
  problems: ['operator_needed', ...WRITE_PROBLEMS],
})

export const RESUME_ACCOUNT = defineRoute('POST /api/operator/accounts/:id/resume', {
  ...route,
  audit: 'account_resumed',
  summary: 'Resume a suspended account',
  description: 'Its keys work again. The time in between counts as a downtime of its watches.',
  answers: { 200: json('The account', OperatedAnswer) },
  problems: WRITE_PROBLEMS,
})

export const DELETE_OPERATED = defineRoute('DELETE /api/operator/accounts/:id', {
  ...route,
  audit: 'account_deleted',
  summary: 'Delete an account of somebody else',
  description:
    'As `DELETE /api/account`: keys, people in no other account and watches end at once, its data in the stores ' +
    'follows within minutes. The body names the `id` once more. The operator’s own goes by `DELETE /api/account`.',
  body: jsonBody(closed({ id: Text('acc_4w9e0c2k7t1y5b8n', 'The id of the account.') }), {
    id: 'acc_4w9e0c2k7t1y5b8n',
  }),
  answers: { 204: { description: 'It is deleted' } },
  problems: ['operator_needed', ...WRITE_PROBLEMS],
})
