// The questions of the page of a process after the row of the overview. A question that is refused, or whose store does
// not answer, leaves its error in place of its answer, so that the rest is shown.
import { createMatch } from '../../process/process-pattern.ts'
import type { Maintenance } from '../../wire/maintenance.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { ApiError } from '../kit/api.ts'
import type { Get, Query } from '../kit/ask.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { inZone, readRange } from '../kit/time-range.ts'
import { type Run, toRun } from '../timeline/run.ts'
import type { Range } from './range.ts'

const RUNS = 8
const METRIC_COLUMNS = 3
/** Runs of a range that are drawn one by one. */
const DOTS_MAX = 120
/** Metas that have a picture each, and whose figures are asked for each. */
const PICTURES_MAX = 6
const METAS_MAX = 20

/** Props of each card of the page. */
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
export async function askRest(get: Get, of: OverviewProcess, meta: string | undefined, range: Range, nowMs: number) {
  const { process, by_meta: metas = [] } = of
  const { from, every } = range
  const isSplit = meta === undefined && metas.length > 1 && metas.length <= PICTURES_MAX
  const by = metas.length > 1 && metas.length <= METAS_MAX ? 'meta' : undefined
  const asked = { process, meta, from, ...inZone(every) }
  const summary = (query: Query<'api/timings/summary'>) =>
    settle(get('api/timings/summary', { process, meta, ...query }).then(({ rows }) => rows))
  const [series, week, dots, days, metrics, groups, channels, maintenance] = await Promise.all([
    summary({ from, ...inZone(every), by: isSplit ? 'meta' : undefined }),
    summary({ from: '-7d', by, meta: by === undefined ? meta : undefined }),
    askDots(),
    summary({ from: '-90d', ...inZone('1d') }),
    settle(askRows(get, { ...asked, by: isSplit ? 'meta' : undefined })),
    settle(get('api/exceptions/groups', { ...asked, limit: 5 }).then((answer) => answer.groups)),
    settle(get('api/channels').then((answer) => answer.channels)),
    settle(get('api/maintenance').then((answer) => answer.maintenance.filter(holdsBack))),
  ])
  const metric =
    metrics instanceof ApiError ? [] : [...new Set(metrics.map(({ name }) => name))].slice(0, METRIC_COLUMNS)
  const timings = await settle(
    get('api/timings', { process, meta, from: '-30d', limit: RUNS, metric }).then((answer) => answer.timings),
  )
  const { fromMs, toMs } = readRange(new URLSearchParams({ from }), nowMs)
  return {
    meta,
    isSplit,
    range,
    fromMs,
    toMs,
    series,
    week,
    dots,
    days,
    metrics,
    groups,
    channels,
    maintenance,
    timings,
  }

  function holdsBack({ active, process: pattern }: Maintenance): boolean {
    return active && createMatch(pattern)(process)
  }

  /** Undefined where there are too many. */
  async function askDots(): Promise<readonly Run[] | undefined> {
    const page = await settle(get('api/timings', { process, meta, from, limit: DOTS_MAX }))
    return page instanceof ApiError || page.next !== null ? undefined : page.timings.map(toRun)
  }
}
