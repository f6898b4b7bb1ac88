// The shipper of a destination, on the rooms that it needs.
import type { Accounts } from '../account/accounts.ts'
import type { Clock } from '../clock.ts'
import type { Both, Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ClosedDays } from '../query/closed-days.ts'
import { adoptDecisions } from '../query/former-decisions.ts'
import { createShipper, type Shipper } from '../ship/shipper.ts'
import type { Spool } from '../spool/spool.ts'
import type { DeadLetters } from '../state/dead-letters.ts'
import type { KeptFiles } from '../state/kept-files.ts'
import type { Stores } from '../store/open-stores.ts'
import type { Sink, WriteResult } from '../store/sink.ts'

interface ShipperParts {
  readonly spools: Both<Spool>
  readonly stores: Stores
  readonly keptFiles: KeptFiles
  readonly deadLetters: DeadLetters
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly accounts: Pick<Accounts, 'groupStates'>
  readonly closedDays: Pick<ClosedDays, 'note'>
}

/**
 * An insert costs ClickHouse some 12 ms of processor time; a row in one of 20,000 costs 0.6 of a row in one of 5,000.
 */
const CLICKHOUSE_WRITES = { limits: { records: 20_000, bytes: 4 * 2 ** 20 }, maxLines: 20_000, lingerMs: 500 }

export function createShipperTo(destination: Destination, parts: ShipperParts): Shipper {
  const { spools, stores, keptFiles, metrics, accounts, closedDays, ...same } = parts
  const sink = stores.sinks[destination]
  const adopting = { states: accounts.groupStates, clock: same.clock, log: same.log }
  return createShipper({
    ...same,
    ...(sink.store === 'clickhouse' && CLICKHOUSE_WRITES),
    destination,
    spool: spools[destination],
    sink: noting(
      whileKept(destination === 'exceptions' ? adoptDecisions(sink, adopting) : sink, keptFiles),
      closedDays.note,
    ),
    meter: {
      delivered: (n) => metrics.delivered.labels(destination).inc(n),
      expired: (n) => metrics.expired.labels(destination).inc(n),
      dead: (n) => metrics.dead.labels(destination).inc(n),
      deliverySeconds: (s) => metrics.deliverySeconds.labels(destination).observe(s),
      batch: (outcome) => metrics.batches.labels(destination, outcome).inc(),
    },
  })
}

/** Notes what the store has taken, or may have, before the spool's position moves. */
const noting = (sink: Sink, note: ClosedDays['note']): Sink => ({
  ...sink,
  async write(events) {
    const result = await sink.write(events)
    note(events)
    return result
  },
})

/**
 * Takes nothing while a part of DATA_DIR is lost: the events stay in the spool, which survives. Looks before and after
 * each request: what the store took in between may be gone as well.
 */
function whileKept(sink: Sink, kept: Pick<KeptFiles, 'lost'>): Sink {
  const guarded = async (work: () => Promise<WriteResult>): Promise<WriteResult> => {
    const before = lostNow()
    if (before !== undefined) return before
    const result = await work()
    return lostNow() ?? result
  }
  const lostNow = (): WriteResult | undefined => {
    const reason = kept.lost()
    return reason === undefined ? undefined : { kind: 'wait', reason }
  }
  return {
    ...sink,
    prepare: () => guarded(() => sink.prepare()),
    write: (events) => guarded(() => sink.write(events)),
    check: (like) => guarded(() => sink.check(like)),
  }
}
