// Which store holds what: exceptions are in ClickHouse, points in InfluxDB when there is one, else in ClickHouse too.
// Without a ClickHouse address the engine runs inside this process.
import type { ClickHouseConfig, InfluxConfig } from '../config.ts'
import type { Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import { openClickHouse } from './clickhouse/open.ts'
import { createInfluxSink } from './influx/sink.ts'
import { createInfluxSource } from './influx/source.ts'
import type { Sink } from './sink.ts'
import type { ExceptionSource, PointSource } from './source.ts'

export interface StoresOptions {
  readonly influx: InfluxConfig | undefined
  readonly clickhouse: ClickHouseConfig | undefined
  /** Where the embedded engine keeps its data. */
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

/** Opens no connection to a remote store. Throws when the embedded engine cannot be had. */
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
  const pointSink = createInfluxSink({ ...influx, retentionDays, log })
  const points = createInfluxSource({ ...influx })
  return {
    sinks: { points: pointSink, exceptions: exceptionSink },
    points,
    exceptions: engine.source,
    async close() {
      await Promise.all([pointSink.close(), points.close(), engine.close()])
    },
  }
}
