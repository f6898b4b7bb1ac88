// Keeps up to 10,000 runs of a view up to date. All runs are loaded first, when something older was stored, and then
// every ten minutes (every minute where that is unknown); between these only recent changes are. A running run that is
// missing from the recent changes has been abandoned.
import type { Timing, TimingPage } from '../../wire/timings.ts'
import { type Api, getPages, PAGE_ROWS, type Query, ROWS_MAX } from '../kit/api.ts'
import type { TimeRange } from '../kit/time-range.ts'
import { byNewest, type Run, type StateFilter, toRun } from './run.ts'

const ALL_EVERY_MS = 60_000
const ALL_IDLE_MS = 600_000
/** Pages that ask for the same time share one answer. */
const NEWS_STEP_S = 10
/** Recent changes are requested with this overlap: an event is stored within 2 s. */
const OVERLAP_MS = 5_000

export interface RunQuery {
  readonly process: string | undefined
  readonly meta: string | undefined
  readonly uid: string | undefined
  readonly state: StateFilter | undefined
}

export interface RunsFound {
  /** Newest first. */
  readonly runs: readonly Run[]
  /** The limit was reached: the oldest runs are missing. */
  readonly isCut: boolean
  /** Runs that started before it are missing; undefined if all are there. */
  readonly cutMs: number | undefined
  /** More pages are still being loaded. */
  readonly isPartial: boolean
}

export function createRunFeed(api: Api, nowMs: () => number, late: () => string | undefined) {
  let allLate: string | undefined
  let asked = ''
  let held = new Map<string, Run>()
  let isCut = false
  let cutMs: number | undefined
  /** Since the last answer. Without a change the same object is returned again, so the timeline keeps its layout. */
  let hasChanged = true
  let answered: RunsFound | undefined
  let allAtMs = Number.NEGATIVE_INFINITY
  let lastAtMs = Number.NEGATIVE_INFINITY

  async function readNews(query: Query, state: StateFilter | undefined, signal: AbortSignal): Promise<boolean> {
    const from = `-${Math.ceil((nowMs() - lastAtMs + OVERLAP_MS) / 1000 / NEWS_STEP_S) * NEWS_STEP_S}s`
    const page = await api.get<TimingPage>('api/timings', { ...query, from, limit: PAGE_ROWS }, signal)
    if (page.next !== null) return false
    const news = page.timings.map(toRun)
    const ids = new Set(news.map(({ id }) => id))
    for (const run of held.values()) {
      if (run.state !== 'running' || ids.has(run.id)) continue
      hasChanged = true
      if (state === undefined) held.set(run.id, toRun({ ...run.timing, state: 'abandoned' }))
      else held.delete(run.id)
    }
    for (const run of news) {
      if (!isAlike(run, held.get(run.id))) hasChanged = true
      held.set(run.id, run)
    }
    return held.size <= ROWS_MAX
  }

  const newestFirst = (): RunsFound => ({ runs: [...held.values()].toSorted(byNewest), isCut, cutMs, isPartial: false })

  return {
    /** Throws ApiError. */
    async refresh(
      range: TimeRange,
      filter: RunQuery,
      signal: AbortSignal,
      arrived: (found: RunsFound) => void,
    ): Promise<RunsFound> {
      const { process, meta, uid, state } = filter
      const query = { ...range.query, process, meta, uid, state }
      const key = JSON.stringify(query)
      const startedMs = nowMs()
      const lateNow = late()
      const isKnown = lateNow !== undefined && lateNow === allLate
      const mayAddTo = key === asked && range.isLive && startedMs - allAtMs < (isKnown ? ALL_IDLE_MS : ALL_EVERY_MS)
      if (!mayAddTo || !(await readNews({ process, meta, uid, state }, state, signal))) {
        const all: Run[] = []
        const answer = await getPages<Timing>(api, 'api/timings', 'timings', query, signal, (page, hasMore) => {
          all.push(...page.map(toRun))
          cutMs = hasMore ? oldestMs(page) : undefined
          if (hasMore && key !== asked) arrived({ runs: all.toSorted(byNewest), isCut: true, cutMs, isPartial: true })
        })
        held = new Map(all.map((run) => [run.id, run]))
        isCut = answer.isCut
        hasChanged = true
        asked = key
        allAtMs = startedMs
        allLate = lateNow ?? late()
      }
      lastAtMs = startedMs
      for (const run of held.values())
        if (Math.max(run.startMs, run.endMs) < range.fromMs) hasChanged = held.delete(run.id)
      if (hasChanged || answered === undefined) answered = newestFirst()
      hasChanged = false
      return answered
    },
  }
}

/** The first mark of the oldest run of a page, newest first. */
const oldestMs = (page: readonly Timing[]): number | undefined => {
  const last = page.at(-1)
  return last && toRun(last).startMs
}

const isAlike = (a: Run, b: Run | undefined): boolean =>
  a.state === b?.state && a.endMs === b.endMs && a.exceptions === b.exceptions
