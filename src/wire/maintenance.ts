// Maintenance: stretches of time in which notifications about some processes are held back.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, jsonBody } from './route.ts'
import { closed, orNull, Text, TimeMs } from './shapes.ts'
import { Processes, Span } from './watches.ts'

const Moment = (description: string) => Type.String({ format: 'date-time', description: `RFC 3339. ${description}` })

const Repeat = closed({
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'It begins at each moment.',
    examples: ['0 2 * * 0'],
  }),
  tz: Type.Optional(Type.String({ maxLength: 100, description: 'Time zone of `cron`; UTC when absent.' })),
  length: Span('It lasts this long.', '2h'),
})

export const CreateMaintenance = closed({
  process: Processes,
  from: Type.Optional(orNull(Moment('Now when absent; a repeating one may be without a beginning.'))),
  to: Type.Optional(orNull(Moment('Required unless it repeats.'))),
  repeat: Type.Optional(orNull(Repeat)),
})
export type CreateMaintenance = Static<typeof CreateMaintenance>

export const ChangeMaintenance = Type.Partial(CreateMaintenance, { additionalProperties: false, minProperties: 1 })
export type ChangeMaintenance = Static<typeof ChangeMaintenance>

const [FROM, TO] = ['2026-11-22T01:00:00.000Z', '2026-11-22T03:00:00.000Z']

export const Maintenance = Type.Object({
  id: Text('mnt_8f2k5w0c4r7t1y3m'),
  process: Text('nightly *'),
  from: orNull(TimeMs, FROM),
  to: orNull(TimeMs, TO),
  repeat: orNull(Repeat),
  active: Type.Boolean({ description: 'Notifications are held back now.' }),
  until: orNull(TimeMs),
  next_due: orNull(TimeMs, undefined, 'When it begins next by its cron expression; null without one.'),
  created_at: TimeMs,
})
export type Maintenance = Static<typeof Maintenance>

const MaintenanceAnswer = Type.Object({ maintenance: Maintenance })
export type MaintenanceAnswer = Static<typeof MaintenanceAnswer>
const Maintenances = Type.Object({ maintenance: Type.Array(Maintenance) })
export type Maintenances = Static<typeof Maintenances>

const route = { tag: 'watches', access: 'manage' } as const
export const LIST_MAINTENANCE = defineRoute('GET /api/maintenance', {
  ...route,
  access: 'view',
  hasTag: true,
  summary: 'List maintenances',
  answers: { 200: json('The maintenances, oldest first', Maintenances) },
})

export const CREATE_MAINTENANCE = defineRoute('POST /api/maintenance', {
  ...route,
  audit: 'maintenance_created',
  summary: 'Plan a maintenance',
  description:
    'Watches are still checked; notifications are held back. What still fires at the end is notified then, what ' +
    'fired and ended meanwhile is not.',
  body: jsonBody(CreateMaintenance, { process: 'nightly *', from: FROM, to: TO }),
  answers: { 201: json('The maintenance', MaintenanceAnswer) },
  problems: ['limit_reached'],
})

export const SHOW_MAINTENANCE = defineRoute('GET /api/maintenance/:id', {
  ...route,
  access: 'view',
  summary: 'Show a maintenance',
  answers: { 200: json('The maintenance', MaintenanceAnswer) },
})

export const CHANGE_MAINTENANCE = defineRoute('PATCH /api/maintenance/:id', {
  ...route,
  audit: 'maintenance_changed',
  summary: 'Change a maintenance',
  description: 'Only what is named changes. An end in the past ends it: what it held back is sent.',
  body: jsonBody(ChangeMaintenance, { to: TO }),
  answers: { 200: json('The maintenance', MaintenanceAnswer) },
})

export const DELETE_MAINTENANCE = defineRoute('DELETE /api/maintenance/:id', {
  ...route,
  audit: 'maintenance_deleted',
  summary: 'Delete a maintenance',
  description: 'What it held back is sent.',
  answers: { 204: { description: 'It is deleted' } },
})
