// Alerts: a watch's condition that fires or fired.
import { type Static, Type } from '@sinclair/typebox'
import { WRITE_PROBLEMS } from './problem.ts'
import { defineRoute, json } from './route.ts'
import { choice, orNull, pageOf, TimeMs } from './shapes.ts'
import { MANAGE_PROBLEMS } from './watches.ts'

export const CONDITIONS = ['late', 'long', 'failed', 'metric', 'slow'] as const
export type Condition = (typeof CONDITIONS)[number]

export const ALERT_STATES = ['firing', 'resolved'] as const

export const Alert = Type.Object({
  id: Type.String(),
  watch: Type.Object({ id: Type.String(), name: Type.String() }),
  condition: choice(CONDITIONS),
  state: choice(ALERT_STATES),
  process: Type.String(),
  meta: orNull(Type.String()),
  uid: orNull(Type.String()),
  since: TimeMs,
  resolved_at: orNull(TimeMs),
  notified_at: orNull(TimeMs),
  summary: Type.String(),
})
export type Alert = Static<typeof Alert>

export const AlertPage = pageOf('alerts', Alert)
export type AlertPage = Static<typeof AlertPage>

export const AlertAnswer = Type.Object({ alert: Alert })
export type AlertAnswer = Static<typeof AlertAnswer>

/** The body of a webhook. */
export interface WebhookBody {
  readonly type: 'alert.firing' | 'alert.resolved' | 'alert.reminder' | 'test'
  readonly timestamp: string
  readonly data: {
    readonly id: string
    readonly watch: { readonly id: string; readonly name: string }
    readonly condition: Condition
    readonly process: string
    readonly meta: string | null
    readonly uid: string | null
    readonly since: string
    readonly summary: string
    readonly url: string
  }
}

const ALERT: Alert = {
  id: 'ale_2j6h0p4d8g3k7m1n',
  watch: { id: 'wat_4m8s1q0z7c2n5v9x', name: 'nightly import' },
  condition: 'late',
  state: 'firing',
  process: 'nightly import',
  meta: null,
  uid: null,
  since: '2026-11-21T03:10:00.000Z',
  resolved_at: null,
  notified_at: '2026-11-21T03:10:02.000Z',
  summary: 'nightly import is late: no start since 2026-11-20 02:00 UTC',
}

const route = { tag: 'watches', access: 'manage' } as const

export const LIST_ALERTS = defineRoute('GET /api/alerts', {
  ...route,
  summary: 'List alerts, newest first',
  parameters: ['limit'],
  ownParameters: {
    state: choice(ALERT_STATES, { description: 'Only alerts in this state.' }),
    cursor: Type.String({ description: 'The `next` of the previous page.' }),
  },
  answers: { 200: json('The alerts', AlertPage, { alerts: [ALERT], next: null }) },
  problems: [...MANAGE_PROBLEMS, 'question_invalid'],
})

export const DISMISS_ALERT = defineRoute('POST /api/alerts/:id/dismiss', {
  ...route,
  summary: 'Dismiss an alert',
  description: 'It counts as resolved; the same run or silence does not fire again.',
  answers: {
    200: json('The alert', AlertAnswer, {
      alert: { ...ALERT, state: 'resolved', resolved_at: '2026-11-21T03:30:00.000Z' },
    }),
  },
  problems: [...MANAGE_PROBLEMS, ...WRITE_PROBLEMS, 'not_found'],
})
