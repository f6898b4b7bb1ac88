// Pieces of the panels' SQL. In place of bound parameters stand the macros of Grafana's ClickHouse plugin; tables are those of the data source's database.
import { sqlTarget, type Target } from './target.ts'

export const FROM_NS = 'toUnixTimestamp64Nano($__fromTime_ms)'
export const TO_NS = 'toUnixTimestamp64Nano($__toTime_ms)'
export const NOW_NS = "toUnixTimestamp64Nano(now64(9, 'UTC'))"
export const EVERY_NS = '($__interval_s * 1000000000)'
export const IN_RANGE = ['at >= $__fromTime_ms', 'at < $__toTime_ms']

/** An expression in ns since the epoch as a time. */
export const toTime = (ns: string): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`

export const series = (sql: string): Target => sqlTarget(sql, 'time series')
export const table = (sql: string): Target => sqlTarget(sql, 'table')
