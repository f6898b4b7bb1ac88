// Opens the room that knows what processes are like, on the spools, the stores and the watches.
import type { Accounts } from '../account/accounts.ts'
import type { Arrivals } from '../event/arrivals.ts'
import type { Both } from '../event/event.ts'
import { createLive, type Live } from '../live/live.ts'
import { NO_OTHERS } from '../live/other-nodes.ts'
import { createMedians } from '../live/overview/medians.ts'
import { type AskOverview, createOverview } from '../live/overview/overview.ts'
import type { TailSpool } from '../live/tail.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { ask, type Desk } from '../query/desk.ts'
import type { Config } from '../settings.ts'
import { pointStoreFacts, type Stores } from '../store/open-stores.ts'
import type { Watches } from '../watch/watches.ts'
import { createFindWatched } from './find-watched.ts'

interface LiveParts {
  readonly config: Config
  readonly log: Logger
  readonly spools: Both<TailSpool>
  readonly arrivals: Pick<Arrivals, 'leastUs'>
  readonly stores: Stores
  readonly accounts: Pick<Accounts, 'groupStates' | 'notes'>
  readonly watches: Watches
  readonly metrics: Pick<Metrics, 'liveSeconds'>
  readonly desk: Desk
  /** No earlier than any stamp given so far. */
  nowUs(): number
}

const MOST_BYTES = 96 * 2 ** 20
/** Of the memory that this process may use. */
const SHARE = 5

export function openLive(parts: LiveParts): { readonly live: Live; readonly overview: AskOverview } {
  const { config, log, spools, stores, accounts, watches, desk, nowUs } = parts
  const inTurn = <T>(account: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    desk(account, { lane: 'live', isPart: true }, (signal) => ask(work(signal)))
  const { points, exceptions } = stores
  const common = { inTurn, log, maxRunUs: config.maxRunUs, nowUs }
  const memory = process.constrainedMemory() || Number.POSITIVE_INFINITY
  const live = createLive({
    ...common,
    spools,
    sources: { points, exceptions },
    others: watches.others ?? NO_OTHERS,
    receivingUs: parts.arrivals.leastUs,
    onForget: (account) => overview.drop(account),
    observe: (seconds) => parts.metrics.liveSeconds.observe(seconds),
    maxMarks: config.queryMaxMarks ?? pointStoreFacts(config.influx).maxMarks,
    maxBytes: Math.min(MOST_BYTES, memory / SHARE),
  })
  const overview = createOverview({
    ...common,
    live,
    medians: createMedians({ ...common, points }),
    watched: createFindWatched(watches),
    decisions: accounts.groupStates.list,
    note: accounts.notes.find,
    held: watches.maintenance.held,
  })
  return { live, overview }
}
