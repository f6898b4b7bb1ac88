// The alert rules' questions about points, in SQL for ClickHouse and in Flux for InfluxDB.
import { type FluxText, flux, fluxExpression } from '../../store/influx/client.ts'
import { AHEAD, ask, BUCKET } from './flux-parts.ts'
import {
  ALERT_SERIES,
  type AlertQueries,
  FAILED_MINUTES,
  HANG_DAYS,
  LATE_FACTOR,
  SILENCE_DAYS,
} from './point-queries.ts'
import { NOW_NS, series } from './target.ts'

const since = (days: number): string => `at >= now('UTC') - INTERVAL ${days} DAY`

/** Every event is a sign of life, exceptions too: a process that sends nothing else is covered. */
const SIGNS_OF_LIFE = ['marks_raw', 'metrics_raw', 'exceptions_raw']
  .map((name) => `SELECT account, process, meta, at FROM ${name} WHERE ${since(SILENCE_DAYS)}`)
  .join(' UNION ALL ')

export const createSqlAlerts = (): AlertQueries => ({
  longestRunning: () =>
    series(`SELECT now('UTC') AS time, account, process, (${NOW_NS} - toUnixTimestamp64Nano(min(newest))) / 1e9 AS running_s
FROM (
  SELECT account, process, max(at) AS newest, argMax(mark, (at, mark)) AS newest_mark
  FROM marks_raw
  WHERE ${since(HANG_DAYS)}
  GROUP BY account, process, meta, uid
)
WHERE newest_mark = 'start'
GROUP BY account, process ORDER BY running_s DESC LIMIT ${ALERT_SERIES}`),

  overdue: () =>
    series(`SELECT now('UTC') AS time, account, process, meta, (toUnixTimestamp(now('UTC')) - hours[-1]) - ${LATE_FACTOR} * gaps[2] AS overdue_s
FROM (
  SELECT account, process, meta, arraySort(groupUniqArray(toUnixTimestamp(toStartOfHour(at)))) AS hours,
    arrayReverseSort(arrayPopFront(arrayDifference(hours))) AS gaps
  FROM (${SIGNS_OF_LIFE})
  GROUP BY account, process, meta
)
WHERE length(gaps) >= 2 AND overdue_s > 0
ORDER BY overdue_s DESC LIMIT ${ALERT_SERIES}`),

  failedRuns: () =>
    series(`SELECT now('UTC') AS time, account, process, meta, toFloat64(countIf(mark = 'failed' AND at >= now('UTC') - INTERVAL ${FAILED_MINUTES} MINUTE) + (argMax(mark, at) = 'failed')) AS failed_runs
FROM marks
WHERE mark != 'start' AND ${since(HANG_DAYS)}
GROUP BY account, process, meta HAVING failed_runs > 0
ORDER BY failed_runs DESC LIMIT ${ALERT_SERIES}`),
})

// In InfluxDB no question pivots, which is the most expensive step of a panel: the stamp replaces a mark's time, which lies less
// than a second before it.
const ENDS = flux`r._measurement == "mark" and r._field == "at" and r.mark != "start"`

const readSince = (span: string, where: FluxText): FluxText => flux`from(bucket: ${BUCKET})
  |> range(start: ${fluxExpression(`-${span}`)}, stop: ${AHEAD})
  |> filter(fn: (r) => ${where})`

/** The highest values, a series each. */
const highest = (by: readonly string[]): FluxText => flux`
  |> group()
  |> sort(columns: ["_value"], desc: true)
  |> limit(n: ${ALERT_SERIES})
  |> map(fn: (r) => ({r with _time: now()}))
  |> group(columns: ${by})`

const SERIES = ['account', 'process', 'meta']

export const createFluxAlerts = (): AlertQueries => ({
  // `pair` is 4·hash(uid) + m (pairing.ts). Newest first, the first mark of each run is one whose neighbour above has another hash: if it is a start, it is open.
  longestRunning: () =>
    ask(flux`${readSince(`${HANG_DAYS}d`, flux`r._measurement == "mark" and r._field == "pair"`)}
  |> keep(columns: ["_time", "_value", "account", "process", "meta"])
  |> group(columns: ${SERIES})
  |> map(fn: (r) => ({r with
    run: (r._value + 2305843009213693952) / 4,
    m: (r._value + 2305843009213693952) % 4,
    same: (r._value + 2305843009213693952) / 4,
  }))
  |> sort(columns: ["run", "_time", "m"], desc: true)
  |> difference(columns: ["same"], keepFirst: true)
  |> map(fn: (r) => ({r with open: if r.same == 0 then 0 else if r.m == 0 then 1 else 0}))
  |> filter(fn: (r) => r.open == 1)
  |> group(columns: ["account", "process"])
  |> min(column: "_time")
  |> map(fn: (r) => ({account: r.account, process: r.process, _value: float(v: int(v: now()) - int(v: r._time)) / 1000000000.0}))${highest(['account', 'process'])}`),

  // The store reduces each series to one point per hour, so the read does not grow with the number of events.
  overdue: () =>
    ask(flux`${readSince(`${SILENCE_DAYS}d`, flux`(r._measurement == "mark" and r._field == "at") or (r._measurement == "metric" and r._field == "value")`)}
  |> window(every: 1h)
  |> last()
  |> keep(columns: ["_time", "account", "process", "meta"])
  |> truncateTimeColumn(unit: 1h)
  |> group(columns: ${[...SERIES, '_time']})
  |> limit(n: 1)
  |> group(columns: ${SERIES})
  |> sort(columns: ["_time"])
  |> map(fn: (r) => ({r with hour: int(v: r._time)}))
  |> reduce(
    identity: {newest: 0, longest: 0, second: 0},
    fn: (r, accumulator) => {
      gap = if accumulator.newest == 0 then 0 else r.hour - accumulator.newest
      return {
        newest: r.hour,
        longest: if gap > accumulator.longest then gap else accumulator.longest,
        second: if gap > accumulator.longest then accumulator.longest else if gap > accumulator.second then gap else accumulator.second,
      }
    },
  )
  |> filter(fn: (r) => r.second > 0)
  |> map(fn: (r) => ({r with _value: float(v: int(v: now()) - r.newest) / 1000000000.0 - float(v: r.second) * ${fluxExpression(String(LATE_FACTOR))} / 1000000000.0}))
  |> filter(fn: (r) => r._value > 0.0)
  |> drop(columns: ["newest", "longest", "second"])${highest(SERIES)}`),

  failedRuns: () =>
    ask(flux`newest = ${readSince(`${HANG_DAYS}d`, ENDS)}
  |> last()
  |> group(columns: ${SERIES})
  |> max()
  |> filter(fn: (r) => r.mark == "failed")
  |> map(fn: (r) => ({r with _value: 1}))
several = ${readSince(`${FAILED_MINUTES}m`, flux`${ENDS} and r.mark == "failed"`)}
  |> count()

union(tables: [newest, several])
  |> group(columns: ${SERIES})
  |> sum()
  |> map(fn: (r) => ({r with _value: float(v: r._value)}))${highest(SERIES)}`),
})
