// The panels' questions in ClickHouse's SQL: about points where they are kept there (no INFLUX_URL), and about exceptions. Pairing and groups come from the
// builders of the API's answers; in place of bound parameters stand the macros of Grafana's ClickHouse plugin. Tables are those of the data source's database.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { exceptionGroupsSql, newestExceptionsSql } from '../../store/clickhouse/exceptions.ts'
import { type PairingInput, runHash, timingsSql } from '../../store/clickhouse/pairing.ts'
import {
  durationBounds,
  type PointQueries,
  RUN_CODES,
  SILENCE_DAYS,
  SLOWEST_RUNS,
  TABLE_ROWS,
  TIMELINE_RUNS,
} from './point-queries.ts'
import { type Scope, sqlScope, sqlText, type Variable, WITHOUT_META } from './selection.ts'
import { CLICKHOUSE, sqlTarget, type Target } from './target.ts'

const FROM_NS = 'toUnixTimestamp64Nano($__fromTime_ms)'
const TO_NS = 'toUnixTimestamp64Nano($__toTime_ms)'
const NOW_NS = "toUnixTimestamp64Nano(now64(9, 'UTC'))"
const EVERY_NS = '($__interval_s * 1000000000)'
const IN_RANGE = ['at >= $__fromTime_ms', 'at < $__toTime_ms']
const AHEAD_NS = `${BigInt(MAX_AHEAD_US) * 1000n}`

const toTime = (ns: string): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`

/** `maxRunNs` is MAX_RUN of the Stint that writes. */
export function createSqlQueries(maxRunNs: bigint): PointQueries {
  const BOUNDS = `[${durationBounds(maxRunNs).join(', ')}]`
  const range = {
    from: FROM_NS,
    to: TO_NS,
    readFrom: `${FROM_NS} - ${maxRunNs}`,
    readTo: `${TO_NS} + ${maxRunNs} + ${AHEAD_NS}`,
  }

  /** What decides what is running now. */
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

  /** Some of the timings with their uids, which pairing carries as a hash only: looked up by the hash among the marks of the times at which they were settled. */
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

  const series = (sql: string): Target => sqlTarget(sql, 'time series')
  const table = (sql: string): Target => sqlTarget(sql, 'table')

  return {
    marksOverTime: () =>
      series(`SELECT $__timeInterval(at) AS time, countIf(mark = 'start') AS starts, countIf(mark != 'start') AS ends
FROM marks
WHERE ${[...sqlScope('accounts'), ...IN_RANGE].join(' AND ')}
GROUP BY time ORDER BY time`),

    metricsOverTime: () =>
      series(`SELECT $__timeInterval(at) AS time, count() AS metrics
FROM metrics
WHERE ${[...sqlScope('accounts'), ...IN_RANGE].join(' AND ')}
GROUP BY time ORDER BY time`),

    startsByProcess: () =>
      series(`SELECT $__timeInterval(at) AS time, process, count() AS starts
