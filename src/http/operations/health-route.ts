// GET /api/health: is what was accepted on its way to its store. Totals of this Stint, and the caller's own dead letters; why a delivery is
// paused and how many dead letters there are in all is the operator's business: a store's words may quote other accounts' events.
import { Elysia } from 'elysia'
import type { Accounts } from '../../account/accounts.ts'
import type { Destination } from '../../event/event.ts'
import { formatStamp } from '../../event/stamp.ts'
import { assertNoParameters } from '../../query/question.ts'
import type { Shipper } from '../../ship/shipper.ts'
import type { Spool } from '../../spool/spool.ts'
import type { DeadLetters } from '../../state/dead-letters.ts'
import type { Sink } from '../../store/sink.ts'
import { type Health, SHOW_HEALTH } from '../../wire/operations.ts'
import { jsonAnswer } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'

type Both<T> = Readonly<Record<Destination, T>>

export interface HealthDeps {
  readonly spools: Both<Pick<Spool, 'stats'>>
  readonly sinks: Both<Pick<Sink, 'store'>>
  readonly shippers: Both<Pick<Shipper, 'status'>>
  readonly deadLetters: Pick<DeadLetters, 'count' | 'stats'>
  readonly accounts: Pick<Accounts, 'isOperator'>
  /** Of one account; `unknown` counts it when its watches could not be judged. */
  watches(account: string): Promise<{ firing: number; unknown: number; outbox: { waiting: number } }>
  /** NODE_ID. */
  readonly node: number
  nowUs(): number
}

export interface HealthRouteDeps {
  /** The account a request may read, by key or session. Throws Problem `key_invalid` or `scope_missing`. */
  accountOf(request: Request): Promise<string>
  readonly health: HealthDeps
}

export function healthRoute({ accountOf, health }: HealthRouteDeps) {
  return new Elysia({ normalize: false }).get(
    SHOW_HEALTH.path,
    async ({ request }) => {
      const account = await accountOf(request)
      assertNoParameters(new URL(request.url).searchParams)
      const isOperator = health.accounts.isOperator(account)
      const nowUs = health.nowUs()
      const { firing, unknown, outbox } = await health.watches(account)
      return jsonAnswer({
        node: health.node,
        watches: { firing, unknown: unknown > 0, waiting: outbox.waiting },
        spools: eachOf((destination) => {
          const { records, bytes, oldestUs } = health.spools[destination].stats()
          return { records, bytes, oldest_s: oldestUs === undefined ? 0 : Math.max(0, (nowUs - oldestUs) / 1e6) }
        }),
        destinations: eachOf((destination) => {
          const { state, reason, sinceUs } = health.shippers[destination].status()
          return {
            store: health.sinks[destination].store,
            state,
            ...(isOperator && reason !== undefined && { reason }),
            since: formatStamp({ us: sinceUs, sub: 0 }),
          }
        }),
        dead: {
          own: health.deadLetters.count(account),
          ...(isOperator && { total: health.deadLetters.stats().total }),
        },
      } satisfies Health)
    },
    describeRoute(SHOW_HEALTH),
  )
}

const eachOf = <T>(answer: (destination: Destination) => T): Both<T> => ({
  points: answer('points'),
  exceptions: answer('exceptions'),
})
