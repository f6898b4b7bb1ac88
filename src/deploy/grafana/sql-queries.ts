// The panels' questions about points in ClickHouse's SQL, without INFLUX_URL. The API's SQL builder pairs.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { type PairingInput, runHash, timingsSql } from '../../store/clickhouse/pairing.ts'
import {
  durationBounds,
  type PointQueries,
  RUN_CODES,
  SLOWEST_RUNS,
  TABLE_PROCESSES,
  TABLE_ROWS,
  TIMELINE_RUNS,
} from './point-queries.ts'
import {
  CLICKHOUSE,
  EVERY_NS,
  FROM_NS,
  IN_RANGE,
  NOW_NS,
  offerProcesses,
  type Scope,
  series,
  sqlScope,
  sqlText,
  TO_NS,
  table,
  toTime,
  type Variable,
  WITHOUT_META,
} from './target.ts'

const AHEAD_NS = `${BigInt(MAX_AHEAD_US) * 1000n}`

/** SQL: the RUN_CODE of a state. */
const RUN_CODE = `multiIf(${Object.entries(RUN_CODES)
  .map(([state, value]) => `state = '${state}', ${value}`)
  .join(', ')}, 0)`

const where = (scope: Scope, ...more: string[]): string => [...sqlScope(scope), ...IN_RANGE, ...more].join(' AND ')

