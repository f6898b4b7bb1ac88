// GET /api/alerts/:id: everything that somebody needs who was notified of an alert.
import { type Static, Type } from '@sinclair/typebox'
import { Alert } from './alerts.ts'
import { CHANNEL_KINDS } from './channel-kinds.ts'
import { ExceptionText } from './exceptions.ts'
import { ProcessNote } from './process-notes.ts'
import { defineRoute, json, LOCAL_QUESTION } from './route.ts'
import { choice, orNull, Text, Time, TimeMs } from './shapes.ts'
import { Timing } from './timings.ts'
import { Watch } from './watches.ts'

const { process, meta, uid, state, started_at, ended_at, duration_ms } = Timing.properties

/** A run around an alert. */
export const AroundRun = Type.Object({ process, meta, uid, state, started_at, ended_at, duration_ms })
export type AroundRun = Static<typeof AroundRun>

export const AlertRun = Type.Object({
  ...AroundRun.properties,
  exit: orNull(
    Type.Object({ code: orNull(Type.Integer(), 3), signal: orNull(Type.String({ description: 'Such as SIGKILL.' })) }),
    { code: 3, signal: null },
    'How its command ended, if `stint exec` or stint.sh reported it: a code or a signal.',
  ),
})
export type AlertRun = Static<typeof AlertRun>

const Late = Type.Object({
  due_at: orNull(TimeMs, '2026-11-20T02:00:00.000Z', 'When the missing start was due.'),
  last_start_at: orNull(Time, '2026-11-19T02:00:00.171920000Z'),
  gaps_ms: Type.Array(Type.Number({ minimum: 0, examples: [86_400_000] }), {
    description: 'Between its last starts before `since`, at most 10, oldest first.',
  }),
})

const Figure = orNull(Type.Number())

const ComparedMetric = Type.Object({
  name: Text('rows'),
  value: Figure,
  good_value: Figure,
})

export const RaisedException = Type.Object({
  ...ExceptionText.properties,
  first_seen_at: Type.Optional(
    Type.String({ ...Time, description: 'The first one of its group and process that is stored.' }),
  ),
  previous_at: Type.Optional(
    orNull(
      Time,
      undefined,
      'The newest one of its group and process before it, before this run and of the last 90 days; null: it is new. ' +
        'Absent, with the other two, while their store does not answer.',
    ),
  ),
  last_7_days: Type.Optional(
    Type.Integer({ minimum: 1, description: 'How many there were of its group and process in the 7 days up to it.' }),
  ),
})
export type RaisedException = Static<typeof RaisedException>

const ChannelRef = Type.Object({
  id: Text('cha_9d3k7f1w5b8r2t6y'),
  name: Text('on call'),
  kind: choice(CHANNEL_KINDS),
})

const NOTIFICATION_STATES = ['delivered', 'failing', 'dropped', 'waiting'] as const
const SentNotification = Type.Object({
  channel: ChannelRef,
  type: choice(['alert.firing', 'alert.resolved', 'alert.reminder'] as const),
  at: Type.String({ ...TimeMs, description: 'Of the last attempt; of a waiting one when it was made.' }),
  state: choice(NOTIFICATION_STATES, {
    description:
      '`failing`: it is tried again. `dropped`: its receiver refused it for good, it was given up after 24 hours, or ' +
      'its channel was disabled. `waiting`: it is not sent yet.',
  }),
  answer: orNull(
    Type.String({ description: 'What the receiver said last; a viewer and a key without `manage` see its status.' }),
    '204',
  ),
})
export type SentNotification = Static<typeof SentNotification>

const UNNOTIFIED_REASONS = [
  ...(['disabled', 'unconfirmed', 'conditions', 'delay', 'maintenance'] as const),
  ...(['acknowledged', 'other'] as const),
] as const
const NotNotified = Type.Object({
  channel: ChannelRef,
  reason: choice(UNNOTIFIED_REASONS, {
    description:
      '`disabled`, `unconfirmed`: the channel is. `conditions`: its filter leaves this condition out. `delay`, ' +
      '`maintenance`: its notification waits, or the alert ended before. `acknowledged`: somebody did while it ' +
      'waited. `other`: the watch did not have this channel, the alert was over when it became known, or the ' +
      'notification is not recorded, as in 2.0.',
  }),
  until: orNull(TimeMs, undefined, 'When the notification is sent if the alert still fires; null: it is not.'),
})
export type NotNotified = Static<typeof NotNotified>

/** Parts that a store is asked for. */
const STORED_PARTS = [
  ...(['run', 'good_run', 'late', 'metrics', 'output', 'good_output'] as const),
  ...(['exceptions', 'around'] as const),
] as const
export type StoredPart = (typeof STORED_PARTS)[number]

const More = Type.Integer({ minimum: 0, description: 'How many others there are.' })

export const AlertDetail = Type.Object({
  alert: Alert,
  watch: orNull(Watch, undefined, 'Null once it is deleted.'),
  run: orNull(AlertRun, undefined, 'The run that failed, is slow or runs too long; null for `late` and `metric`.'),
  good_run: orNull(
    AlertRun,
    undefined,
    'The last run of the same process and meta before it, or before `since`, that completed without an exception.',
  ),
  late: orNull(Late, undefined, 'Only of `late`.'),
  metrics: Type.Array(ComparedMetric, {
    description: 'Of both runs; those that differ most, as a ratio, first. Null: that run sent none.',
  }),
  output: orNull(Type.String(), '120412 rows imported, 3 skipped'),
  good_output: orNull(Type.String()),
  exceptions: Type.Array(RaisedException, { description: 'Of the run, else of the alert; newest first, at most 20.' }),
  around: Type.Object(
    { failed: Type.Array(AroundRun), more_failed: More, running: Type.Array(AroundRun), more_running: More },
    {
      description:
        'What else failed, and what ran, within ten minutes of `since`: the 8 of each nearest to it, and how many ' +
        'more of the newest 1,000. Longer ago than `RETENTION_DAYS` nothing is stored.',
    },
  ),
  notifications: Type.Array(SentNotification, { description: 'Oldest first.' }),
  not_notified: Type.Array(NotNotified, { description: 'Channels of the watch that got no notification of it.' }),
  ...ProcessNote.properties,
  unavailable: Type.Array(choice(STORED_PARTS), {
    description:
      'Parts that their store did not answer within 3 s, and `good_run` until what came before the alert is stored. ' +
      'Such a part is null or empty, or has what is known without the store: of the run its start, end and state, ' +
      'and the first line of its exception.',
  }),
})
export type AlertDetail = Static<typeof AlertDetail>

export const SHOW_ALERT = defineRoute('GET /api/alerts/:id', {
  ...LOCAL_QUESTION,
  summary: 'Show an alert with its run, beside the last good one',
  description:
    'Also an alert that has ended, for 90 days. Each part that a store is asked for has 3 s; `unavailable` names ' +
    'those that did not come.',
  answers: { 200: json('The alert', AlertDetail) },
})
