// Exceptions, and their groups by fingerprint.
import { type Static, Type } from '@sinclair/typebox'
import { GROUP_STATUSES } from './parameters.ts'
import { defineRoute, exampleOf, json, jsonBody, QUESTION, REPEATED_QUESTION } from './route.ts'
import { Count, choice, closed, LIST_PAGES, orNull, ProcessName, pageOf, Text, Time, TimeMs } from './shapes.ts'

const EXAMPLE = 'Error: connection reset\n    at load (import.ts:12:9)'
const Fingerprint = Text('v5:5f0c1e2d3b4a6978')
const Headline = Text('Error: connection reset', 'The line that says what happened, at most 300 characters.')

export const ExceptionText = Type.Object({
  at: Time,
  process: ProcessName,
  meta: orNull(Type.String()),
  uid: Type.Optional(Type.String({ description: 'Of the run that raised it, if it was sent with one.' })),
  exception: Text(EXAMPLE),
  headline: Headline,
  fingerprint: Fingerprint,
})
export type ExceptionText = Static<typeof ExceptionText>

/** A group's status, who set it and when: of a regressed one, who resolved it. */
const Status = {
  status: choice(GROUP_STATUSES, {
    description: 'A `regressed` group was resolved and has occurred since.',
    examples: ['regressed'],
  }),
  status_by: orNull(Type.String({ description: 'An e-mail address, or a key.' }), 'ada@example.com'),
  status_at: orNull(TimeMs, '2026-11-20T20:30:00.000Z'),
  status_of: Type.Optional(
    Type.String({
      description: 'The group of 2.0, by its fingerprint, that this was decided about: it may be wider than this one.',
    }),
  ),
}

export const ExceptionGroup = Type.Object({
  fingerprint: Fingerprint,
  process: ProcessName,
  count: Type.Integer({ minimum: 0, examples: [12] }),
  runs: Type.Integer({
    minimum: 0,
    description: 'Runs in the range that raised it, by the uid of the exceptions; those without a uid name no run.',
    examples: [12],
  }),
  first_at: Type.String({ ...Time, description: 'Of all that is stored, also before and after the range.' }),
  last_at: Type.String({ ...Time, description: 'Likewise.' }),
  is_new: Type.Boolean({
    description: 'Nothing of it is stored of the 90 days before the last 7 days: a group is new for a week.',
  }),
  ...Status,
  meta: orNull(Type.String({ description: 'Of the newest one.' })),
  example: Text(
    EXAMPLE,
    'The newest text; without `fingerprint`, a line of `…` replaces the middle of one above 4,000 bytes.',
  ),
  headline: Headline,
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

export const ExceptionGroups = Type.Object({
  ...pageOf('groups', ExceptionGroup).properties,
  hidden: Type.Optional(
    Type.Object(
      { resolved: Count, ignored: Count },
      { description: 'On the first page of `unresolved` groups: how many others the range holds.' },
    ),
  ),
})
export type ExceptionGroups = Static<typeof ExceptionGroups>

export const ChangeExceptionGroup = closed({
  status: choice(['unresolved', 'resolved', 'ignored']),
  process: Type.Optional(
    Type.String({ minLength: 1, maxLength: 250, description: 'Only in this process; in every one when absent.' }),
  ),
})
export type ChangeExceptionGroup = Static<typeof ChangeExceptionGroup>

export const ChangedExceptionGroups = Type.Object({
  groups: Type.Array(Type.Object({ fingerprint: Fingerprint, process: ProcessName, ...Status })),
})
export type ChangedExceptionGroups = Static<typeof ChangedExceptionGroups>

export const FIND_EXCEPTIONS = defineRoute('GET /api/exceptions', {
  ...REPEATED_QUESTION,
  summary: 'List exceptions',
  description: 'Newest first.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'fingerprint', 'text', 'limit', 'cursor'],
  answers: { 200: json('The exceptions', pageOf('exceptions', ExceptionText)) },
})

export const EXPORT_MAX = 100_000
export const EXPORT_FIELDS = ['at', 'process', 'meta', 'uid', 'exception', 'fingerprint'] as const

export const EXPORT_EXCEPTIONS = defineRoute('GET /api/exceptions/export', {
  ...QUESTION,
  summary: 'Export exceptions with their whole texts',
  description:
    `Newest first, without pages: at most ${EXPORT_MAX.toLocaleString('en-US')}, a range with more is refused. In ` +
    'CSV a text that a spreadsheet would read as a formula gets an apostrophe there; JSON lines are exact. A ' +
    'connection that ends without the last chunk has not delivered everything.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'fingerprint', 'text', 'format'],
  answers: {
    200: {
      description: 'The file',
      types: ['text/csv', 'application/x-ndjson'],
      body:
        `${EXPORT_FIELDS.join(',')}\r\n2026-11-20T21:52:42.171920000Z,nightly import,,,Error: connection ` +
        'reset,v5:5f0c1e2d3b4a6978\r\n',
    },
  },
})

export const GROUP_EXCEPTIONS = defineRoute('GET /api/exceptions/groups', {
  ...REPEATED_QUESTION,
  summary: 'Group exceptions by fingerprint',
  description:
    'Most recent first, by the last exception in the range. Resolved and ignored groups are left out and counted ' +
    `in \`hidden\`, unless \`status\` or \`fingerprint\` is given. ${LIST_PAGES}`,
  parameters: ['from', 'to', 'process', 'meta', 'fingerprint', 'text', 'status', 'every', 'tz', 'limit', 'cursor'],
  ownParameters: { sort: choice(['count'], { description: 'The groups with most exceptions in the range first.' }) },
  answers: { 200: json('The groups', ExceptionGroups) },
})

export const CHANGE_GROUP = defineRoute('PATCH /api/exceptions/groups/:fingerprint', {
  tag: 'questions',
  access: 'manage',
  audit: 'exception_group_changed',
  summary: 'Resolve, ignore or reopen a group of exceptions',
  description:
    'A resolved group that occurs again is `regressed`. Exceptions of an ignored one do not count as trouble and ' +
    'make no watch fire.',
  body: jsonBody(ChangeExceptionGroup, { status: 'resolved', process: 'nightly import' }),
  answers: {
    200: json('The group, in each process that was chosen', ChangedExceptionGroups, {
      groups: [{ ...exampleOf(ChangedExceptionGroups).groups[0]!, status: 'resolved' }],
    }),
  },
  problems: ['limit_reached'],
})
