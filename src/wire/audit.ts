// The audit log: what is written down, and how owners read it.
import { type Static, Type } from '@sinclair/typebox'
import { AUDIT_ACTIONS } from './audit-actions.ts'
import { defineRoute, json } from './route.ts'
import { choice, orNull, pageOf, Text, TimeMs } from './shapes.ts'

export const AuditEntry = Type.Object({
  at: TimeMs,
  action: choice(AUDIT_ACTIONS, { examples: ['member_changed'] }),
  actor: orNull(
    Type.String({ description: 'The e-mail address of the person; null for an address that is nobody’s.' }),
    'ada@example.com',
  ),
  key: orNull(Type.String({ description: 'The id of the key by which the person acted.' })),
  target: orNull(Type.String({ description: 'What it was done to: an id, or an e-mail address.' }), 'bob@example.com'),
  detail: orNull(Type.String(), 'viewer'),
  address: Text('192.0.2.7', 'The network address of the client.'),
})
export type AuditEntry = Static<typeof AuditEntry>

const AuditPage = pageOf('entries', AuditEntry)

export const LIST_AUDIT = defineRoute('GET /api/audit', {
  tag: 'account',
  access: 'own',
  summary: 'List who did what, newest first',
  description: 'Sign-ins, members, keys, watches, channels and deletions of the last 365 days.',
  parameters: ['limit', 'cursor'],
  ownParameters: {
    from: Type.String({ description: 'Start of the range, inclusive; 365 days ago by default. As in questions.' }),
    to: Type.String({ description: 'End of the range, exclusive; now by default. As in questions.' }),
    action: choice(AUDIT_ACTIONS, { description: 'Only this action.' }),
    actor: Type.String({ format: 'email', description: 'Only what the person with this e-mail address did.' }),
  },
  answers: { 200: json('A page of entries', AuditPage) },
})
