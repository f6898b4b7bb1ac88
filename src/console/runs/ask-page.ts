// One page of the table: the newest runs, and of all processes first those with trouble.
import type { Get } from '../kit/ask.ts'
import type { TimeRange } from '../kit/time-range.ts'
import { AS_SEEN, type RunQuery } from '../timeline/ask-timeline.ts'
import { byNewest, type Run, toRun } from '../timeline/run.ts'

export const PAGE_ROWS = 25
const TROUBLE_ROWS = 5
/** As many rows as a question may have; older ones need a shorter range. */
const PAGES_MAX = Math.floor(1000 / PAGE_ROWS)

export interface RunPage {
  readonly page: number
  /** The newest ones, without those in `trouble`. */
  readonly runs: readonly Run[]
  /** The number of the newest ones. */
  readonly rows: number
  readonly hasMore: boolean
  readonly trouble: readonly Run[]
  readonly troubleAtMs: number
}

const TROUBLE_EVERY_MS = 30_000

/** Throws ApiError. */
export async function askPage(
  get: Get,
  range: TimeRange,
  query: RunQuery,
  asked: number,
  now: number,
  held: RunPage | undefined,
): Promise<RunPage> {
  const page = Math.min(asked, PAGES_MAX)
  const ask = (more: object, limit: number) =>
    get('api/timings', { ...range.query, ...query, ...AS_SEEN, ...more, limit })
  const hasTrouble = query.process === undefined && query.state === undefined && page === 1
  const isFresh = held !== undefined && now - held.troubleAtMs < TROUBLE_EVERY_MS
  const [{ timings, next }, trouble] = await Promise.all([
    ask({}, page * PAGE_ROWS),
    !hasTrouble
      ? []
      : isFresh
        ? held.trouble
        : ask({ state: 'trouble' }, TROUBLE_ROWS).then((found) => found.timings.map(toRun)),
  ])
  const runs = timings.map(toRun).sort(byNewest)
  // what still runs is of interest the longer it does
  const ordered = query.state === 'running' ? runs.toReversed() : runs
  const isAbove = new Set(trouble.map(({ id }) => id))
  const newest = ordered.slice((page - 1) * PAGE_ROWS)
  const hasMore = next !== null && page < PAGES_MAX
  const shown = newest.filter(({ id }) => !isAbove.has(id))
  return { page, runs: shown, rows: newest.length, hasMore, trouble, troubleAtMs: isFresh ? held.troubleAtMs : now }
}
