// Liveness, readiness, metrics for Prometheus, and the health of delivery.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { defineRoute, json, LOCAL_QUESTION } from './route.ts'
import { Count, choice, ProcessName, Text, Time, TimeMs } from './shapes.ts'

const SpoolHealth = Type.Object({ records: Count, bytes: Count, oldest_s: Type.Number({ minimum: 0 }) })

const DestinationHealth = Type.Object({
  store: Text('clickhouse'),
  state: choice(['idle', 'shipping', 'retrying', 'parked']),
  reason: Type.Optional(Type.String({ description: 'Why delivery is paused; only the operator sees it.' })),
  since: Time,
})

const both = <T extends TSchema>(schema: T) => Type.Object({ points: schema, exceptions: schema })

const WatchHealth = Type.Object({
  firing: Count,
  unknown: Type.Boolean({
    description: 'The watches could not be checked for a minute. Their alerts stay as they are.',
  }),
  waiting: Type.Integer({ minimum: 0, description: 'Notifications of all accounts that are not delivered yet.' }),
  oldest_s: Type.Number({ minimum: 0, description: 'The age of the oldest of them.' }),
})

const OtherNode = Type.Object({
  node: Type.Integer({ minimum: 0, description: 'NODE_ID.' }),
  seen_at: TimeMs,
  silent: Type.Boolean({ description: 'Without a heartbeat for 10 s and without an orderly stop.' }),
})

const WARNINGS = [
  'node_id_in_use',
  'events_split',
  'node_silent',
  'watches_lost',
  'watches_unwritable',
  'dead_letters_full',
  ...([
    'database_away',
    'disk_stuck',
    'clock_ahead',
    'erasure_waiting',
    'downtimes',
    'notifications_waiting',
    'quota',
  ] as const),
] as const
export const HealthWarning = Type.Object({ code: choice(WARNINGS), detail: Type.String() })
export type HealthWarning = Static<typeof HealthWarning>

export const Health = Type.Object({
  version: Text('2.1.0', 'Semantic version of the server.'),
  commit: Type.Optional(Text('0123456789ab', 'The first 12 digits of its commit, where they are known.')),
  node: Type.Integer({
    minimum: 0,
    description: 'NODE_ID of the node that answers. Spools, deliveries and dead letters are its own.',
  }),
  watches: WatchHealth,
  spools: both(SpoolHealth),
  destinations: both(DestinationHealth),
  dead: Type.Object({
    own: Count,
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'Of all accounts; only the operator sees it.' })),
  }),
  use: Type.Object({
    bytes_24h: Type.Integer({ minimum: 0, description: 'Bytes that this node accepted of your account in 24 hours.' }),
    quota_bytes: Type.Integer({ minimum: 0, description: 'QUOTA_BYTES: what it accepts in that time; 0 = no limit.' }),
  }),
  refused_pings: Type.Array(
    Type.Object({ process: ProcessName, name: Text('sate', 'Of the parameter that was refused.'), at: TimeMs }),
    {
      description: 'Pings of your account to this node in the last 30 days that a parameter made a 422, newest first.',
    },
  ),
  nodes: Type.Array(OtherNode, {
    description: 'The other nodes on the same PostgreSQL that were heard of in an hour.',
  }),
  warnings: Type.Array(HealthWarning, {
    examples: [[]],
    description: 'Faults for the operator to fix; `quota`: your account has sent 80 % of its quota, or all of it.',
  }),
})
export type Health = Static<typeof Health>

const route = { tag: 'operations', access: 'anyone' } as const

export const SHOW_HEALTH = defineRoute('GET /api/health', {
  ...LOCAL_QUESTION,
  summary: 'Show the state of delivery to the stores',
  description: '`spools` holds what is accepted and not yet stored.',
  parameters: [],
  answers: { 200: json('The health', Health) },
})

export const DISMISS_LOST_WATCHES = defineRoute('DELETE /api/health/lost-watches', {
  ...LOCAL_QUESTION,
  tag: 'operations',
  access: 'operate',
  audit: 'lost_watches_dismissed',
  summary: 'Dismiss the warning about lost watches',
  description:
    'Without watches.sqlite at a start every watch is gone, and `warnings` says so until a watch is made or this is ' +
    'called. For the session of an owner of the operator’s account.',
  answers: { 204: { description: 'It is dismissed' } },
})

export const LIVEZ = defineRoute('GET /livez', {
  ...route,
  summary: 'Is the process alive?',
  answers: { 200: { description: 'It is', body: 'ok\n' } },
  problems: [],
})

export const READYZ = defineRoute('GET /readyz', {
  ...route,
  summary: 'Can an event be taken?',
  answers: {
    200: {
      description:
        'One of the two spools can, at least. Another line each says what is refused, and which file cannot be read',
      body: 'ready\n',
    },
  },
  problems: ['spool_full', 'disk_low', 'disk_failed', 'spool_missing', 'node_id_in_use', 'stopping', 'internal'],
})

export const SHOW_METRICS = defineRoute('GET /metrics', {
  ...route,
  summary: 'Metrics for Prometheus',
  answers: { 200: { description: 'Prometheus text format', body: 'stint_events_accepted_total{kind="start"} 12\n' } },
  problems: ['internal'],
})
