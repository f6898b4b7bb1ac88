// Alert rules as Grafana's file provisioning reads them. Grafana expands `$…` in every text of such a file, so none may contain a dollar.
import type { Dashboard } from './dashboard.ts'
import { exceptionQueries } from './exception-queries.ts'
import { type AlertQueries, FAILED_MINUTES, HANG_DAYS, LATE_FACTOR, SILENCE_DAYS } from './point-queries.ts'
import { promTarget, type Target } from './target.ts'

/** Thresholds: change them here and run `bun run dashboards`, or in the provisioned file. */
const RUN_LONGER_THAN_S = 3600
const OVERDUE_BY_S = 3600
const SPOOL_OLDER_THAN_S = 300
const AWAY_FOR_S = 120 // longer than a restart takes

interface Rule {
  readonly uid: string
  readonly title: string
  readonly target: Target
  /** The rule fires while the value is above this … */
  readonly above: number
  /** … and has been for this long. */
  readonly forS: number
  readonly severity: 'warning' | 'critical'
  readonly summary: string
  readonly description: string
  /** The state while the query returns no series; `OK` by default. */
  readonly noDataState?: 'OK' | 'Alerting'
  /** The state while the query fails; `Error` by default. */
  readonly execErrState?: 'Error' | 'KeepLast'
  /** The overview's panel that shows the rule's states as annotations. */
  readonly panel?: string
}

/** `overview` is the dashboard whose panels show the states of rules. */
export function renderAlertRules(queries: AlertQueries, overview: Dashboard): object {
  const rules: readonly Rule[] = [
    {
      uid: 'stint-run-too-long',
      title: 'A run takes too long',
      target: queries.longestRunning(),
      above: RUN_LONGER_THAN_S,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} has been running for {{ humanizeDuration .Values.B.Value }}',
      description: `A start older than ${RUN_LONGER_THAN_S} s has no end yet. The alert fires until the run ends, for at most ${HANG_DAYS} days.`,
      panel: 'Running now',
    },
    {
      uid: 'stint-process-silent',
      title: 'A process is silent',
      target: queries.overdue(),
      above: OVERDUE_BY_S,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} {{ .Labels.meta }} is overdue by {{ humanizeDuration .Values.B.Value }}',
      description: `Nothing has come for more than ${LATE_FACTOR} times its usual gap and an hour. The usual gap is the second longest of the last ${SILENCE_DAYS} days, in whole hours, for each process and meta.`,
      panel: 'Processes',
    },
    {
      uid: 'stint-run-failed',
      title: 'A run failed',
      target: queries.failedRuns(),
      above: 0,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} {{ .Labels.meta }} has a failed run',
      description: `A run failed within the last ${FAILED_MINUTES} minutes, or the newest run that ended has failed. The alert resolves when a later run completes.`,
      panel: 'Failed runs',
    },
    {
      uid: 'stint-exceptions',
      title: 'A process sends exceptions',
      target: exceptionQueries.recent(),
      above: 0,
      forS: 0,
      severity: 'warning',
      summary: '{{ .Labels.process }} sent {{ .Values.B.Value }} exceptions',
      description: `Counted over the last ${FAILED_MINUTES} minutes, also for processes that send nothing else.`,
      panel: 'Exceptions',
      // With the embedded engine there is no ClickHouse to ask; that it is away is reported by the rules about Stint.
      execErrState: 'KeepLast',
    },
    {
      uid: 'stint-away',
      title: 'Stint does not answer',
      // `bool`: a plain comparison would return no series while all is well.
      target: promTarget('max by (instance) (up{job="stint"} < bool 1)', '{{instance}}'),
      above: 0,
      forS: AWAY_FOR_S,
      severity: 'critical',
      summary: 'Stint does not answer',
      description: `Prometheus could not read /metrics for ${AWAY_FOR_S} s, so the other rules about Stint have no data. Every accepted event is on its disk.`,
      noDataState: 'Alerting',
    },
    {
      uid: 'stint-refuses',
      title: 'Stint refuses events',
      // The reasons of /readyz, and failed writes; `busy` and `stopping` pass by themselves.
      target: promTarget(
        'sum by (reason) (rate(stint_events_refused_total{reason=~"spool_full|disk_low|disk_failed"}[5m]))',
        '{{reason}}',
      ),
      above: 0,
      forS: 0,
      severity: 'critical',
      summary: 'Stint refuses events: {{ .Labels.reason }}',
      description:
        'In the last five minutes the spool was full, or the disk was almost full or failed. Clients must send these events again.',
    },
    {
      uid: 'stint-dead-letters',
      title: 'Dead letters exist',
      target: promTarget('sum by (destination) (stint_dead_letters)', '{{destination}}'),
      above: 0,
      forS: 0,
      severity: 'warning',
      summary: 'The store of {{ .Labels.destination }} has refused {{ .Values.B.Value }} events',
      description: '`stint dead list` shows each with its reason; replay or remove them.',
    },
    {
      uid: 'stint-destination-parked',
      title: 'A destination is parked',
      target: promTarget('max by (destination) (stint_destination_parked)', '{{destination}}'),
      above: 0,
      forS: 60,
      severity: 'critical',
      summary: 'Delivery of {{ .Labels.destination }} is paused',
      description:
        'The store refuses whole batches or Stint itself. See the reason in the log or in /api/health. Nothing is lost while the spool has room.',
    },
    {
      uid: 'stint-spool-old',
      title: 'Events wait too long for their store',
      target: promTarget('max by (destination) (stint_spool_oldest_seconds)', '{{destination}}'),
      above: SPOOL_OLDER_THAN_S,
      forS: 60,
      severity: 'critical',
      summary: 'The oldest event for {{ .Labels.destination }} has waited for {{ humanizeDuration .Values.B.Value }}',
      description: `Events wait on disk for more than ${SPOOL_OLDER_THAN_S} s: the store is down or too slow.`,
    },
  ]
  // Rules about runs read days of events from a store, so they are evaluated less often.
  const [ofRuns, ofStint] = [rules.slice(0, 4), rules.slice(4)]
  const toGroup = (name: string, interval: string, own: readonly Rule[]) => ({
    orgId: 1,
    name,
    folder: 'Stint',
    interval,
    rules: own.map((rule) => toRule(rule, overview)),
  })
  return {
    apiVersion: 1,
    groups: [toGroup('stint', '1m', ofStint), toGroup('runs', '5m', ofRuns)],
  }
}

/** A, the query; B, its last value of each series; C, whether that is too much. */
function toRule(rule: Rule, overview: Dashboard): object {
  const { uid, title, target, above, forS, severity, summary, description } = rule
  const { noDataState = 'OK', execErrState = 'Error' } = rule
  const panel = overview.panels.find((it) => it.title === rule.panel)
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
    execErrState,
    for: `${forS}s`,
    ...(panel !== undefined && { dashboardUid: overview.uid, panelId: panel.id }),
    annotations: { summary, description },
    labels: { severity },
    isPaused: false,
  }
}
