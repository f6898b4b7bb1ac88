// Opens the stores: ClickHouse for exceptions; for points InfluxDB if configured, otherwise ClickHouse. Without a
// ClickHouse address the engine runs inside this process.

import type { Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { ClickHouseConfig, InfluxConfig } from '../settings.ts'
import { CLICKHOUSE_FACTS, openClickHouse } from './clickhouse/open.ts'
import { INFLUX_FACTS, openInflux } from './influx/open.ts'
import type { Sink } from './sink.ts'
import type { ExceptionSource, PointSource } from './source.ts'

/** Facts that a store of points declares about itself. */
interface PointStoreFacts {
  /** Marks that one question may read unless QUERY_MAX_MARKS says otherwise. */
  readonly maxMarks: number
  /** Whether each distinct (process, meta, name) costs the store memory, so that SERIES_MAX applies. */
  readonly seriesCost: boolean
}

interface StoresOptions {
  readonly influx: InfluxConfig | undefined
  readonly clickhouse: ClickHouseConfig | undefined
  /** The directory of the embedded engine. */
  readonly embeddedPath: string
  readonly retentionDays: number
  readonly log: Logger
}

export interface Stores {
  readonly sinks: Readonly<Record<Destination, Sink>>
  readonly points: PointSource
  readonly exceptions: ExceptionSource
  close(): Promise<void>
}

/** Opens no connection to a remote store. Throws when the embedded engine is not available. */
export async function openStores({
  influx,
  clickhouse,
  embeddedPath,
  retentionDays,
  log,
}: StoresOptions): Promise<Stores> {
  const engine = await openClickHouse({
    address: clickhouse ?? { path: embeddedPath },
    retentionDays,
    holds: influx === undefined ? ['points', 'exceptions'] : ['exceptions'],
    log,
  })
  const exceptionSink = engine.createSink()
  if (influx === undefined) {
    return {
      sinks: { points: engine.createSink(), exceptions: exceptionSink },
      points: engine.source,
      exceptions: engine.source,
      close: () => engine.close(),
    }
  }
  const points = openInflux({ ...influx, retentionDays, log })
  return {
    sinks: { points: points.createSink(), exceptions: exceptionSink },
    points: points.source,
    exceptions: engine.source,
    async close() {
      await Promise.all([points.close(), engine.close()])
    },
  }
}

/** The facts of the store that holds the points. */
export const pointStoreFacts = (influx: InfluxConfig | undefined): PointStoreFacts =>
  influx === undefined ? CLICKHOUSE_FACTS : INFLUX_FACTS
