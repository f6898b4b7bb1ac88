// One InfluxDB store: its sink, its source and its facts.
import type { Logger } from '../../log.ts'
import type { Sink } from '../sink.ts'
import type { InfluxAddress } from './client.ts'
import { createInfluxSink } from './sink.ts'
import { createInfluxSource } from './source.ts'

/** Marks are streamed and paired in bounded memory (stream-timings.ts). Tags are indexed: 2.3 GB for 500,000 values. */
export const INFLUX_FACTS = { maxMarks: 10_000_000, seriesCost: true }

interface InfluxOptions extends InfluxAddress {
  /** 0 = keep forever. Applied only to a bucket that `prepare` creates. */
  readonly retentionDays: number
  readonly log: Logger
}

/** Opens no connection. */
export function openInflux({ retentionDays, log, ...address }: InfluxOptions) {
  const source = createInfluxSource(address)
  const sinks: Sink[] = []
  return {
    createSink(): Sink {
      const sink = createInfluxSink({ ...address, retentionDays, log })
      sinks.push(sink)
      return sink
    },
    source,
    /** Closes sinks and source with it. */
    async close(): Promise<void> {
      await Promise.all([source, ...sinks].map((part) => part.close()))
    },
  }
}
