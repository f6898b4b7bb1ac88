// Opens the room of the watches on the stores, the spools and the settings.
import { join } from 'node:path'
import type { Accounts } from '../account/accounts.ts'
import type { Clock } from '../clock.ts'
import type { Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { groupKeyOf } from '../query/exception-groups.ts'
import type { Config } from '../settings.ts'
import type { Spool } from '../spool/spool.ts'
import type { Stores } from '../store/open-stores.ts'
import type { ExceptionSource, PointSource } from '../store/source.ts'
import type { Range, WatchSource } from '../watch/evaluate/watch-source.ts'
import { openWatches, type Watches } from '../watch/watches.ts'
import { headlineOf } from '../wire/headline.ts'

/** PUBLIC_URL, or the address listened on: a wildcard address cannot be connected to. */
export function publicUrlOf({ publicUrl, host, port, tls }: Config): string {
  if (publicUrl !== undefined) return publicUrl
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`
}

export interface WatchParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly spools: Readonly<Record<Destination, Pick<Spool, 'refusal' | 'stats'>>>
  readonly stores: Stores
  readonly accounts: Pick<Accounts, 'groupStates'>
}

export function openWatchRoom(parts: WatchParts): Watches {
  const { config, clock, log, metrics, spools, stores, accounts } = parts
  return openWatches({
    path: join(config.dataDir, 'watches.sqlite'),
    ...(config.databaseUrl !== undefined && { shared: { url: config.databaseUrl, node: config.nodeId } }),
    source: createWatchSource(stores.points, stores.exceptions, accounts),
    nowUs: clock.wallUs,
    monotonicUs: clock.monotonicUs,
    accepts: () => {
      const refusal = spools.points.refusal()
      return refusal === undefined || refusal === 'busy'
    },
    oldestUnstoredUs: () => ({
      points: spools.points.stats().oldestUs,
      exceptions: spools.exceptions.stats().oldestUs,
    }),
    maxRunUs: config.maxRunUs,
    publicUrl: () => publicUrlOf(config),
    smtp: config.smtp,
    notifyPrivate: config.notifyPrivate,
    heartbeatUrl: config.heartbeatUrl,
    log,
    meter: {
      delivered: (kind) => metrics.notifications.labels(kind, 'delivered').inc(),
      failed: (kind) => metrics.notifications.labels(kind, 'failed').inc(),
      seconds: (s) => metrics.notificationSeconds.observe(s),
      round: (s) => metrics.watchRoundSeconds.observe(s),
    },
  })
}

// The stores as the evaluation of watches asks them: times in µs, exceptions by their headline.
const toNs = (us: number): bigint => BigInt(Math.round(us)) * 1000n
const toUs = (ns: bigint): number => Number(ns / 1000n)
const range = ({ account, fromUs, toUs: untilUs }: Range) => ({ account, fromNs: toNs(fromUs), toNs: toNs(untilUs) })

const METRIC_ROWS_MAX = 100_000

export function createWatchSource(
  points: PointSource,
  exceptions: ExceptionSource,
  { groupStates }: WatchParts['accounts'],
): WatchSource {
  return {
    async findMarks({ processes, perSeries, maxRows, ...q }) {
      const rows = await points.findMarks({ ...range(q), maxRows, process: processes, perSeries })
      return rows.map(({ process, meta, uid, mark, ns }) => ({ process, meta, uid, mark, atUs: toUs(ns) }))
    },
    async findNewestStarts({ processes, ...q }) {
      const rows = await points.findNewestStarts({ ...range(q), process: processes })
      return rows.map(({ process, meta, ns }) => ({ process, meta, atUs: toUs(ns) }))
    },
    async findExceptions({ maxRows, ...q }) {
      const states = await groupStates.list(q.account)
      const without = states.filter(({ status }) => status === 'ignored')
      const resolvedUs = new Map(states.map((state) => [groupKeyOf(state), state.atUs]))
      const rows = await exceptions.findExceptions({ ...range(q), without }, { limit: maxRows })
      return rows.map(({ process, meta, uid, atNs, exception, fingerprint }) => ({
        process,
        meta,
        atUs: toUs(atNs),
        headline: headlineOf(exception),
        ...(uid !== '' && { uid }),
        isResolved: toUs(atNs) <= (resolvedUs.get(groupKeyOf({ fingerprint, process })) ?? 0),
      }))
    },
    async aggregateMetrics({ process, name, meta, ...q }) {
      const form = { everyNs: toNs(q.toUs - q.fromUs), maxRows: METRIC_ROWS_MAX }
      const rows = await points.aggregateMetrics({ ...range(q), ...form, process, name, meta })
      if (rows.length >= METRIC_ROWS_MAX) throw new Error('the metrics of the watches have too many series')
      return rows.map(({ atNs, ...row }) => ({ ...row, atUs: toUs(atNs) }))
    },
  }
}
