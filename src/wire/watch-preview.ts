// The alerts that a watch would have fired, before it is made.
import { type Static, Type } from '@sinclair/typebox'
import { AlertSummary } from './alerts.ts'
import { CONDITIONS } from './conditions.ts'
import { defineRoute, json, jsonBody } from './route.ts'
import { choice, orNull, ProcessName, TimeMs } from './shapes.ts'
import { CreateWatch } from './watches.ts'

/** A watch as it would be made; what is not judged may be there or not. */
export const PreviewWatch = Type.Object(
  {
    ...CreateWatch.properties,
    name: Type.Optional(CreateWatch.properties.name),
    channels: Type.Optional(CreateWatch.properties.channels),
  },
  { additionalProperties: false },
)
export type PreviewWatch = Static<typeof PreviewWatch>

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })

export const PreviewedAlert = Type.Object({
  condition: choice(CONDITIONS),
  process: ProcessName,
  meta: orNull(Type.String()),
  uid: orNull(Type.String()),
  since: TimeMs,
  resolved_at: orNull(TimeMs, undefined, 'Null: it would still fire.'),
  summary: AlertSummary,
})
export type PreviewedAlert = Static<typeof PreviewedAlert>

export const WatchPreview = Type.Object({
  from: TimeMs,
  to: TimeMs,
  marks: count('Starts and ends since `from`.', 1440),
  points: count('Points of the metric, if the watch has one.', 0),
  exceptions: count('Exceptions that are not ignored, if they count as failures.', 0),
  events: count('All of these; 0: nothing is stored that the conditions look at.', 1440),
  truncated: Type.Boolean({ description: 'There were more than 50,000 of a kind in 30 days: `from` is later.' }),
  total: count('Alerts that would have fired.', 1),
  alerts: Type.Array(PreviewedAlert, { description: 'Newest first, at most 100.' }),
})
export type WatchPreview = Static<typeof WatchPreview>

export const PREVIEW_WATCH = defineRoute('POST /api/watches/preview', {
  tag: 'watches',
  access: 'view',
  summary: 'Show what a watch would have fired',
  description:
    'Judges the stored history as if the watch had been there: of 30 days at most 50,000 starts and ends, points and ' +
    'exceptions each, the newest ones, every event at its own time and without downtimes. Creates nothing. The body ' +
    'is that of `POST /api/watches`; `name` and `channels` may be absent.',
  body: jsonBody(PreviewWatch, {
    process: 'nightly import',
    late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' },
    long: '30m',
    failed: { after: 1 },
  }),
  answers: { 200: json('What would have fired', WatchPreview) },
  problems: ['question_too_large'],
})