FROM marks
WHERE ${[...sqlScope('accounts'), ...IN_RANGE, "mark = 'start'"].join(' AND ')}
GROUP BY time, process ORDER BY time, process`),

    runningNow: () =>
      table(
        withUid(
          `chosen.account AS account, chosen.process AS process, chosen.meta AS meta, uid, ${toTime('first')} AS started, (${NOW_NS} - first) / 1e6 AS running_ms`,
          `SELECT * FROM (
${timings('accounts', RECENT)}
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
      const code = Object.entries(RUN_CODES).map(([state, value]) => `state = '${state}', ${value}`)
      const until = `multiIf(state IN ('completed', 'failed'), settled, state = 'running', ${NOW_NS}, settled + ${EVERY_NS})`
      return series(
        withUid(
          `${toTime('change.1')} AS time, concat(toString(${toTime('first')}), if(uid = '', '', concat(' ', uid))) AS run, change.2 AS state`,
          `SELECT account, process, meta, run, first, settled,
  arrayJoin([(first, multiIf(${code.join(', ')}, 0)), (${until}, 0)]) AS change
FROM (
  SELECT * FROM (
${timings('process')}
  )
  ORDER BY first DESC LIMIT ${TIMELINE_RUNS}
)`,
          'time, run',
        ),
      )
    },

    durationHistogram: () =>
      table(`SELECT le, runs
FROM (
  SELECT groupArray(arrayFirst(bound -> ms <= bound, ${BOUNDS})) AS bounds
  FROM (
${completed}
  )
)
ARRAY JOIN ${BOUNDS} AS le, arrayMap(bound -> countEqual(bounds, bound), ${BOUNDS}) AS runs
ORDER BY le`),

    durationHeatmap: () =>
      series(`SELECT ${toTime('slot')} AS time, toString(arrayJoin(${BOUNDS}) AS bound) AS le, countEqual(bounds, bound) AS runs
FROM (
  SELECT slot, groupArray(arrayFirst(bound -> ms <= bound, ${BOUNDS})) AS bounds
  FROM (
${completed}
  )
  GROUP BY slot
)
ORDER BY time, bound`),

    slowestRuns: () =>
      table(
        withUid(
          `chosen.account AS account, chosen.meta AS meta, uid, ${toTime('first')} AS started, ${toTime('settled')} AS ended, (settled - first) / 1e6 AS took_ms`,
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
          `chosen.account AS account, chosen.meta AS meta, uid, toString(state) AS state, ${toTime('first')} AS at`,
          `SELECT * FROM (
${timings('process')}
)
WHERE state IN ('abandoned', 'orphan')
ORDER BY first DESC LIMIT ${TABLE_ROWS}`,
          'first DESC',
        ),
      ),

    metricValues: () =>
      series(`SELECT $__timeInterval(at) AS time, name, meta, avg(value) AS value
FROM metrics
WHERE ${[...sqlScope('process'), ...IN_RANGE].join(' AND ')}
GROUP BY time, name, meta ORDER BY time, name, meta`),

    longestRunning: () =>
      series(`SELECT now('UTC') AS time, account, process, (${NOW_NS} - min(first)) / 1e9 AS running_s
FROM (
${timings('accounts', { ...RECENT, where: ['1'], byMeta: false })}
)
WHERE state = 'running'
GROUP BY account, process ORDER BY account, process`),

    silence: () =>
      series(`SELECT now('UTC') AS time, account, process, (${NOW_NS} - toUnixTimestamp64Nano(max(at))) / 1e9 AS silent_s
FROM (SELECT account, process, at FROM marks_raw UNION ALL SELECT account, process, at FROM metrics_raw)
WHERE at >= now('UTC') - INTERVAL ${SILENCE_DAYS} DAY
GROUP BY account, process ORDER BY account, process`),

    variable: (name) => ({ name, datasource: CLICKHOUSE, query: VARIABLES[name] }),
    hidden: [],
  }
}

const distinct = (value: string, where: readonly string[]): string => `SELECT DISTINCT ${value} AS value
FROM (SELECT account, process, meta, at FROM marks_raw UNION ALL SELECT account, process, meta, at FROM metrics_raw)
WHERE ${[...IN_RANGE, ...where].join(' AND ')} ORDER BY value`

const VARIABLES: Readonly<Record<Variable, string>> = {
  account: distinct('account', []),
  process: distinct('process', sqlScope('accounts')),
  meta: distinct(`if(meta = '', '${WITHOUT_META}', meta)`, [
    ...sqlScope('accounts'),
    `process = ${sqlText('process')}`,
  ]),
}

/** How `stint exec` tells of a command that failed (cli/exec/job-events.ts). */
const FAILED_JOB = String.raw`^[^\\n]*: (exited with code \\d+|was ended by SIG\\w+)`

export const exceptionQueries = {
  /** Exceptions in each interval: series `exceptions`, and `failures`, those of them that `stint exec` sent of a command that failed. */
  overTime: (scope: Scope): Target =>
    sqlTarget(
      `SELECT $__timeInterval(at) AS time, count() AS exceptions, countIf(match(exception, '${FAILED_JOB}')) AS failures
FROM exceptions
WHERE ${[...sqlScope(scope), ...IN_RANGE].join(' AND ')}
GROUP BY time ORDER BY time`,
      'time series',
    ),

  /** Table, the most recent first: process, fingerprint, occurrences, first, last, example. */
  groups: (scope: Scope): Target =>
    sqlTarget(
      `SELECT process, fingerprint, occurrences, ${toTime('first_ns')} AS first, ${toTime('last_ns')} AS last, example
FROM (
${exceptionGroupsSql('exceptions', [...sqlScope(scope), ...IN_RANGE], String(TABLE_ROWS))}
)
ORDER BY last DESC, fingerprint, process`,
      'table',
    ),

  /** Table, newest first: at, process, meta, exception, fingerprint. */
  newest: (scope: Scope): Target =>
    sqlTarget(
      `SELECT ${toTime('ns')} AS at, process, meta, exception, fingerprint
FROM (
${newestExceptionsSql('exceptions', [...sqlScope(scope), ...IN_RANGE], String(TABLE_ROWS))}
)
ORDER BY at DESC`,
      'table',
    ),
}
