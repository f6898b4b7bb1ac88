// The counters of shipping; metrics.ts exports them to Prometheus.
import type { WriteResult } from '../store/sink.ts'

export interface ShipMeter {
  /** Events the store took. */
  delivered(events: number): void
  /** Points (a metric counts one a name) that the store dropped because they lie outside its retention. */
  expired(points: number): void
  /** Events buried in the dead letters. */
  dead(events: number): void
  /** The time of a delivered batch from the arrival of its oldest event until all of it was stored. */
  deliverySeconds(seconds: number): void
  /** One write and what the store made of it. */
  batch(outcome: WriteResult['kind']): void
}
