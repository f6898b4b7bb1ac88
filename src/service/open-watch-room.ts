// Opens the room of the watches on the stores, the spools and the settings.
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Spool } from '../spool/spool-interface.ts'
import type { Stores } from '../store/open-stores.ts'
import { openWatches, type Watches } from '../watch/watches.ts'
import { createWatchSource } from './watch-source.ts'

/** An address that every interface listens on is no address to go to. */
export function localUrl({ host, port, tls }: Config): string {
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
}

export function openWatchRoom({ config, clock, log, metrics, spools, stores }: WatchParts): Watches {
  return openWatches({
    path: join(config.dataDir, 'watches.sqlite'),
    ...(config.databaseUrl !== undefined && { shared: { url: config.databaseUrl, node: config.nodeId } }),
    source: createWatchSource(stores.points, stores.exceptions),
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
    publicUrl: () => config.publicUrl ?? localUrl(config),
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
