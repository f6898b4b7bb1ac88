// Watches: what must be true of a process, and who is notified when it is not.
import { type Static, Type } from '@sinclair/typebox'
import { aboutField } from './conditions.ts'
import { defineRoute, exampleOf, json, jsonBody } from './route.ts'
import { choice, closed, GivenName, orNull, ProcessName, Text, TimeMs } from './shapes.ts'

const SPAN_FAULT = 'must be a time span such as 30s, 10m, 26h or 7d, at least 1s'

export const Span = (description: string, example: string) =>
  Type.String({ pattern: '^[1-9][0-9]{0,9}[smhd]$', fault: SPAN_FAULT, description, examples: [example] })

/** Name of a watch or channel. */
export const WatchName = GivenName('nightly import')
export const Processes = Type.String({ minLength: 1, maxLength: 250, description: 'Exact, or with `*` for any text.' })

const Late = closed({
  every: Type.Optional(Span(aboutField('late/every'), '1h')),
  cron: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: aboutField('late/cron'),
      examples: ['0 3 * * *'],
    }),
  ),
  tz: Type.Optional(
    Type.String({
      maxLength: 100,
      description: aboutField('late/tz'),
      examples: ['Europe/Berlin'],
    }),
  ),
  grace: Type.Optional(Span(aboutField('late/grace'), '10m')),
})

const Failed = closed({
  after: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1, description: aboutField('failed/after') })),
  exceptions: Type.Optional(
    Type.Boolean({
      default: false,
      description: aboutField('failed/exceptions'),
    }),
  ),
})

const Metric = closed({
  name: Type.String({ minLength: 1, maxLength: 250, description: aboutField('metric/name'), examples: ['rows'] }),
  window: Span(aboutField('metric/window'), '10m'),
  of: choice(['last', 'min', 'max', 'mean'] as const, { description: aboutField('metric/of') }),
  above: Type.Optional(Type.Number({ description: aboutField('metric/above') })),
  below: Type.Optional(Type.Number({ description: aboutField('metric/below') })),
  for: Type.Optional(Span(aboutField('metric/for'), '5m')),
})

const Slow = Type.Number({
  minimum: 1,
  maximum: 1000,
  description: aboutField('slow'),
  examples: [2],
})

const Long = Span(aboutField('long'), '30m')

const ChannelIds = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 20,
  uniqueItems: true,
  description: 'Channel ids.',
})
const Meta = Type.String({ maxLength: 500, description: 'Only this meta; empty: only without meta. Absent: any.' })
const Remind = Span(aboutField('remind'), '24h')
const PausedUntil = Type.String({ format: 'date-time', description: 'RFC 3339. Until then nothing fires.' })

export const CreateWatch = closed({
  name: WatchName,
  process: Processes,
  channels: ChannelIds,
  meta: Type.Optional(orNull(Meta)),
  late: Type.Optional(orNull(Late)),
  long: Type.Optional(orNull(Long)),
  failed: Type.Optional(orNull(Failed)),
  metric: Type.Optional(orNull(Metric)),
  slow: Type.Optional(orNull(Slow)),
  remind: Type.Optional(orNull(Remind)),
  paused_until: Type.Optional(orNull(PausedUntil)),
})
export type CreateWatch = Static<typeof CreateWatch>

/** Only what is named changes; null removes a condition. */
export const ChangeWatch = Type.Partial(CreateWatch, { additionalProperties: false, minProperties: 1 })
export type ChangeWatch = Static<typeof ChangeWatch>

const WATCH_STATES = ['ok', 'firing', 'paused', 'unknown'] as const

