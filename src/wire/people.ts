// Members of an account and invitations into it.
import { type Static, Type } from '@sinclair/typebox'
import { Email, NewPassword, Token } from './accounts.ts'
import { STRANGER_PROBLEMS, WRITE_PROBLEMS } from './problem.ts'
import { ROLES, type Role } from './roles.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { Session } from './sessions.ts'
import { choice, closed, LaterMs, orNull, Text, TimeMs } from './shapes.ts'

const RoleOf = choice(ROLES)
const WHO = (id: string, email: string, role: Role) => ({
  id: Text(id),
  email: Text(email),
  role: choice(ROLES, { examples: [role] }),
})

export const Member = Type.Object({ ...WHO('per_4w9e0c2k7t1y5b8n', 'bob@example.com', 'member'), since: TimeMs })
export type Member = Static<typeof Member>

export const Invitation = Type.Object({
  ...WHO('inv_7u2h5x0q9z4d1f6g', 'cy@example.com', 'viewer'),
  expires_at: LaterMs,
})
export type Invitation = Static<typeof Invitation>

export const Members = Type.Object({ members: Type.Array(Member), invitations: Type.Array(Invitation) })
export type Members = Static<typeof Members>

const MemberAnswer = Type.Object({ member: Member })

export const NewInvitation = Type.Object({
  invitation: Type.Object({
    ...Invitation.properties,
    url: Text(
      'https://stint.example.com/#/invitation?token=q0a1…',
      'The link, shown this once. It holds the token in its fragment.',
    ),
    mailed: Type.Boolean({ examples: [true], description: 'The mail server took an e-mail with the link within 5 s.' }),
    mail: orNull(
      Type.String({
        description: 'What the mail server said, and when the e-mail is sent again; null where none was asked.',
      }),
      '250 2.0.0 Ok: queued as 4XyZ',
    ),
  }),
})
export type NewInvitation = Static<typeof NewInvitation>

export const Invited = Type.Object({
  account: Type.Object({ name: Text('Example Ltd') }),
  email: Text('cy@example.com'),
  role: RoleOf,
  known: Type.Boolean({ description: 'There is a person with this address: they accept from their own session.' }),
})
export type Invited = Static<typeof Invited>

const route = { tag: 'members', access: 'own' } as const

export const LIST_MEMBERS = defineRoute('GET /api/members', {
  ...route,
  access: 'self',
  summary: 'List the members of the account and open invitations',
  description: 'Only owners see the invitations.',
  answers: { 200: json('Members, those of longest standing first', Members) },
})

export const CHANGE_MEMBER = defineRoute('PATCH /api/members/:id', {
  ...route,
  audit: 'member_changed',
  summary: 'Change the role of a member',
  description: 'Works at once, on every node. The last owner cannot step down.',
  body: jsonBody(closed({ role: RoleOf }), { role: 'member' }),
  answers: { 200: json('The member', MemberAnswer) },
  problems: ['owner_needed'],
})

export const REMOVE_MEMBER = defineRoute('DELETE /api/members/:id', {
  ...route,
  access: 'self',
  audit: 'member_removed',
  summary: 'Remove a member, or leave the account',
  description:
    'Owners remove others, and everyone may leave. Sessions of the member end. Keys of theirs that read or ' +
    'manage end, and those that only write stay; with `keys=take` an owner takes all of them over.',
  ownParameters: { keys: choice(['take'], { description: 'The keys of the member become those of the caller.' }) },
  answers: { 204: { description: 'The member is removed' } },
  problems: ['role_missing', 'owner_needed'],
})

export const INVITE = defineRoute('POST /api/invitations', {
  ...route,
  audit: 'member_invited',
  summary: 'Invite a person by e-mail address',
  description: 'The link is good once, for 7 days. It is mailed where SMTP_URL is set.',
  body: jsonBody(closed({ email: Email, role: RoleOf }), { email: 'cy@example.com', role: 'viewer' }),
  answers: { 201: json('The invitation; its link is shown this once', NewInvitation) },
  problems: ['already_member', 'limit_reached'],
})

export const WITHDRAW_INVITATION = defineRoute('DELETE /api/invitations/:id', {
  ...route,
  audit: 'invitation_withdrawn',
  summary: 'Withdraw an invitation',
  answers: { 204: { description: 'The link no longer works' } },
})

export const LOOK_INVITATION = defineRoute('POST /api/invitations/look', {
  ...route,
  access: 'anyone',
  summary: 'Show what an invitation is for',
  body: jsonBody(closed({ token: Token }), { token: 'q0a1B2c3D4e5F6g7H8i9J0k' }),
  answers: { 200: json('The invitation', Invited) },
  problems: [...STRANGER_PROBLEMS, 'not_found'],
})

export const ACCEPT_INVITATION = defineRoute('POST /api/invitations/accept', {
  ...route,
  access: 'anyone',
  summary: 'Accept an invitation',
  description:
    'With a password for an address that is new here: creates the person and signs in. A person who exists ' +
    'accepts from their own session.',
  body: jsonBody(closed({ token: Token, password: Type.Optional(NewPassword) }), {
    token: 'q0a1B2c3D4e5F6g7H8i9J0k',
    password: 'seven green lamps at noon',
  }),
  answers: { 201: json('The session, in the account of the invitation', Session) },
  problems: [...STRANGER_PROBLEMS, ...WRITE_PROBLEMS, 'not_found', 'session_invalid', 'invitation_for_another'],
})
