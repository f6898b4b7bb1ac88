// What the page of a process asks after the row of the overview.
import type { OverviewProcess } from '../../wire/overview.ts'
import type { Get } from '../kit/ask.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { readRange } from '../kit/time-range.ts'
import type { Range } from './range.ts'

const [RUNS, WEEK, METRIC_COLUMNS] = [8, '-7d', 3]

/** Of a card of the page. */
export interface Props {
  readonly row: OverviewProcess
  readonly rest: Rest
}
export type Rest = Awaited<ReturnType<typeof askRest>>

/** Throws ApiError. */
export async function askRest(get: Get, process: string, range: Range, nowMs: number) {
  const { from, every } = range
  const asked = { process, from, every }
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [series, week, days, metrics, { groups }, { channels }] = await Promise.all([
    get('api/timings/summary', asked),
    from === WEEK ? undefined : get('api/timings/summary', { process, from: WEEK }),
    get('api/timings/summary', { process, from: '-90d', every: '1d', tz }),
    askRows(get, asked),
    get('api/exceptions/groups', { ...asked, limit: 5 }),
    get('api/channels'),
  ])
  const metric = [...new Set(metrics.map(({ name }) => name))].slice(0, METRIC_COLUMNS)
  const { timings } = await get('api/timings', { process, from: '-30d', limit: RUNS, metric })
  const { fromMs, toMs } = readRange(new URLSearchParams({ from }), nowMs)
  const counts = { series: series.rows, week: (week ?? series).rows, days: days.rows }
  return { range, fromMs, toMs, ...counts, metrics, groups, channels, timings }
}
