// Creates every counter at zero. A counter that appears with its first increment hides that increment from rate() and increase().
import { EVENT_KINDS } from '../event/event.ts'
import type { AuditAction } from '../http/accounts/account-routes.ts'
import type { Metrics } from '../metrics.ts'
import type { ProblemCode } from '../problem.ts'
import type { WriteResult } from '../store/sink.ts'
import { CHANNEL_KINDS } from '../wire/channels.ts'

/** What `/v1` can refuse with. */
const REFUSALS = [
  'key_invalid',
  'scope_missing',
  'not_found',
  'method_not_allowed',
  'body_too_large',
  'content_type_unsupported',
  'json_malformed',
  'fields_invalid',
  'series_budget_spent',
  'rate_limited',
  'internal',
  'disk_failed',
  'busy',
  'spool_full',
  'disk_low',
  'spool_missing',
  'stopping',
] as const satisfies readonly ProblemCode[]

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
  for (const destination of ['points', 'exceptions']) {
    for (const counter of [metrics.delivered, metrics.expired, metrics.dead]) counter.labels(destination).inc(0)
    for (const outcome of OUTCOMES) metrics.batches.labels(destination, outcome).inc(0)
  }
}
