// What comes in, what is running, what went wrong: over all processes.
import { createDashboard, type Dashboard, selectVariable } from './dashboard.ts'
import { BARS, byLabels, table, timeSeries } from './panels.ts'
import type { PointQueries } from './point-queries.ts'
import { exceptionQueries } from './sql-queries.ts'

export function overviewDashboard(uid: string, queries: PointQueries): Dashboard {
  return createDashboard({
    uid,
    title: 'Overview',
    description: 'All processes: what comes in, what is running now, what went wrong.',
    variables: [selectVariable(queries, 'account')],
    rows: [
      {
        height: 8,
        panels: [
          [
            timeSeries({
              title: 'Marks: runs begun and ended',
              description: 'Counted by the store: a start is a run that begins, an end one that ends.',
              targets: [queries.marksOverTime()],
              unit: 'short',
              draw: 'bars',
              columns: BARS,
            }),
            8,
          ],
          [
            timeSeries({
              title: 'Metrics',
              targets: [queries.metricsOverTime()],
              unit: 'short',
              draw: 'bars',
              columns: BARS,
            }),
            8,
          ],
          [
            timeSeries({
              title: 'Exceptions and failures',
              description: 'A failure is the exception that `stint exec` sends of a command that failed.',
              targets: [exceptionQueries.overTime('accounts')],
              unit: 'short',
              draw: 'bars',
              columns: BARS,
            }),
            8,
          ],
        ],
      },
      {
        height: 9,
        panels: [
          [
            timeSeries({
              title: 'Runs begun, by process',
              targets: [queries.startsByProcess()],
              unit: 'short',
              draw: 'stacked bars',
              columns: BARS,
              displayName: byLabels('process'),
            }),
            12,
          ],
          [
            table({
              title: 'Running now',
              description: 'Of this moment, whatever the range: starts without a next mark, at most MAX_RUN old.',
              targets: [queries.runningNow()],
              columns: {
                process: undefined,
                meta: undefined,
                uid: undefined,
                started: undefined,
                running_ms: 'ms',
                account: undefined,
              },
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
              targets: [exceptionQueries.groups('accounts')],
              columns: {
                process: undefined,
                occurrences: 'short',
                last: undefined,
                first: undefined,
                example: undefined,
                fingerprint: undefined,
              },
            }),
            12,
          ],
          [
            table({
              title: 'Newest exceptions',
              targets: [exceptionQueries.newest('accounts')],
              columns: {
                at: undefined,
                process: undefined,
                meta: undefined,
                exception: undefined,
                fingerprint: undefined,
              },
            }),
            12,
          ],
        ],
      },
    ],
  })
}
