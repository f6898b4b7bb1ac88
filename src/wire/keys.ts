// API keys: what may be done with one, how it is shown, and the routes that create, rotate and revoke it.
import { type Static, Type } from '@sinclair/typebox'
import { OVERLAP_MAX_S, SCOPES } from './roles.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, closed, GivenName, orNull, Text, TimeMs } from './shapes.ts'

const Common = {
  id: Text('key_8r1n4t0zp6hs2bqe'),
  name: Text('first key'),
  prefix: Text('stint_SVVgM7'),
  scopes: Type.Array(choice(SCOPES), { examples: [['write', 'read']] }),
  process: Type.Optional(Type.String({ description: 'The only process that a ping key may name. Absent: any.' })),
}

export const IssuedKey = Type.Object({ ...Common, secret: Text('stint_ shown this once', 'Shown this once.') })
export type IssuedKey = Static<typeof IssuedKey>

export const Key = Type.Object({
  ...Common,
  created_at: TimeMs,
  last_used_at: orNull(TimeMs),
  expires_at: orNull(TimeMs),
  revoked_at: orNull(TimeMs),
  creator: orNull(
    Type.Object({
      id: orNull(Type.String({ description: 'Null once the person has left the account.' })),
      email: Type.String(),
    }),
    { id: 'per_3m8q1z6v0k5x9d2w', email: 'ada@example.com' },
  ),
})
export type Key = Static<typeof Key>

export const KeyAnswer = Type.Object({ key: IssuedKey })
export type KeyAnswer = Static<typeof KeyAnswer>

export const Keys = Type.Object({ keys: Type.Array(Key) })
export type Keys = Static<typeof Keys>

const CreateKey = closed({
  name: GivenName('nightly import', 'A name to recognise the key by.'),
  scopes: Type.Optional(
    Type.Array(choice(SCOPES), {
      minItems: 1,
      uniqueItems: true,
      default: ['write'],
      description:
        '`write` for /v1, `read` for questions under /api, `ping` for /ping: alone, as its secret is part of ' +
        'addresses; `manage` for watches, channels and the keys of its creator. A key cannot create keys ' +
        'that may more than it may (`write` includes `ping`), and never may more than its creator.',
    }),
  ),
  process: Type.Optional(
    Type.String({ description: 'The only process that this key may name, of a key with the scope `ping`.' }),
  ),
  secret: Type.Optional(
    Type.String({
      description:
        'Only with `process`: a v4 UUID that your pings use already, unique in this Stint. With SIGNUP=open only ' +
        'the operator’s account may bring one.',
    }),
  ),
})

const RotateKey = closed({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_MAX_S,
      default: 0,
      description: 'Keep the old key valid for this long.',
    }),
  ),
})

const route = { tag: 'keys', access: 'manageKeys' } as const

export const LIST_KEYS = defineRoute('GET /api/keys', {
  ...route,
  access: 'viewKeys',
  summary: 'List the keys, including those that ended in the last 30 days',
  description: 'Owners see all keys of the account, other members and keys those that they created.',
  answers: { 200: json('Keys, newest first', Keys) },
})

export const CREATE_KEY = defineRoute('POST /api/keys', {
  ...route,
  audit: 'key_created',
  summary: 'Create a key',
  problems: ['key_taken', 'operator_only'],
  body: jsonBody(CreateKey, { name: 'nightly import', scopes: ['write'] }),
  answers: { 201: json('The key; its secret is shown this once', KeyAnswer) },
})

export const REVOKE_KEY = defineRoute('DELETE /api/keys/:id', {
  ...route,
  audit: 'key_revoked',
  summary: 'Revoke a key immediately',
  answers: { 204: { description: 'The key is revoked' } },
})

export const ROTATE_KEY = defineRoute('POST /api/keys/:id/rotate', {
  ...route,
  audit: 'key_rotated',
  summary: 'Replace a key by a new one with the same name, scopes and process',
  body: jsonBody(RotateKey, { overlap_seconds: 3600 }),
  answers: { 201: json('The new key; the old one expires after the overlap', KeyAnswer) },
})

export const TAKE_KEY = defineRoute('POST /api/keys/:id/take', {
  ...route,
  access: 'own',
  audit: 'key_taken',
  summary: 'Take over the key of another member, or of one who has left',
  description: 'The key keeps working when its creator leaves.',
  answers: { 200: json('The key', Type.Object({ key: Key })) },
})
