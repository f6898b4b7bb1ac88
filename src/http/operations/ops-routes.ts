// Liveness, readiness and metrics for operators: no key is needed, and no figure is per account.

import type { Quota, QuotaNotice } from '../../account/quota.ts'
import type { Use } from '../../account/use.ts'
import { toTime } from '../../clock.ts'
import type { Both, Destination } from '../../event/event.ts'
import { formatStamp } from '../../event/stamp.ts'
import type { Problem } from '../../problem.ts'
import { parseParameters } from '../../query/question.ts'
import type { Shipper } from '../../ship/shipper.ts'
import type { Spool } from '../../spool/spool.ts'
import type { DeadLetters } from '../../state/dead-letters.ts'
import type { Sink } from '../../store/sink.ts'
import type { Version } from '../../version.ts'
import {
  DISMISS_LOST_WATCHES,
  type HealthWarning,
  LIVEZ,
  READYZ,
  SHOW_HEALTH,
  SHOW_METRICS,
} from '../../wire/operations.ts'
import { METRICS_TYPE, problemResponse, uncachedHeaders } from '../answers.ts'
import type { Mounts } from '../mount.ts'

const TEXT = { headers: uncachedHeaders({ 'content-type': 'text/plain;charset=utf-8' }) }
const METRICS_TEXT = { headers: uncachedHeaders({ 'content-type': METRICS_TYPE }) }

export interface OpsDeps {
  /** The figures as Prometheus text, as they are now. */
  renderMetrics(): Promise<string>
  /** Why no event can be taken right now, or undefined. */
  unready(): Problem | undefined
  /** Faults of a Stint that is ready, a line each: what it refuses, and files that it cannot read. */
  notes(): readonly string[]
}

export function mountOperations({ onAnyone }: Pick<Mounts, 'onAnyone'>, deps: OpsDeps): void {
  const { renderMetrics, unready, notes } = deps
  onAnyone(LIVEZ, () => new Response('ok\n', TEXT))
  onAnyone(READYZ, () => {
    const problem = unready()
    if (problem !== undefined) return problemResponse(problem)
    return new Response(['ready', ...notes(), ''].join('\n'), TEXT)
  })
  onAnyone(SHOW_METRICS, async () => new Response(await renderMetrics(), METRICS_TEXT))
}

// GET /api/health: whether accepted events reach their store. Totals of this Stint, and the caller's own dead letters;
// the reason of a pause and all dead letters are for the operator: a store's message may quote other accounts.
export interface HealthDeps {
  readonly spools: Both<Pick<Spool, 'stats'>>
  readonly sinks: Both<Pick<Sink, 'store'>>
  readonly shippers: Both<Pick<Shipper, 'status'>>
  readonly deadLetters: Pick<DeadLetters, 'count' | 'stats' | 'refusedPings'>
  /** The state of one account's watches; `unknown`: they could not be judged for a minute. */
  watches(
    account: string,
  ): Promise<{ firing: number; unknown: boolean; outbox: { waiting: number; oldestUs?: number } }>
  /** The other nodes of this PostgreSQL. */
  nodes(): readonly { node: number; seenUs: number; isSilent: boolean }[]
  readonly version: Version
  /** NODE_ID. */
  readonly node: number
  /** Is this the operator's account? */
  isOperators(account: string): boolean
  readonly use: Pick<Use, 'bytesOf'>
  readonly quota: Pick<Quota, 'limitBytes' | 'notice'>
  /** `isOperators`: with what only the operator may know. */
  warnings(isOperators: boolean): HealthWarning[]
  dismissLostWatches(): Promise<void>
  nowUs(): number
}

export function mountHealth({ on }: Pick<Mounts, 'on'>, health: HealthDeps): void {
  on(DISMISS_LOST_WATCHES, () => health.dismissLostWatches())
  on(SHOW_HEALTH, async ({ account, isOperator, key }, { request }) => {
    const mayKnow = isOperator || (key !== undefined && health.isOperators(account))
    parseParameters(SHOW_HEALTH, new URL(request.url).searchParams)
    const nowUs = health.nowUs()
    const { firing, unknown, outbox } = await health.watches(account)
    const oldestS = outbox.oldestUs === undefined ? 0 : Math.max(0, (nowUs - outbox.oldestUs) / 1e6)
    return {
      ...health.version,
      node: health.node,
      watches: { firing, unknown, waiting: outbox.waiting, oldest_s: oldestS },
      spools: eachOf((destination) => {
        const { records, bytes, oldestUs } = health.spools[destination].stats()
        return { records, bytes, oldest_s: oldestUs === undefined ? 0 : Math.max(0, (nowUs - oldestUs) / 1e6) }
      }),
      destinations: eachOf((destination) => {
        const { state, reason, sinceUs } = health.shippers[destination].status()
        return {
          store: health.sinks[destination].store,
          state,
          ...(mayKnow && reason !== undefined && { reason }),
          since: formatStamp({ us: sinceUs, sub: 0 }),
        }
      }),
      dead: {
        own: health.deadLetters.count(account),
        ...(isOperator && { total: health.deadLetters.stats().total }),
      },
      use: { bytes_24h: health.use.bytesOf(account), quota_bytes: health.quota.limitBytes },
      refused_pings: health.deadLetters.refusedPings
        .list(account)
        .map(({ process, name, atUs }) => ({ process, name, at: toTime(atUs / 1000) })),
      nodes: health.nodes().map(({ node, seenUs, isSilent }) => ({
        node,
        seen_at: new Date(seenUs / 1000).toISOString(),
        silent: isSilent,
      })),
      warnings: [
        ...health.warnings(mayKnow),
        ...(oldestS > OLDEST_S ? [waitingText(outbox.waiting, oldestS)] : []),
        ...quotaWarnings(health.quota.notice(account)),
      ],
    }
  })
}

/** A notification that waits longer is late for whom it should wake. */
const OLDEST_S = 300

const waitingText = (waiting: number, oldestS: number): HealthWarning => ({
  code: 'notifications_waiting',
  detail:
    `${waiting} notifications are not delivered yet, the oldest for ${Math.floor(oldestS / 60)} minutes: ` +
    'a receiver is slow or refuses them. The channels on Alerts & watches show the last answer of each.',
})

const quotaWarnings = (notice: QuotaNotice | undefined): HealthWarning[] =>
  notice === undefined ? [] : [{ code: 'quota', detail: notice.text }]

const eachOf = <T>(answer: (destination: Destination) => T): Both<T> => ({
  points: answer('points'),
  exceptions: answer('exceptions'),
})
