// All processes or some: their state first, then what is running, what failed and what comes in.
import { createDashboard, type Dashboard, hiddenVariable, row, selectVariable } from './dashboard.ts'
import { exceptionQueries } from './exception-queries.ts'
import { bars, RUN_SHADES } from './panels.ts'
import type { PointQueries } from './point-queries.ts'
import { table } from './table-panel.ts'

/** `percentencode`: Grafana's own format for links keeps & and #. */
const field = (name: string) => `\${__data.fields.${name}:percentencode}`
const PROCESS_LINK = {
  title: 'Show this process',
  url: `/d/stint-process?\${__url_time_range}&var-account=${field('account')}&var-process=${field('process')}`,
}

export function overviewDashboard(uid: string, queries: PointQueries): Dashboard {
  return createDashboard({
    uid,
    title: 'Overview',
    description: 'All processes: state, durations and failures, runs in progress, incoming events.',
    variables: [
      selectVariable(queries, 'account', 'all'),
      selectVariable(queries, 'process', 'all'),
      ...queries.hidden.map(hiddenVariable),
    ],
    exceptions: exceptionQueries.annotations('processes'),
    rows: [
      row(
        11,
        table({
          title: 'Processes',
          description:
            'Runs in the range. The state is that of the run that started last; median and p95 are of ' +
            'completed runs. An abandoned run was started and never ended: a process that is killed and ' +
            'restarted has many. Click a process to open it.',
          targets: [queries.processTable(), exceptionQueries.byProcess()],
          merge: true,
          sortBy: 'last_seen',
          columns:
            'process state last_run last_ms median_ms p95_ms failed abandoned exceptions ' +
            'last_seen last_exception account',
          looks: {
            process: { link: PROCESS_LINK },
            state: { shades: RUN_SHADES },
            last_run: { unit: 'dateTimeAsLocal' },
            last_ms: { unit: 'ms' },
            median_ms: { unit: 'ms' },
            p95_ms: { unit: 'ms' },
            failed: { unit: 'short', redFrom: 1 },
            abandoned: { unit: 'short', redFrom: 1 },
            exceptions: { unit: 'short', redFrom: 1 },
            last_seen: { unit: 'dateTimeFromNow' },
            last_exception: { unit: 'dateTimeFromNow' },
          },
        }),
      ),
      row(
        8,
        bars('Failed runs', queries.failedByProcess('processes'), { label: 'process', red: true }),
        bars('Exceptions', exceptionQueries.overTime('processes'), { label: 'process' }),
        table({
          title: 'Running now',
          description: 'At this moment, whatever the range: starts without a next mark, at most MAX_RUN old.',
          targets: [queries.runningNow()],
          columns: 'process meta uid started running_ms account',
          looks: { process: { link: PROCESS_LINK }, running_ms: { unit: 'ms' } },
        }),
      ),
      row(
        8,
        bars('Marks', queries.marksOverTime(), {
          description:
            'Counted by the store. Each start is one run; a failed run ends with `failed` in place of `ends`.',
        }),
        bars('Runs started', queries.startsByProcess(), { label: 'process' }),
        bars('Metrics', queries.metricsOverTime()),
      ),
      row(
        9,
        table({
          title: 'Exceptions by fingerprint',
          targets: [exceptionQueries.groups('processes')],
          columns: 'process occurrences last first example fingerprint',
          looks: { occurrences: { unit: 'short' } },
        }),
        table({
          title: 'Newest exceptions',
          targets: [exceptionQueries.newest('processes')],
          columns: 'at process meta uid exception fingerprint',
        }),
      ),
    ],
  })
}
