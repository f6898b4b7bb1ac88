// One process, all of its metas or one: how long it takes, what overlaps, what never ended, and what it said meanwhile.
import { createDashboard, type Dashboard, hiddenVariable, selectVariable } from './dashboard.ts'
import { BARS, barChart, byLabels, heatmap, type Shade, stat, stateTimeline, table, timeSeries } from './panels.ts'
import { type PointQueries, RUN_CODES, SLOWEST_RUNS, TIMELINE_RUNS } from './point-queries.ts'
import { exceptionQueries } from './sql-queries.ts'

const SHADES: readonly Shade[] = [
  { value: 0, text: ' ', color: 'transparent' },
  { value: RUN_CODES.completed, text: 'completed', color: 'green' },
  { value: RUN_CODES.running, text: 'running', color: 'blue' },
  { value: RUN_CODES.abandoned, text: 'abandoned', color: 'orange' },
  { value: RUN_CODES.orphan, text: 'orphan', color: 'purple' },
  { value: RUN_CODES.failed, text: 'failed', color: 'red' },
]

/** More would be finer than the eye, and each costs a histogram, or four percentiles. */
const HEATMAP_COLUMNS = 60
const DURATION_COLUMNS = 300

export function processDashboard(uid: string, queries: PointQueries): Dashboard {
  return createDashboard({
    uid,
    title: 'Process',
    description: 'One process: durations, overlapping runs, runs that never ended, its metrics and exceptions.',
    variables: [
      selectVariable(queries, 'account'),
      selectVariable(queries, 'process'),
      selectVariable(queries, 'meta'),
      ...queries.hidden.map(hiddenVariable),
    ],
    rows: [
      {
        height: 8,
        panels: [
          [stat({ title: 'Runs', targets: [queries.runsByState()], unit: 'short', rows: true }), 6],
          [
            timeSeries({
              title: 'Durations',
              description: 'Of the completed runs that ended in each interval.',
              targets: [queries.durationsOverTime()],
              unit: 'ms',
              draw: 'lines',
              logarithmic: true,
              columns: DURATION_COLUMNS,
            }),
            18,
          ],
        ],
      },
      {
        height: 12,
        panels: [
          [
            stateTimeline({
              title: 'Timeline',
              description: `The ${TIMELINE_RUNS} newest runs, a row each: those that overlap lie below each other.`,
              targets: [queries.timeline()],
              shades: SHADES,
              displayName: byLabels('run'),
            }),
            24,
          ],
        ],
      },
      {
        height: 9,
        panels: [
          [
            barChart({
              title: 'Durations: how many took at most',
              targets: [queries.durationHistogram()],
              x: 'le',
              xUnit: 'ms',
            }),
            12,
          ],
          [
            heatmap({
              title: 'Durations over time',
              targets: [queries.durationHeatmap()],
              unit: 'ms',
              displayName: byLabels('le'),
              columns: HEATMAP_COLUMNS,
            }),
            12,
          ],
        ],
      },
      {
        height: 9,
        panels: [
          [
            table({
              title: `The ${SLOWEST_RUNS} slowest runs`,
              targets: [queries.slowestRuns()],
              columns: {
                took_ms: 'ms',
                started: undefined,
                ended: undefined,
                meta: undefined,
                uid: undefined,
                account: undefined,
              },
            }),
            12,
          ],
          [
            table({
              title: 'Abandoned and orphan marks',
              description: 'Starts that no end belongs to, and ends that no start belongs to.',
              targets: [queries.unfinishedRuns()],
              columns: { at: undefined, state: undefined, meta: undefined, uid: undefined, account: undefined },
            }),
            12,
          ],
        ],
      },
      {
        height: 9,
        panels: [
          [
            timeSeries({
              title: 'Metrics',
              description: 'Means in each interval.',
              targets: [queries.metricValues()],
              unit: 'none',
              draw: 'lines',
              displayName: byLabels('name', 'meta'),
            }),
            12,
          ],
          [
            timeSeries({
              title: 'Exceptions and failures',
              targets: [exceptionQueries.overTime('process')],
              unit: 'short',
              draw: 'bars',
              columns: BARS,
            }),
            12,
          ],
        ],
      },
      {
        height: 9,
        panels: [
          [
            table({
              title: 'Exceptions by fingerprint',
              targets: [exceptionQueries.groups('process')],
              columns: {
                occurrences: 'short',
                last: undefined,
                first: undefined,
                example: undefined,
                fingerprint: undefined,
                process: undefined,
              },
            }),
            12,
          ],
          [
            table({
              title: 'Newest exceptions',
              targets: [exceptionQueries.newest('process')],
              columns: {
                at: undefined,
                meta: undefined,
                exception: undefined,
                fingerprint: undefined,
                process: undefined,
              },
            }),
            12,
          ],
        ],
      },
    ],
  })
}
