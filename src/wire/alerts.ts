// Alerts: a watch's condition that fires or fired.
import { type Static, Type } from '@sinclair/typebox'
import { CONDITIONS, type Condition } from './conditions.ts'
import { defineRoute, exampleOf, json } from './route.ts'
import { choice, orNull, ProcessName, pageOf, Text, TimeMs } from './shapes.ts'

const ALERT_STATES = ['firing', 'resolved'] as const

/** Why an alert does not fire any more. */
export const ENDINGS = ['event', 'changed', 'deleted', 'person', 'expired'] as const
export type EndedBy = (typeof ENDINGS)[number]

const Acknowledged = Type.Object({
  by: Type.String({ description: 'The address of the session, or the name of the key.' }),
  at: TimeMs,
})

export const AlertSummary = Text(
  'nightly import is late: it should start every 1d, and did not by 2026-11-20 02:10 UTC',
)
const WatchRef = Type.Object({ id: Text('wat_4m8s1q0z7c2n5v9x'), name: Text('nightly import') })

export const Alert = Type.Object({
  id: Text('ale_2j6h0p4d8g3k7m1n'),
  watch: WatchRef,
  condition: choice(CONDITIONS),
  state: choice(ALERT_STATES),
  process: ProcessName,
  meta: orNull(Type.String()),
  uid: orNull(Type.String()),
  started_at: orNull(Type.String({ format: 'date-time', description: 'The start of the run that it is about.' })),
  since: TimeMs,
  resolved_at: orNull(TimeMs),
  ended_by: orNull(
    choice(ENDINGS, {
      description:
        '`event`: what the condition waits for happened. `changed`, `deleted`: its watch was. `person`: resolved ' +
        'by hand. `expired`: nothing arrived for 30 days. Null while it fires, and for alerts that an earlier ' +
        'version ended.',
    }),
  ),
  notified_at: orNull(TimeMs, '2026-11-20T21:52:44.000Z'),
  acknowledged: orNull(Acknowledged),
  summary: AlertSummary,
  path: Text('/#/alert?id=ale_2j6h0p4d8g3k7m1n&account=acc_5k0c2v9d1xw7q3ma', 'Its page in the console.'),
})
export type Alert = Static<typeof Alert>

/** A check that is judged later. */
export const Unjudged = Type.Object({
  watch: WatchRef,
  condition: orNull(choice(CONDITIONS, { description: 'Null: every condition.' })),
  process: orNull(Type.String({ description: 'Null: every process of the watch.' })),
  since: TimeMs,
  reason: Text(
    'A downtime of Stint, 2026-11-21 02:59:58 UTC to 2026-11-21 03:00:27 UTC, when a start was due; ' +
      'judged at 2026-11-21 03:01 UTC',
  ),
})
export type Unjudged = Static<typeof Unjudged>

export const AlertPage = Type.Composite([
  pageOf('alerts', Alert),
  Type.Object({
    unjudged: Type.Array(Unjudged, {
      description: 'Checks that are judged later, or not at all because of a limit; on the first page only.',
    }),
  }),
])
export type AlertPage = Static<typeof AlertPage>

export const AlertAnswer = Type.Object({ alert: Alert })
export type AlertAnswer = Static<typeof AlertAnswer>

export interface WebhookBody {
  readonly type: 'alert.firing' | 'alert.resolved' | 'alert.reminder' | 'test'
  readonly timestamp: string
  readonly data: {
    readonly id: string
    readonly watch: { readonly id: string; readonly name: string }
    /** Null for a test. */
    readonly condition: Condition | null
    readonly process: string
    readonly meta: string | null
    readonly uid: string | null
    readonly since: string
    readonly started_at: string | null
    /** Set when it does not fire any more, also in an `alert.firing` that is sent after the end. */
    readonly resolved_at: string | null
    readonly ended_by: EndedBy | null
    /** The headline of the run's exception. */
    readonly exception: string | null
    /** With `failed`: when its group was raised before that run; null: it is new. Absent while that is not known. */
    readonly exception_previous_at?: string | null
    /** The median of the last completed runs. */
    readonly usual_ms: number | null
    readonly summary: string
    readonly note: string | null
    /** Opens the alert in the console. */
    readonly url: string
  }
}

const route = { tag: 'watches', access: 'manage' } as const

export const LIST_ALERTS = defineRoute('GET /api/alerts', {
  ...route,
  access: 'view',
  hasTag: true,
  summary: 'List alerts, newest first',
  parameters: ['limit'],
  ownParameters: {
    state: choice(ALERT_STATES, { description: 'Only alerts in this state.' }),
    process: Type.String({ minLength: 1, maxLength: 250, description: 'Only alerts about this process.' }),
    cursor: Type.String({ description: 'The `next` of the previous page.' }),
  },
  answers: { 200: json('The alerts', AlertPage) },
})

const ALERT = exampleOf(Alert)
const ACKNOWLEDGED: Alert = { ...ALERT, acknowledged: { by: 'ada@example.com', at: '2026-11-20T21:55:00.000Z' } }
const RESOLVED: Alert = {
  ...ACKNOWLEDGED,
  state: 'resolved',
  resolved_at: '2026-11-20T22:10:00.000Z',
  ended_by: 'person',
}

export const ACKNOWLEDGE_ALERT = defineRoute('POST /api/alerts/:id/ack', {
  ...route,
  audit: 'alert_acknowledged',
  summary: 'Acknowledge an alert',
  description: 'Silences its reminders and delayed channels. It keeps firing. The first one is kept.',
  answers: { 200: json('The alert', AlertAnswer, { alert: ACKNOWLEDGED }) },
  problems: ['alert_ended'],
})

export const UNACKNOWLEDGE_ALERT = defineRoute('DELETE /api/alerts/:id/ack', {
  ...route,
  audit: 'acknowledgement_undone',
  summary: 'Undo the acknowledgement of an alert',
  answers: { 200: json('The alert', AlertAnswer) },
})

export const RESOLVE_ALERT = defineRoute('POST /api/alerts/:id/resolve', {
  ...route,
  audit: 'alert_resolved',
  summary: 'Resolve an alert by hand',
  description: 'It does not fire again for the same due time, run or failure. Its channels are notified.',
  answers: { 200: json('The alert', AlertAnswer, { alert: RESOLVED }) },
})

export const DISMISS_ALERT = defineRoute('POST /api/alerts/:id/dismiss', {
  ...route,
  audit: 'alert_resolved',
  summary: 'Resolve an alert by hand (deprecated name)',
  description: 'The same as `POST /api/alerts/:id/resolve`.',
  answers: { 200: json('The alert', AlertAnswer, { alert: RESOLVED }) },
})
