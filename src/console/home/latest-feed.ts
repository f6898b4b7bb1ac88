// Keeps the newest runs of every process up to date. The full answer is long and loaded rarely; between these only
// recent changes are. A run whose end was missed is corrected by the next full answer.
import type { LatestTimings, Timing, TimingPage } from '../../wire/timings.ts'
import { type Api, ApiError } from '../kit/api.ts'
import { byNewest, isOver, isTrouble, type Run, toRun } from '../timeline/run.ts'

/** Runs per process. */
export const STRIP = 30
const WHOLE_EVERY_MS = 60_000
/** … while nothing older is known to have been stored. */
const WHOLE_IDLE_MS = 600_000
const NEWS_STEP_S = 10
/** The full answer may take at most this share of a slow store's time, so it is requested less often there. */
const WHOLE_SHARE = 1 / 20
/** Recent changes are requested with this overlap: an event is stored within 2 s. */
const OVERLAP_MS = 5_000
const NEWS_MAX = 1_000
/** Tried in turn until the store does not refuse the question as too large. */
const RANGES = ['-30d', '-7d', '-24h', '-6h']

export interface Latest {
  /** Newest first: at most `STRIP` per process, all that still run, and of each meta the last one that is over. */
  readonly byProcess: ReadonlyMap<string, readonly Run[]>
  /** How far back the runs reach: `-30d`. */
  readonly from: string
}

/** Whether a process is new, or a run's trouble: figures that were asked `before` lack it. */
export function hasNews({ byProcess }: Latest, before: Latest): boolean {
  return [...byProcess].some(([process, runs]) => {
    const known = before.byProcess.get(process)
    if (known === undefined) return true
    const troubles = new Set(known.filter(isTrouble).map(({ id }) => id))
    return known !== runs && runs.some((run) => isTrouble(run) !== troubles.has(run.id))
  })
}

/** `runs` of one process, newest first. */
function selectLatest(runs: readonly Run[]): Run[] {
  const over = new Set<string | null>()
  return runs.filter((run, place) => {
    const isLastOver = isOver(run) && !over.has(run.meta)
    if (isLastOver) over.add(run.meta)
    return place < STRIP || run.state === 'running' || isLastOver
  })
}

export function createLatestFeed(api: Api, nowMs: () => number, late: () => string | undefined) {
  let wholeLate: string | undefined
  let byProcess = new Map<string, readonly Run[]>()
  let from = RANGES[0]!
  let wholeAtMs = Number.NEGATIVE_INFINITY
  let wholeTookMs = 0
  let newsAtMs = 0

  async function readWhole(signal: AbortSignal): Promise<readonly Timing[]> {
    for (;;) {
      try {
        const query = { from, each: STRIP, by: 'meta' }
        return (await api.get<LatestTimings>('api/timings/latest', query, signal)).timings
      } catch (error) {
        const shorter = RANGES[RANGES.indexOf(from) + 1]
        if (!(error instanceof ApiError) || error.code !== 'question_too_large' || shorter === undefined) throw error
        from = shorter
      }
    }
  }

  /** undefined if the changes exceed one page. */
  async function readNews(signal: AbortSignal): Promise<readonly Timing[] | undefined> {
    const ago = `-${Math.ceil((nowMs() - newsAtMs + OVERLAP_MS) / 1000 / NEWS_STEP_S) * NEWS_STEP_S}s`
    const query = { from: ago, limit: NEWS_MAX }
    const page = await api.get<TimingPage>('api/timings', query, signal)
    return page.next === null ? page.timings : undefined
  }

  function merge(news: readonly Run[]): void {
    for (const [process, runs] of Map.groupBy(news, ({ process }) => process)) {
      const ids = new Set(runs.map(({ id }) => id))
      const kept = (byProcess.get(process) ?? []).filter(({ id }) => !ids.has(id))
      byProcess.set(process, selectLatest([...runs, ...kept].toSorted(byNewest)))
    }
  }

  return {
    /** Throws ApiError. */
    async refresh(signal: AbortSignal): Promise<Latest> {
      const startedMs = nowMs()
      if (newsAtMs === 0) newsAtMs = startedMs
      const lateNow = late()
      const everyMs = lateNow !== undefined && lateNow === wholeLate ? WHOLE_IDLE_MS : WHOLE_EVERY_MS
      const isDue = startedMs - wholeAtMs >= Math.max(everyMs, wholeTookMs / WHOLE_SHARE)
      // The changes include every running run, even one older than the newest 30.
      const [news, whole] = await Promise.all([readNews(signal), isDue ? readWhole(signal) : undefined])
      const missing = whole ?? (news === undefined ? await readWhole(signal) : undefined)
      if (missing !== undefined) {
        byProcess = new Map(Map.groupBy(missing.map(toRun), ({ process }) => process))
        wholeAtMs = startedMs
        wholeLate = lateNow ?? late()
        wholeTookMs = nowMs() - startedMs
      }
      merge((news ?? []).map(toRun))
      newsAtMs = startedMs
      return { byProcess: new Map(byProcess), from }
    },
  }
}
