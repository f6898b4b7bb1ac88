// Alert rules as Grafana's file provisioning reads them. It expands `$…` in every text of such a file: none may hold a dollar.
import type { AlertQueries } from './point-queries.ts'
import { promTarget, type Target } from './target.ts'

/** N, to be changed here or in the provisioned file: `bun run dashboards` writes it. */
const RUN_LONGER_THAN_S = 3600
const SILENT_FOR_S = 26 * 3600 // a daily job is late by two hours
const SPOOL_OLDER_THAN_S = 300
const AWAY_FOR_S = 120 // longer than a restart takes

interface Rule {
  readonly uid: string
  readonly title: string
  readonly target: Target
  /** It fires while the value is above this, … */
  readonly above: number
  /** … and has been for so long. */
  readonly forS: number
  readonly severity: 'warning' | 'critical'
  readonly summary: string
  readonly description: string
  /** What it is when the query has no answer. `OK` unless something else is said: who has sent nothing is late for nothing. */
  readonly noDataState?: 'OK' | 'Alerting'
}

export function renderAlertRules(queries: AlertQueries): object {
  const rules: readonly Rule[] = [
    {
      uid: 'stint-run-too-long',
      title: 'A run takes too long',
      target: queries.longestRunning(),
      above: RUN_LONGER_THAN_S,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} has a run that goes on for {{ humanizeDuration .Values.B.Value }}',
      description: `A start without its end, older than ${RUN_LONGER_THAN_S} s.`,
    },
    {
      uid: 'stint-process-silent',
      title: 'Nothing comes from a process',
      target: queries.silence(),
      above: SILENT_FOR_S,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} has sent nothing for {{ humanizeDuration .Values.B.Value }}',
      description: `Neither a mark nor a metric for ${SILENT_FOR_S} s, of a process that was heard of within a week.`,
    },
    {
      uid: 'stint-away',
      title: 'Stint does not answer',
      // `bool`: what only filters has no answer while all is well.
      target: promTarget('max by (instance) (up{job="stint"} < bool 1)', '{{instance}}'),
      above: 0,
      forS: AWAY_FOR_S,
      severity: 'critical',
      summary: 'Stint does not answer',
      description: `Prometheus could not read /metrics for ${AWAY_FOR_S} s, and no other rule knows anything of Stint meanwhile. What it had accepted is on its disk.`,
      noDataState: 'Alerting',
    },
    {
      uid: 'stint-refuses',
      title: 'Stint refuses events',
      // Why /readyz says 503, and what it cannot know before it writes; `busy` and `stopping` pass by themselves.
      target: promTarget(
        'sum by (reason) (rate(stint_events_refused_total{reason=~"spool_full|disk_low|disk_failed"}[5m]))',
        '{{reason}}',
      ),
      above: 0,
      forS: 0,
      severity: 'critical',
      summary: 'Stint cannot keep what it is sent: {{ .Labels.reason }}',
      description:
        'Within the last five minutes: the spool is full, the disk almost full, or it failed. Who sent the events must send them again.',
    },
    {
      uid: 'stint-dead-letters',
      title: 'There are dead letters',
      target: promTarget('sum by (destination) (stint_dead_letters)', '{{destination}}'),
      above: 0,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Values.B.Value }} events for {{ .Labels.destination }} were refused by their store for good',
      description: 'List them with `stint dead`; each has its reason, and can be replayed or removed.',
    },
    {
      uid: 'stint-destination-parked',
      title: 'A destination is parked',
      target: promTarget('max by (destination) (stint_destination_parked)', '{{destination}}'),
      above: 0,
      forS: 60,
      severity: 'critical',
      summary: 'Delivery of {{ .Labels.destination }} waits for an operator',
      description:
        'The store refuses whole batches, or Stint itself: the log and /api/health say why. Nothing is lost while the spool has room.',
    },
    {
      uid: 'stint-spool-old',
      title: 'Events wait too long for their store',
      target: promTarget('max by (destination) (stint_spool_oldest_seconds)', '{{destination}}'),
      above: SPOOL_OLDER_THAN_S,
      forS: 60,
      severity: 'critical',
      summary: 'The oldest of {{ .Labels.destination }} waits for {{ humanizeDuration .Values.B.Value }}',
      description: `Accepted, on disk, and not stored for ${SPOOL_OLDER_THAN_S} s: the store is away or too slow.`,
    },
  ]
  // What asks a store about marks reads all of a MAX_RUN: less often than what costs nothing.
  const [ofRuns, ofStint] = [rules.slice(0, 2), rules.slice(2)]
  const toGroup = (name: string, interval: string, own: readonly Rule[]) => ({
    orgId: 1,
    name,
    folder: 'Stint',
    interval,
    rules: own.map(toRule),
  })
  return {
    apiVersion: 1,
    groups: [toGroup('stint', '1m', ofStint), toGroup('runs', '5m', ofRuns)],
  }
}

/** A, the query; B, its last value of each series; C, whether that is too much. */
function toRule(rule: Rule): object {
  const { uid, title, target, above, forS, severity, summary, description, noDataState = 'OK' } = rule
  const expression = (refId: string, model: object) => ({
    refId,
    datasourceUid: '__expr__',
    relativeTimeRange: { from: 600, to: 0 },
    model: { refId, datasource: { type: '__expr__', uid: '__expr__' }, ...model },
  })
  return {
    uid,
    title,
    condition: 'C',
    data: [
      {
        refId: 'A',
        datasourceUid: target.datasource.uid,
        relativeTimeRange: { from: 600, to: 0 },
        model: { refId: 'A', ...target },
      },
      expression('B', { type: 'reduce', expression: 'A', reducer: 'last' }),
      expression('C', {
        type: 'threshold',
        expression: 'B',
        conditions: [{ evaluator: { type: 'gt', params: [above] } }],
      }),
    ],
    noDataState,
    execErrState: 'Error',
    for: `${forS}s`,
    annotations: { summary, description },
    labels: { severity },
    isPaused: false,
  }
}
