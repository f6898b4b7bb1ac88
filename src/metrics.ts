// Stint's own metrics for Prometheus, one row each. Totals only: no account, key or process is ever a label.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

type Row = readonly [name: string, help: string, ...labelNames: string[]]

const COUNTERS = {
  accepted: ['stint_events_accepted_total', 'Events answered with 201', 'kind'],
  refused: ['stint_events_refused_total', 'Refused requests under /v1 by problem code', 'kind', 'reason'],
  delivered: ['stint_delivered_total', 'Events stored by their destination', 'destination'],
  expired: ['stint_expired_total', "Points older than their store's retention", 'destination'],
  dead: ['stint_dead_total', 'Events moved to the dead letters', 'destination'],
  accountActions: [
    'stint_account_actions_total',
    'Sign-ins, failed sign-ins, and changes of keys and accounts',
    'action',
  ],
  batches: ['stint_batches_total', 'Writes to a store, by outcome', 'destination', 'outcome'],
  notifications: ['stint_notifications_total', 'Deliveries of notifications, by kind of channel', 'kind', 'outcome'],
} as const satisfies Record<string, Row>

const GAUGES = {
  spoolRecords: ['stint_spool_records', 'Records on disk that are not stored yet', 'destination'],
  spoolBytes: ['stint_spool_bytes', 'Bytes that the spool uses on disk', 'destination'],
  spoolOldestSeconds: ['stint_spool_oldest_seconds', 'Age of the oldest record that is not stored yet', 'destination'],
  spoolDamaged: ['stint_spool_damaged_records', 'Damaged or missing records since the start', 'destination'],
  deadLetters: ['stint_dead_letters', 'Dead letters that are kept', 'destination'],
  parked: ['stint_destination_parked', '1 while a destination waits for an operator, else 0', 'destination'],
  accountsSuspended: ['stint_accounts_suspended', 'Accounts that the operator has suspended'],
  alertsFiring: ['stint_alerts_firing', 'Alerts that fire'],
  watchBehindSeconds: ['stint_watch_behind_seconds', 'Events that arrived so long ago are judged'],
  notificationsWaiting: ['stint_notifications_waiting', 'Notifications that are not delivered yet'],
  notificationsOldestSeconds: ['stint_notifications_oldest_seconds', 'Age of the oldest one'],
  spoolLimitBytes: ['stint_spool_limit_bytes', 'Size at which the spool refuses events', 'destination'],
  diskFreeBytes: ['stint_disk_free_bytes', 'Free space of the file system that holds DATA_DIR'],
  buildInfo: ['stint_build_info', 'The running version; the value is always 1', 'version', 'commit', 'runtime'],
  clockLeadSeconds: ['stint_clock_lead_seconds', 'How far the stamps are ahead of the wall clock'],
} as const satisfies Record<string, Row>

const HISTOGRAMS = {
  commitSeconds: ['stint_commit_seconds', 'Duration of one group commit, until it is on the disk', 'destination'],
  notificationSeconds: ['stint_notification_seconds', 'Time from an alert to the delivery of its notification'],
  alertSeconds: ['stint_alert_seconds', 'Time since which an alert fires until its first notification is delivered'],
  liveSeconds: ['stint_live_seconds', 'Time from arrival until open pages know of it, oldest event of each batch'],
  deliverySeconds: ['stint_delivery_seconds', 'Time from arrival to store, oldest event of each batch', 'destination'],
  questionSeconds: ['stint_question_seconds', 'Time to answer a question under /api', 'question'],
} as const satisfies Record<string, Row>

const BUCKETS: Record<keyof typeof HISTOGRAMS, number[]> = {
  commitSeconds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  notificationSeconds: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400],
  alertSeconds: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400],
  liveSeconds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
  questionSeconds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45],
  deliverySeconds: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400],
}

/**
 * prom-client's default metrics except those of V8's garbage collector and heap spaces, which Bun lacks (the question
 * for heap spaces costs a full collection, up to a second), and except gauges that are named `_total`.
 */
const PROCESS_METRICS: readonly ((registry: Registry, config: { eventLoopMonitoringPrecision: number }) => void)[] = [
  require('prom-client/lib/metrics/processCpuTotal'),
  require('prom-client/lib/metrics/processStartTime'),
  require('prom-client/lib/metrics/osMemoryHeap'),
  require('prom-client/lib/metrics/processOpenFileDescriptors'),
  require('prom-client/lib/metrics/processMaxFileDescriptors'),
  require('prom-client/lib/metrics/eventLoopLag'),
  require('prom-client/lib/metrics/heapSizeAndUsed'),
  require('prom-client/lib/metrics/version'),
]

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  for (const register of PROCESS_METRICS) register(registry, { eventLoopMonitoringPrecision: 100 })
  const each = <K extends string, M>(rows: Record<K, Row>, create: (row: MetricOptions, key: K) => M) =>
    Object.fromEntries(
      Object.entries<Row>(rows).map(([key, [name, help, ...labelNames]]) => [
        key,
        create({ name, help, labelNames, registers: [registry] }, key as K),
      ]),
    ) as Record<K, M>
  /** Events by kind: a plain sum, read at each scrape: incrementing a Counter would cost each request 0.2 µs. */
  const accepted: Record<string, number> = {}
  function setAccepted(this: Counter<string>): void {
    this.reset()
    for (const [kind, events] of Object.entries(accepted)) this.inc({ kind }, events)
  }
  return {
    registry,
    ...each(COUNTERS, (row, key) => new Counter(key === 'accepted' ? { ...row, collect: setAccepted } : row)),
    countAccepted(kind: string, events: number): void {
      accepted[kind] = (accepted[kind] ?? 0) + events
    },
    ...each(GAUGES, (row) => new Gauge(row)),
    /** In seconds. */
    requestSeconds: createCheapHistogram(registry, {
      name: 'stint_request_seconds',
      help: 'Time from the arrival of a single event to its 201',
      buckets: BUCKETS.commitSeconds,
    }),
    ...each(HISTOGRAMS, (row, key) => new Histogram({ ...row, buckets: BUCKETS[key] })),
  }
}

interface MetricOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
  readonly registers: Registry[]
}

// A histogram for the hot path: an observation is a walk over a few numbers; Prometheus' form is made at each scrape.
interface HistogramRow {
  readonly name: string
  readonly help: string
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** Registers a histogram without labels. */
function createCheapHistogram(registry: Registry, { name, help, buckets }: HistogramRow) {
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  const get = async () => {
    let total = 0
    const values = [...buckets, '+Inf'].map((le, i) => {
      total += counts[i]!
      return { metricName: `${name}_bucket`, labels: { le }, value: total }
    })
    const figures = [
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: total },
    ]
    return { name, help, type: 'histogram', aggregator: 'sum', values: [...values, ...figures] }
  }
  registry.registerMetric({ name, help, type: 'histogram', labelNames: [], get } as never)
  return {
    observe(value: number): void {
      let i = 0
      while (i < buckets.length && value > buckets[i]!) i++
      counts[i]!++
      sum += value
    },
  }
}
