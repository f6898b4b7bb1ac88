// Dead letters: events that their store will never take, each with the reason.
import { type Static, Type } from '@sinclair/typebox'
import { EVENT_KINDS, FAMILIES } from '../event/event.ts'
import { defineRoute, json, jsonBody, LOCAL_QUESTION } from './route.ts'
import { choice, closed, orNull, pageOf, Text, Time } from './shapes.ts'

const [PROCESS, AT] = ['nightly import', '2026-11-20T21:52:42.171920000Z']

export const DeadLetter = Type.Object({
  id: Text('17', 'Begins with the NODE_ID of the node that holds it, unless that is 0: `2-17`.'),
  account: Type.Optional(Type.String({ description: 'With `all=true`.' })),
  kind: choice([...EVENT_KINDS, 'unknown'] as const, {
    description: '`unknown`: written by a newer version; process, at and event are null then.',
    examples: ['metrics'],
  }),
  process: orNull(Type.String(), PROCESS),
  meta: orNull(Type.String()),
  at: orNull(Time, AT),
  reason: Text('field type conflict'),
  buried_at: Time,
  event: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'The event as it was sent.' }), {
    process: PROCESS,
    meta: null,
    at: AT,
    items: { rows: 1 },
  }),
})
export type DeadLetter = Static<typeof DeadLetter>

export const FIND_DEAD_LETTERS = defineRoute('GET /api/dead', {
  ...LOCAL_QUESTION,
  summary: 'List dead letters',
  description:
    'Events that their store will never take, with the reason, newest first. With `all=true` those of all ' +
    'accounts, for the operator.',
  parameters: ['all', 'limit', 'cursor'],
  answers: { 200: json('The dead letters', pageOf('dead', DeadLetter)) },
})

export const REPLAY_DEAD_LETTER = defineRoute('POST /api/dead/:id/replay', {
  ...LOCAL_QUESTION,
  access: 'repair',
  audit: 'dead_letter_replayed',
  summary: 'Replay a dead letter',
  description:
    'Puts the event back into its spool. A key needs the scope `write`. With `all=true` a letter of any account, ' +
    'for the operator.',
  parameters: ['all'],
  answers: { 204: { description: 'It is back in its spool' } },
  problems: ['spool_full', 'disk_low', 'busy', 'disk_failed'],
})

export const DROP_DEAD_LETTER = defineRoute('DELETE /api/dead/:id', {
  ...LOCAL_QUESTION,
  access: 'repair',
  audit: 'dead_letter_deleted',
  summary: 'Delete a dead letter',
  description: 'A key needs the scope `write`. With `all=true` a letter of any account, for the operator.',
  parameters: ['all'],
  answers: { 204: { description: 'It is deleted' } },
  problems: ['disk_failed'],
})

const BuryHeld = closed({
  reason: Type.String({ minLength: 1, maxLength: 500, description: 'Why; each of the dead letters has it.' }),
})

export const BuriedHeld = Type.Object({
  families: Type.Array(choice(FAMILIES), {
    examples: [['metrics']],
    description: 'What the store refuses and is buried now; empty when nothing is.',
  }),
})
export type BuriedHeld = Static<typeof BuriedHeld>

export const BURY_HELD = defineRoute('POST /api/dead/held', {
  ...LOCAL_QUESTION,
  access: 'operate',
  audit: 'held_events_buried',
  summary: 'Bury what a store refuses',
  description:
    'While a store refuses good events because of a foreign field type or a broken table, its delivery is parked. ' +
    'This gives up the events accepted until now that it refuses, of all accounts: they become dead letters with ' +
    'this reason. For the session of an owner of the operator’s account. It never happens by itself.',
  body: jsonBody(BuryHeld, { reason: 'the field type was wrong for a day' }),
  answers: { 202: json('These are being buried', BuriedHeld) },
})
