// The alert rules' questions about points in ClickHouse.
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
