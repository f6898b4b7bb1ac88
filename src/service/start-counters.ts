// Creates every counter at zero. A counter that appears with its first increment hides that increment from rate() and increase().
import { DESTINATIONS, EVENT_KINDS } from '../event/event.ts'
import type { AuditAction } from '../http/accounts/account-routes.ts'
import type { Metrics } from '../metrics.ts'
import type { ProblemCode } from '../problem.ts'
import type { WriteResult } from '../store/sink.ts'
import { CHANNEL_KINDS } from '../wire/channels.ts'
import { EVENT_ROUTES, SEND_BATCH } from '../wire/events.ts'

/** Problems that the routes under `/v1` answer with, and those that no single route declares. */
const REFUSALS = new Set([
  ...[...EVENT_ROUTES.start.problems, ...SEND_BATCH.problems].map((problem) =>
    typeof problem === 'string' ? problem : problem.code,
  ),
  ...(['not_found', 'method_not_allowed', 'spool_missing', 'stopping'] satisfies ProblemCode[]),
])

const ACTIONS = Object.keys({
  account_created: true,
  account_deleted: true,
  password_changed: true,
  signed_in: true,
  sign_in_failed: true,
  key_created: true,
  key_rotated: true,
  key_revoked: true,
} satisfies Record<AuditAction, true>)

const OUTCOMES = Object.keys({
  stored: true,
  refused: true,
  too_large: true,
  retry: true,
  wait: true,
} satisfies Record<WriteResult['kind'], true>)

export function startCounters(metrics: Metrics): void {
  for (const kind of EVENT_KINDS) metrics.countAccepted(kind, 0)
  for (const kind of [...EVENT_KINDS, 'other'])
    for (const reason of REFUSALS) metrics.refused.labels(kind, reason).inc(0)
  for (const action of ACTIONS) metrics.accountActions.labels(action).inc(0)
  for (const kind of CHANNEL_KINDS)
    for (const outcome of ['delivered', 'failed']) metrics.notifications.labels(kind, outcome).inc(0)
  for (const destination of DESTINATIONS) {
    for (const counter of [metrics.delivered, metrics.expired, metrics.dead]) counter.labels(destination).inc(0)
    for (const outcome of OUTCOMES) metrics.batches.labels(destination, outcome).inc(0)
  }
}
