// One process or several, with all metas or one: durations, overlapping and unfinished runs, metrics and exceptions.
import { createDashboard, type Dashboard, hiddenVariable, row, selectVariable } from './dashboard.ts'
import { exceptionQueries } from './exception-queries.ts'
import { barChart, bars, byLabels, heatmap, RUN_SHADES, stat, stateTimeline, timeSeries, type Unit } from './panels.ts'
import { type PointQueries, SLOWEST_RUNS, TIMELINE_RUNS } from './point-queries.ts'
import { table } from './table-panel.ts'

/** Units by the ending of a metric's name; the name of a series starts with it. */
const METRIC_UNITS: Readonly<Record<string, Unit>> = {
  '_ms( |$)': 'ms',
  '_(s|seconds)( |$)': 's',
  '_bytes( |$)': 'bytes',
  '_percent( |$)': 'percent',
  '_ratio( |$)': 'percentunit',
}

/** Replaced by the metric's name in each repeated panel. */
const METRIC_TITLE = '$' + '{metric}'

/** Each column costs a histogram, or four percentiles. */
const HEATMAP_COLUMNS = 60
const DURATION_COLUMNS = 150

export function processDashboard(uid: string, queries: PointQueries): Dashboard {
  return createDashboard({
    uid,
    title: 'Process',
    description:
      'Durations, overlapping runs, failed and unfinished runs, metrics and exceptions of the chosen processes.',
    exceptions: exceptionQueries.annotations('process'),
    variables: [
      selectVariable(queries, 'account', 'all'),
      selectVariable(queries, 'process', 'first'),
      selectVariable(queries, 'meta', 'all'),
      selectVariable(queries, 'metric', 'all'),
      ...queries.hidden.map(hiddenVariable),
    ],
    rows: [
      {
        ...row(
          8,
          stat({
            title: 'Runs',
            targets: [queries.runsByState()],
            unit: 'short',
            rows: true,
            intervals: DURATION_COLUMNS,
          }),
          timeSeries({
            title: 'Durations',
            description: 'Completed runs that ended in each interval.',
            targets: [queries.durationsOverTime()],
            unit: 'ms',
            draw: 'lines',
            logarithmic: true,
            intervals: DURATION_COLUMNS,
          }),
        ),
        widths: [6, 18],
      },
      row(
        12,
        stateTimeline({
          title: 'Timeline',
          description: `The ${TIMELINE_RUNS} newest runs, the newest first, one row each.`,
          targets: [queries.timeline()],
          shades: RUN_SHADES,
          displayName: byLabels('run'),
        }),
      ),
      row(
        9,
        barChart({
          title: 'Distribution of durations',
          description: 'Completed runs by the upper bound of their duration.',
          targets: [queries.durationHistogram()],
          x: 'le',
          xUnit: 'ms',
        }),
        heatmap({
          title: 'Durations over time',
          targets: [queries.durationHeatmap()],
          unit: 'ms',
          displayName: byLabels('le'),
          intervals: HEATMAP_COLUMNS,
        }),
      ),
      row(
        9,
        table({
          title: `The ${SLOWEST_RUNS} slowest runs`,
          targets: [queries.slowestRuns()],
          columns: 'took_ms started ended process meta uid account',
          looks: { took_ms: { unit: 'ms' } },
        }),
        table({
          title: 'Failed and unfinished runs',
          description: 'Failed runs, starts without an end (abandoned), and ends without a start (orphan).',
          targets: [queries.unfinishedRuns()],
          columns: 'at state process meta uid account',
        }),
      ),
      row(
        9,
        bars('Failed runs', queries.failedByProcess('process'), { label: 'process', red: true }),
        bars('Exceptions', exceptionQueries.overTime('process'), { label: 'process' }),
      ),
      row(
        9,
        table({
          title: 'Exceptions by fingerprint',
          targets: [exceptionQueries.groups('process')],
          columns: 'occurrences last first example fingerprint process',
          looks: { occurrences: { unit: 'short' } },
        }),
        table({
          title: 'Newest exceptions',
          targets: [exceptionQueries.newest('process')],
          columns: 'at meta uid exception fingerprint process',
        }),
      ),
      row(8, {
        ...timeSeries({
          title: METRIC_TITLE,
          description:
            'Means per interval. The unit follows from the ending of the name: _ms, _s, _seconds, _bytes, ' +
            '_percent, _ratio.',
          targets: [queries.metricValues()],
          unit: 'short',
          units: METRIC_UNITS,
          draw: 'lines',
          displayName: byLabels('name', 'process', 'meta'),
        }),
        repeat: 'metric',
        repeatDirection: 'h',
        maxPerRow: 3,
      }),
    ],
  })
}
