// Stint's own figures for Prometheus. Totals only: nothing here is by account, key or process.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const LATENCY_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const DELIVERY_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400]

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    accepted: new Counter({
      name: 'stint_events_accepted_total',
      help: 'Events that were answered with 201, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    refused: new Counter({
      name: 'stint_events_refused_total',
      help: 'Requests under /v1 that were not accepted, by kind of event and code of the problem',
      labelNames: ['kind', 'reason'] as const,
      registers,
    }),
    spoolRecords: new Gauge({
      name: 'stint_spool_records',
      help: 'Records that are on disk and not yet stored',
      labelNames: ['destination'] as const,
      registers,
    }),
    spoolBytes: new Gauge({
      name: 'stint_spool_bytes',
      help: 'Bytes that the spool takes on disk',
      labelNames: ['destination'] as const,
      registers,
    }),
    spoolOldestSeconds: new Gauge({
      name: 'stint_spool_oldest_seconds',
      help: 'Age of the oldest record that is not yet stored',
      labelNames: ['destination'] as const,
      registers,
    }),
    spoolDamaged: new Gauge({
      name: 'stint_spool_damaged_records',
      help: 'Damaged records that were set aside since the start',
      labelNames: ['destination'] as const,
      registers,
    }),
    delivered: new Counter({
      name: 'stint_delivered_total',
      help: 'Events that their store has taken',
      labelNames: ['destination'] as const,
      registers,
    }),
    expired: new Counter({
      name: 'stint_expired_total',
      help: "Points that were older than their store's retention",
      labelNames: ['destination'] as const,
      registers,
    }),
    dead: new Counter({
      name: 'stint_dead_total',
      help: 'Events that went to the dead letters',
      labelNames: ['destination'] as const,
      registers,
    }),
    batches: new Counter({
      name: 'stint_batches_total',
      help: 'Writes to a store, by what it made of them',
      labelNames: ['destination', 'outcome'] as const,
      registers,
    }),
    deadLetters: new Gauge({
      name: 'stint_dead_letters',
      help: 'Dead letters that are kept',
      labelNames: ['destination'] as const,
      registers,
    }),
    parked: new Gauge({
      name: 'stint_destination_parked',
      help: '1 while a destination waits for an operator, else 0',
      labelNames: ['destination'] as const,
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'stint_commit_seconds',
      help: 'Time of one group commit: write and fdatasync',
      labelNames: ['destination'] as const,
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'stint_delivery_seconds',
      help: 'Time from arrival to being stored, of the oldest event of a batch',
      labelNames: ['destination'] as const,
      buckets: DELIVERY_BUCKETS,
      registers,
    }),
    clockLeadSeconds: new Gauge({
      name: 'stint_clock_lead_seconds',
      help: 'How far the stamps are ahead of the wall clock',
      registers,
    }),
  }
}
