// Stint itself, from its own /metrics through Prometheus: a report that a store is down must not depend on that store.
import { createDashboard, type Dashboard, row } from './dashboard.ts'
import { type Panel, stat, timeSeries, type Unit } from './panels.ts'
import { promTarget, type Target } from './target.ts'

/** The range over which a rate is measured. */
const RATE = '[$__rate_interval]'

const lines = (title: string, unit: Unit, targets: readonly Target[], description?: string): Panel =>
  timeSeries({ title, unit, targets, draw: 'lines', ...(description !== undefined && { description }) })

const percentile = (q: number, histogram: string, by: 'destination' | 'question' = 'destination'): Target =>
  promTarget(`histogram_quantile(${q}, sum by (le, ${by}) (rate(${histogram}_bucket${RATE})))`, `p${q * 100} {{${by}}}`)

export function stintDashboard(uid: string): Dashboard {
  return createDashboard({
    uid,
    title: 'Stint itself',
    description: "Stint's own /metrics: accepted, waiting, stored, refused and dead events.",
    variables: [],
    rows: [
      row(
        5,
        stat({
          title: 'Waiting',
          description: 'Age of the oldest event that is not stored yet.',
          targets: [promTarget('max by (destination) (stint_spool_oldest_seconds)', '{{destination}}')],
          unit: 's',
          warnFrom: 300,
        }),
        stat({
          title: 'Dead letters',
          targets: [promTarget('sum by (destination) (stint_dead_letters)', '{{destination}}')],
          unit: 'short',
          warnFrom: 1,
        }),
        stat({
          title: 'Parked',
          description: '1 while delivery to a destination is paused until an operator acts.',
          targets: [promTarget('max by (destination) (stint_destination_parked)', '{{destination}}')],
          unit: 'short',
          warnFrom: 1,
        }),
      ),
      row(
        8,
        lines('Events accepted', 'ops', [
          promTarget(`sum by (kind) (rate(stint_events_accepted_total${RATE}))`, '{{kind}}'),
        ]),
        lines('Requests refused', 'ops', [
          promTarget(`sum by (kind, reason) (rate(stint_events_refused_total${RATE}))`, '{{kind}} {{reason}}'),
        ]),
      ),
      row(
        8,
        lines('Events in the spools', 'short', [
          promTarget('sum by (destination) (stint_spool_records)', '{{destination}}'),
          promTarget('sum by (destination) (stint_spool_damaged_records)', 'damaged {{destination}}'),
        ]),
        lines('Size of the spools', 'bytes', [
          promTarget('sum by (destination) (stint_spool_bytes)', '{{destination}}'),
          promTarget('sum by (destination) (stint_spool_limit_bytes)', 'limit {{destination}}'),
          promTarget('min(stint_disk_free_bytes)', 'free on disk'),
        ]),
        lines('Events stored, expired, dead', 'ops', [
          promTarget(`sum by (destination) (rate(stint_delivered_total${RATE}))`, 'stored {{destination}}'),
          promTarget(`sum by (destination) (rate(stint_expired_total${RATE}))`, 'expired {{destination}}'),
          promTarget(`sum by (destination) (rate(stint_dead_total${RATE}))`, 'dead {{destination}}'),
        ]),
      ),
      row(
        8,
        lines('Writes to the stores, by outcome', 'ops', [
          promTarget(`sum by (destination, outcome) (rate(stint_batches_total${RATE}))`, '{{destination}} {{outcome}}'),
        ]),
        lines(
          'From arrival to stored',
          's',
          [percentile(0.5, 'stint_delivery_seconds'), percentile(0.99, 'stint_delivery_seconds')],
          'The oldest event of each write.',
        ),
        lines(
          'Group commits',
          's',
          [percentile(0.5, 'stint_commit_seconds'), percentile(0.99, 'stint_commit_seconds')],
          'One durable write for all requests that wait for it.',
        ),
      ),
      row(
        8,
        lines(
          'Requests with one event',
          's',
          [0.5, 0.99].map((q) =>
            promTarget(
              `histogram_quantile(${q}, sum by (le) (rate(stint_request_seconds_bucket${RATE})))`,
              `p${q * 100}`,
            ),
          ),
          'From arrival to the 201.',
        ),
        lines('Questions', 's', [percentile(0.95, 'stint_question_seconds', 'question')], 'Under /api.'),
      ),
      row(
        8,
        lines('Processor', 'percentunit', [promTarget(`rate(process_cpu_seconds_total${RATE})`, 'one core = 100%')]),
        lines('Memory', 'bytes', [promTarget('process_resident_memory_bytes', 'resident')]),
        lines(
          'Lead of the clock',
          's',
          [promTarget('stint_clock_lead_seconds', 'ahead of the wall clock')],
          'Above 0 after the wall clock was set back: stamps never go back.',
        ),
      ),
    ],
  })
}
