// What the page of a process asks after the row of the overview. A question that is refused, or whose store does not
// answer, leaves its error in place of its answer, so that the rest is shown.
import type { OverviewProcess } from '../../wire/overview.ts'
import { ApiError } from '../kit/api.ts'
import type { Get, Query } from '../kit/ask.ts'
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

/** An answer, or the error in place of it. */
export type Asked<T> = T | ApiError

async function settle<T>(question: Promise<T>): Promise<Asked<T>> {
  try {
    return await question
  } catch (error) {
    if (error instanceof ApiError && error.code !== 'unreachable') return error
    throw error
  }
}

/** Throws ApiError `unreachable`. */
export async function askRest(get: Get, process: string, range: Range, nowMs: number) {
  const { from, every } = range
  const asked = { process, from, every }
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const summary = (query: Query<'api/timings/summary'>) =>
    settle(get('api/timings/summary', { process, ...query }).then(({ rows }) => rows))
  const [series, week, days, metrics, groups, channels] = await Promise.all([
    summary({ from, every }),
    from === WEEK ? undefined : summary({ from: WEEK }),
    summary({ from: '-90d', every: '1d', tz }),
    settle(askRows(get, asked)),
    settle(get('api/exceptions/groups', { ...asked, limit: 5 }).then((answer) => answer.groups)),
    settle(get('api/channels').then((answer) => answer.channels)),
  ])
  const metric =
    metrics instanceof ApiError ? [] : [...new Set(metrics.map(({ name }) => name))].slice(0, METRIC_COLUMNS)
  const timings = await settle(
    get('api/timings', { process, from: '-30d', limit: RUNS, metric }).then((answer) => answer.timings),
  )
  const { fromMs, toMs } = readRange(new URLSearchParams({ from }), nowMs)
  return { range, fromMs, toMs, series, week: week ?? series, days, metrics, groups, channels, timings }
}