const LATE = { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' }
const FAILED = { after: 1, exceptions: false }
const CHANNEL = 'cha_9d3k7f1w5b8r2t6y'

export const Watch = Type.Object({
  id: Text('wat_4m8s1q0z7c2n5v9x'),
  name: Text('nightly import'),
  process: ProcessName,
  meta: orNull(Type.String()),
  late: orNull(Late, LATE),
  long: orNull(Type.String(), '30m'),
  failed: orNull(Failed, FAILED),
  metric: orNull(Metric),
  slow: orNull(Type.Number()),
  channels: Type.Array(Text(CHANNEL)),
  remind: orNull(Type.String()),
  paused_until: orNull(TimeMs),
  created_at: TimeMs,
  next_due: orNull(TimeMs, '2026-11-23T02:00:00.000Z', 'The next time of its cron expression; null without one.'),
  state: choice(WATCH_STATES, {
    description:
      '`unknown`: it is not judged at present, or not for all of its processes; `unjudged` of `GET /api/alerts` ' +
      'says why.',
  }),
  badge: orNull(Type.String({ description: 'The path of its badge, while one is published.' })),
})
export type Watch = Static<typeof Watch>

export const WatchAnswer = Type.Object({ watch: Watch })
export type WatchAnswer = Static<typeof WatchAnswer>
export const Watches = Type.Object({ watches: Type.Array(Watch) })
export type Watches = Static<typeof Watches>

const route = { tag: 'watches', access: 'manage' } as const

export const LIST_WATCHES = defineRoute('GET /api/watches', {
  ...route,
  access: 'view',
  hasTag: true,
  summary: 'List watches',
  ownParameters: {
    process: Type.String({
      minLength: 1,
      maxLength: 250,
      description: 'Only those that cover this process, by name or `*`.',
    }),
  },
  answers: { 200: json('The watches, by name', Watches) },
})

export const CREATE_WATCH = defineRoute('POST /api/watches', {
  ...route,
  audit: 'watch_created',
  summary: 'Create a watch',
  body: jsonBody(CreateWatch, {
    name: 'nightly import',
    process: 'nightly import',
    channels: [],
    late: LATE,
    long: '30m',
    failed: FAILED,
  }),
  answers: { 201: json('The watch', WatchAnswer) },
  problems: ['limit_reached'],
})

export const SHOW_WATCH = defineRoute('GET /api/watches/:id', {
  ...route,
  access: 'view',
  summary: 'Show a watch',
  answers: { 200: json('The watch', WatchAnswer) },
})

export const CHANGE_WATCH = defineRoute('PATCH /api/watches/:id', {
  ...route,
  audit: 'watch_changed',
  summary: 'Change a watch',
  description: 'Only what is named changes; null removes a condition.',
  body: jsonBody(ChangeWatch, { long: '45m', slow: null }),
  answers: { 200: json('The watch', WatchAnswer) },
})

export const DELETE_WATCH = defineRoute('DELETE /api/watches/:id', {
  ...route,
  audit: 'watch_deleted',
  summary: 'Delete a watch and its alerts',
  answers: { 204: { description: 'It is deleted' } },
})

export const PUBLISH_BADGE = defineRoute('POST /api/watches/:id/badge', {
  ...route,
  audit: 'badge_published',
  summary: 'Publish a badge at an address that cannot be guessed',
  description: 'An address that was published before stops working. `.svg` shows the badge, `.json` the state.',
  answers: { 200: json('The watch', WatchAnswer, { watch: { ...exampleOf(Watch), badge: '/badge/Q7…' } }) },
})

export const REVOKE_BADGE = defineRoute('DELETE /api/watches/:id/badge', {
  ...route,
  audit: 'badge_revoked',
  summary: 'Revoke the badge',
  answers: { 204: { description: 'Its address no longer works' } },
})

export const BadgeState = Type.Object({
  name: Text('nightly import'),
  state: choice(WATCH_STATES),
  firing: Type.Integer({ minimum: 0 }),
  sentence: Type.String({
    description: 'How the processes that it covers are, in the words of Home; empty if none is known.',
    examples: ['1 process is silent.'],
  }),
})
export type BadgeState = Static<typeof BadgeState>

export const SHOW_BADGE = defineRoute('GET /badge/:name', {
  tag: 'watches',
  access: 'anyone',
  summary: 'Show a published badge or its state',
  description:
    'The name is the published one with `.svg` for an image or `.json` for the state. The image shows how the ' +
    'processes of the watch are, as Home does, or the state of the watch if none is known. Processes and metas are ' +
    'not named.',
  answers: { 200: json('The state; with `.svg` an image', BadgeState) },
  problems: ['not_found', 'internal', 'store_unavailable'],
})
