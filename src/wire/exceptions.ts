// Exceptions, and their groups by fingerprint.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, QUESTION } from './route.ts'
import { Count, LIST_PAGES, orNull, pageOf, Time } from './shapes.ts'

export const ExceptionText = Type.Object({
  at: Time,
  process: Type.String(),
  meta: orNull(Type.String()),
  uid: Type.Optional(Type.String({ description: 'Of the run that raised it, if it was sent with one.' })),
  exception: Type.String(),
  fingerprint: Type.String(),
})
export type ExceptionText = Static<typeof ExceptionText>

export const ExceptionPage = pageOf('exceptions', ExceptionText)

export const ExceptionGroup = Type.Object({
  fingerprint: Type.String(),
  process: Type.String(),
  count: Count,
  first_at: Time,
  last_at: Time,
  example: Type.String({ description: 'The newest text.' }),
  counts: Type.Optional(
    Type.Array(Type.Object({ at: Time, count: Count }), {
      description: 'With `every`: oldest bucket first, without empty ones.',
    }),
  ),
  normalized: Type.Optional(
    Type.String({
      description:
        'With `fingerprint`: the example without what varies. A fingerprint of the current version is its hash.',
    }),
  ),
})
export type ExceptionGroup = Static<typeof ExceptionGroup>

export const ExceptionGroups = pageOf('groups', ExceptionGroup)
export type ExceptionGroups = Static<typeof ExceptionGroups>

const EXAMPLE = 'Error: connection reset\n    at load (import.ts:12:9)'

export const FIND_EXCEPTIONS = defineRoute('GET /api/exceptions', {
  ...QUESTION,
  summary: 'List exceptions',
  description: 'Newest first.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'fingerprint', 'limit', 'cursor'],
  answers: {
    200: json('The exceptions', ExceptionPage, {
      exceptions: [
        {
          at: '2026-11-20T21:52:42.171920000Z',
          process: 'nightly import',
          meta: null,
          exception: EXAMPLE,
          fingerprint: 'v3:5f0c1e2d3b4a6978',
        },
      ],
      next: null,
    }),
  },
})

export const GROUP_EXCEPTIONS = defineRoute('GET /api/exceptions/groups', {
  ...QUESTION,
  summary: 'Group exceptions by fingerprint',
  description: `Most recent first. ${LIST_PAGES}`,
  parameters: ['from', 'to', 'process', 'meta', 'fingerprint', 'every', 'tz', 'limit', 'cursor'],
  answers: {
    200: json('The groups', ExceptionGroups, {
      groups: [
        {
          fingerprint: 'v3:5f0c1e2d3b4a6978',
          process: 'nightly import',
          count: 12,
          first_at: '2026-11-20T20:10:00.000000000Z',
          last_at: '2026-11-20T21:52:42.171920000Z',
          example: EXAMPLE,
        },
      ],
      next: null,
    }),
  },
})