/** `maxRunNs` is MAX_RUN of the Stint that writes. */
export function createSqlQueries(maxRunNs: bigint): PointQueries {
  const BOUNDS = `[${durationBounds(maxRunNs).join(', ')}]`
  const range = {
    from: FROM_NS,
    to: TO_NS,
    readFrom: `${FROM_NS} - ${maxRunNs}`,
    readTo: `${TO_NS} + ${maxRunNs} + ${AHEAD_NS}`,
  }

  /** The marks that decide what is running now. */
  const RECENT = {
    from: `${NOW_NS} - ${maxRunNs}`,
    to: `${NOW_NS} + ${AHEAD_NS}`,
    readFrom: `${NOW_NS} - ${maxRunNs}`,
    readTo: `${NOW_NS} + ${AHEAD_NS}`,
  }

  const timings = (scope: Scope, changes: Partial<PairingInput> = {}): string =>
    timingsSql({
      marks: 'marks_raw',
      where: sqlScope(scope),
      ...range,
      maxRun: String(maxRunNs),
      now: NOW_NS,
      byMeta: true,
      byAccount: true,
      ...changes,
    })

  /** Some of the timings with their uids: pairing carries a hash, found among the marks of the settling times. */
  const withUid = (columns: string, of: string, order: string): string => `WITH chosen AS (
${of}
)
SELECT ${columns}
FROM chosen
INNER JOIN (
  SELECT DISTINCT ${runHash(true)} AS run, uid FROM marks_raw
  WHERE (account, process, meta, at) IN (SELECT account, process, meta, ${toTime('settled')} FROM chosen)
) AS mark ON mark.run = chosen.run
ORDER BY ${order}`

  const completed = `SELECT settled - settled % ${EVERY_NS} AS slot, (settled - first) / 1e6 AS ms
FROM (
${timings('process')}
)
WHERE state = 'completed' AND settled >= ${FROM_NS} AND settled < ${TO_NS}`

  return {
    processTable: () =>
      table(
        offerProcesses(`SELECT account, process,
  nullIf(maxIf(last, is_run), 0) AS last_run, anyIf(code, is_run) AS state, \
if(anyIf(took, is_run) < 0, NULL, anyIf(took, is_run)) AS last_ms,
  if(anyIf(done, is_run) = 0, NULL, anyIf(median, is_run)) AS median_ms, \
if(anyIf(done, is_run) = 0, NULL, anyIf(p95, is_run)) AS p95_ms,
  toFloat64(sum(failures)) AS failed, toFloat64(sum(lost)) AS abandoned, max(seen) AS last_seen
FROM (
  SELECT account, process, 1 AS is_run, max(first) / 1e6 AS last, toFloat64(argMax(${RUN_CODE}, first)) AS code,
    argMax(if(state IN ('completed', 'failed'), (settled - first) / 1e6, -1), first) AS took,
    countIf(state = 'completed') AS done,
    quantileExactInclusiveIf(0.5)((settled - first) / 1e6, state = 'completed') AS median,
    quantileExactInclusiveIf(0.95)((settled - first) / 1e6, state = 'completed') AS p95,
    countIf(state = 'failed') AS failures, countIf(state = 'abandoned') AS lost, max(settled) / 1e6 AS seen
  FROM (
${timings('processes', { byMeta: false })}
  )
  GROUP BY account, process
  UNION ALL
  SELECT account, process, 0, 0, 0, -1, 0, 0, 0, 0, 0, toUnixTimestamp64Nano(max(at)) / 1e6
  FROM (SELECT account, process, at FROM marks_raw WHERE ${where('processes')} \
UNION ALL SELECT account, process, at FROM metrics_raw WHERE ${where('processes')})
  GROUP BY account, process
)
GROUP BY account, process ORDER BY account, process LIMIT ${TABLE_PROCESSES}`),
      ),

    marksOverTime: () =>
      series(`SELECT $__timeInterval(at) AS time, countIf(mark = 'start') AS starts, \
countIf(mark = 'end') AS ends, countIf(mark = 'failed') AS failed
FROM marks
WHERE ${where('processes')}
GROUP BY time ORDER BY time`),

    metricsOverTime: () =>
      series(`SELECT $__timeInterval(at) AS time, count() AS metrics
FROM metrics
WHERE ${where('processes')}
GROUP BY time ORDER BY time`),

    startsByProcess: () =>
      series(`SELECT $__timeInterval(at) AS time, process, count() AS starts
FROM marks
WHERE ${where('processes', "mark = 'start'")}
GROUP BY time, process ORDER BY time, process`),

    failedByProcess: (scope) =>
      series(`SELECT $__timeInterval(at) AS time, process, count() AS failed
FROM marks
WHERE ${where(scope, "mark = 'failed'")}
GROUP BY time, process ORDER BY time, process`),

    runningNow: () =>
      table(
        withUid(
          `chosen.account AS account, chosen.process AS process, chosen.meta AS meta, uid, ${toTime('first')} AS ` +
            `started, (${NOW_NS} - first) / 1e6 AS running_ms`,
          `SELECT * FROM (
${timings('processes', RECENT)}
)
WHERE state = 'running'
ORDER BY first LIMIT ${TABLE_ROWS}`,
          'first',
        ),
      ),

    runsByState: () =>
      table(`SELECT toString(state) AS state, count() AS runs
FROM (
${timings('process')}
)
GROUP BY state ORDER BY state`),

    durationsOverTime: () =>
      series(`SELECT ${toTime('slot')} AS time, percentiles[1] AS p50, percentiles[2] AS p95, percentiles[3] AS p99, max
FROM (
  SELECT slot, quantilesExactInclusive(0.5, 0.95, 0.99)(ms) AS percentiles, max(ms) AS max
  FROM (
${completed}
  )
  GROUP BY slot
)
ORDER BY time`),

    timeline: () => {
      const hasEnded = "state IN ('completed', 'failed')"
      const until = `multiIf(${hasEnded}, settled, state = 'running', ${NOW_NS}, settled + ${EVERY_NS})`
      return series(
        withUid(
          `${toTime('change.1')} AS time, concat(leftPad(toString(n), 2, '0'), ' ', chosen.process, ' ', if(uid ` +
            `= '', chosen.meta, uid)) AS run, change.2 AS state`,
          `SELECT account, process, meta, run, first, settled, n,
  arrayJoin([(first, ${RUN_CODE}), (${until}, 0)]) AS change
FROM (
  SELECT *, row_number() OVER (ORDER BY first DESC, run) AS n FROM (
${timings('process')}
  )
  ORDER BY first DESC, run LIMIT ${TIMELINE_RUNS}
)`,
          'time, run',
        ),
      )
    },

    durationHistogram: () =>
      table(`SELECT le, completed
FROM (
  SELECT groupArray(arrayFirst(bound -> ms <= bound, ${BOUNDS})) AS bounds
  FROM (
${completed}
  )
)
ARRAY JOIN ${BOUNDS} AS le, arrayMap(bound -> countEqual(bounds, bound), ${BOUNDS}) AS completed
ORDER BY le`),

    durationHeatmap: () =>
      series(`SELECT ${toTime('slot')} AS time, toString(arrayJoin(${BOUNDS}) AS bound) AS le, \
countEqual(bounds, bound) AS runs
FROM (
  SELECT slot, arrayFlatten(groupArray(some)) AS bounds
  FROM (
    SELECT slot, [arrayFirst(bound -> ms <= bound, ${BOUNDS})] AS some
    FROM (
${completed}
    )
    UNION ALL
    SELECT toInt64(arrayJoin(\
range(toUInt64(${FROM_NS} - ${FROM_NS} % ${EVERY_NS}), toUInt64(${TO_NS}), toUInt64${EVERY_NS}))), []
  )
  GROUP BY slot
)
ORDER BY time, bound`),

    slowestRuns: () =>
      table(
        withUid(
          `chosen.account AS account, chosen.process AS process, chosen.meta AS meta, uid, ${toTime('first')} AS ` +
            `started, ${toTime('settled')} AS ended, (settled - first) / 1e6 AS took_ms`,
          `SELECT * FROM (
${timings('process')}
)
WHERE state = 'completed'
ORDER BY settled - first DESC LIMIT ${SLOWEST_RUNS}`,
          'took_ms DESC',
        ),
      ),

    unfinishedRuns: () =>
      table(
        withUid(
          'chosen.account AS account, chosen.process AS process, chosen.meta AS meta, uid, toString(state) AS ' +
            `state, ${toTime('first')} AS at`,
          `SELECT * FROM (
${timings('process')}
)
WHERE state IN ('failed', 'abandoned', 'orphan')
ORDER BY first DESC LIMIT ${TABLE_ROWS}`,
          'first DESC',
        ),
      ),

    metricValues: () =>
      series(`SELECT $__timeInterval(at) AS time, process, name, meta, avg(value) AS value
FROM metrics
WHERE ${where('process', `name = ${sqlText('metric')}`)}
GROUP BY time, process, name, meta ORDER BY time, process, name, meta`),

    variable: (name) => ({ name, datasource: CLICKHOUSE, query: VARIABLES[name] }),
    hidden: [],
  }
}

const ALL_EVENTS = ['marks_raw', 'metrics_raw', 'exceptions_raw']
  .map((name) => `SELECT account, process, meta, at FROM ${name}`)
  .join(' UNION ALL ')

const distinct = (value: string, scope: readonly string[]): string => `SELECT DISTINCT ${value} AS value
FROM (${ALL_EVENTS})
WHERE ${[...IN_RANGE, ...scope].join(' AND ')} ORDER BY value`

const VARIABLES: Readonly<Record<Variable, string>> = {
  account: distinct('account', []),
  process: distinct('process', sqlScope('processes').slice(0, 1)),
  meta: distinct(`if(meta = '', '${WITHOUT_META}', meta)`, sqlScope('processes')),
  metric: `SELECT DISTINCT name AS value
FROM metrics_raw
WHERE ${where('process')} ORDER BY value`,
}
