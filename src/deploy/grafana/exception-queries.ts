// The panels' questions about exceptions, which ClickHouse always holds.
import { exceptionGroupsSql, newestExceptionsSql } from '../../store/clickhouse/exceptions.ts'
import { TABLE_PROCESSES, TABLE_ROWS } from './point-queries.ts'
import { IN_RANGE, offerProcesses, type Scope, series, sqlScope, type Target, table, toTime } from './target.ts'

const where = (scope: Scope): string[] => [...sqlScope(scope), ...IN_RANGE]

export const exceptionQueries = {
  /** Exceptions per interval, a series per process. */
  overTime: (scope: Scope): Target =>
    series(`SELECT $__timeInterval(at) AS time, process, count() AS exceptions
FROM exceptions
WHERE ${where(scope).join(' AND ')}
GROUP BY time, process ORDER BY time, process`),

  /** Table, one row per account and process: exceptions, last_exception (ms since the epoch). */
  byProcess: (): Target =>
    table(
      offerProcesses(`SELECT account, process, toFloat64(count()) AS exceptions, \
toFloat64(toUnixTimestamp64Milli(max(at))) AS last_exception
FROM exceptions
WHERE ${where('processes').join(' AND ')}
GROUP BY account, process ORDER BY account, process LIMIT ${TABLE_PROCESSES}`),
    ),

  /** Table, the most recent first: process, fingerprint, occurrences, first, last, example. */
  groups: (scope: Scope): Target =>
    table(`SELECT process, fingerprint, occurrences, \
${toTime('first_ns')} AS first, ${toTime('last_ns')} AS last, example
FROM (
${exceptionGroupsSql('exceptions', where(scope), String(TABLE_ROWS))}
)
ORDER BY last DESC, fingerprint, process`),

  /** Table, newest first: at, process, meta, uid, exception, fingerprint. */
  newest: (scope: Scope): Target =>
    table(`SELECT ${toTime('ns')} AS at, process, meta, uid, exception, fingerprint
FROM (
${newestExceptionsSql('exceptions', where(scope), String(TABLE_ROWS))}
)
ORDER BY at DESC`),

  /** Annotations, the newest ones: time, title, text, tags. */
  annotations: (scope: Scope): Target =>
    table(`SELECT at AS time, process AS title, \
substring(exception, 1, position(concat(exception, '\\n'), '\\n') - 1) AS text, meta AS tags
FROM exceptions
WHERE ${where(scope).join(' AND ')}
ORDER BY at DESC LIMIT ${TABLE_ROWS}`),
}
