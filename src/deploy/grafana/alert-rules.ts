// Alert rules for Grafana's file provisioning, all over Prometheus. Only Stint's watches judge jobs: a second judge
// would disagree. Grafana expands `$…` in every text of such a file, so none may contain a dollar.
import type { Dashboard } from './dashboard.ts'
import { promTarget, type Target } from './target.ts'

/** Thresholds: change them here and run `bun run dashboards`, or in the provisioned file. */
const NEVER_ENDED = 2
const SPOOL_OLDER_THAN_S = 300
const AWAY_FOR_S = 120 // longer than a restart takes

interface Rule {
  readonly uid: string
  readonly title: string
  readonly target: Target
  /** The rule fires while the value is above this (0 by default) … */
  readonly above?: number
  /** … and has been for this long (at once by default). */
  readonly forS?: number
  readonly severity: 'warning' | 'critical'
  readonly summary: string
  readonly description: string
  /** The state while the query returns no series; `OK` by default. */
  readonly noDataState?: 'OK' | 'Alerting'
  /** The overview's panel that shows the rule's states as annotations. */
  readonly panel?: string
}

/** `overview` is the dashboard whose panels show the states of rules. */
export function renderAlertRules(overview: Dashboard): object {
  const rules: readonly Rule[] = [
    {
      uid: 'stint-watch-firing',
      title: 'A watch fires',
      target: promTarget('max by (watch, condition, process) (stint_alert_firing)', '{{watch}} {{condition}}'),
      severity: 'warning',
      summary: '{{ .Labels.process }}: {{ .Labels.watch }} ({{ .Labels.condition }})',
      description:
        "Stint's own judgement by the watch of this name: a run is late, failed, too long or too slow, or a " +
        'metric is out of range. The alert resolves when Stint resolves it.',
      panel: 'Processes',
    },
    {
      uid: 'stint-runs-never-end',
      title: 'Runs start and never end',
      // No watch judges this: without uid the second start may be a concurrent run, and starts on time are not late.
      target: promTarget(
        'sum by (process, meta) (stint_runs_24h{state="abandoned"}) unless sum by (process, meta) ' +
          '(stint_runs_24h{state=~"completed|failed"}) > 0',
        '{{process}} {{meta}}',
      ),
      above: NEVER_ENDED,
      severity: 'warning',
      summary: '{{ .Labels.process }} {{ .Labels.meta }} was started {{ .Values.B.Value }} times and never ended',
      description:
        `More than ${NEVER_ENDED} runs of the last 24 hours were abandoned, and none ended: the process is killed ` +
        'and restarted, or sends no ends.',
      panel: 'Processes',
    },
    {
      uid: 'stint-watches-unread',
      title: 'Alerts of watches are not read',
      // 1 when /api/prometheus was read within the last week but not now; without a key it never was: nothing fires.
      target: promTarget(
        'max by (instance) ((up{job="stint-processes"} < bool 1) * max_over_time(up{job="stint-processes"}[7d]))',
        '{{instance}}',
      ),
      forS: AWAY_FOR_S,
      severity: 'critical',
      summary: 'Prometheus cannot read /api/prometheus',
      description:
        `Prometheus could not read /api/prometheus for ${AWAY_FOR_S} s, so no alert of a watch reaches Grafana. ` +
        'Check that the key of PROMETHEUS_KEY_FILE is valid and has the scope read.',
    },
    {
      uid: 'stint-away',
      title: 'Stint does not answer',
      // `bool`: a plain comparison would return no series while all is well.
      target: promTarget('max by (instance) (up{job="stint"} < bool 1)', '{{instance}}'),
      forS: AWAY_FOR_S,
      severity: 'critical',
      summary: 'Stint does not answer',
      description:
        `Prometheus could not read /metrics for ${AWAY_FOR_S} s, so the other rules about Stint have no data. ` +
        'Every accepted event is on its disk.',
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
      severity: 'critical',
      summary: 'Stint refuses events: {{ .Labels.reason }}',
      description:
        'In the last five minutes the spool was full, or the disk was almost full or failed. Clients must send ' +
        'these events again.',
    },
    {
      uid: 'stint-dead-letters',
      title: 'Dead letters exist',
      target: promTarget('sum by (destination) (stint_dead_letters)', '{{destination}}'),
      severity: 'warning',
      summary: 'The store of {{ .Labels.destination }} has refused {{ .Values.B.Value }} events',
      description: '`stint dead list` shows each with its reason; replay or remove them.',
    },
    {
      uid: 'stint-destination-parked',
      title: 'A destination is parked',
      target: promTarget('max by (destination) (stint_destination_parked)', '{{destination}}'),
      forS: 60,
      severity: 'critical',
      summary: 'Delivery of {{ .Labels.destination }} is paused',
      description:
        'The store refuses whole batches or Stint itself. See the reason in the log or in /api/health. Nothing ' +
        'is lost while the spool has room.',
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
  const group = {
    ...{ orgId: 1, name: 'stint', folder: 'Stint', interval: '1m' },
    rules: rules.map((rule) => toRule(rule, overview)),
  }
  return { apiVersion: 1, groups: [group] }
}

/** A, the query; B, its last value of each series; C, whether that is too much. */
function toRule(rule: Rule, overview: Dashboard): object {
  const { uid, title, target, above = 0, forS = 0, severity, summary, description, noDataState = 'OK' } = rule
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
    execErrState: 'Error',
    for: `${forS}s`,
    ...(panel !== undefined && { dashboardUid: overview.uid, panelId: panel.id }),
    annotations: { summary, description },
    labels: { severity },
    isPaused: false,
  }
}
