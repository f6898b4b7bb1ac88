// The data of the timeline: of the runs of which any part is in the range, as they were at its end. The numbers come
// first; runs are loaded only of processes whose runs are drawn one by one, and between two questions for all of them
// only what is new. Processes that are not drawn are not asked for.
import type { SummaryRow } from '../../wire/timings.ts'
import { getPages, PAGE_ROWS } from '../kit/api.ts'
import type { Get } from '../kit/ask.ts'
import { everyMs, type TimeRange } from '../kit/time-range.ts'
import { countRuns, countTroubles } from './count-bins.ts'
import type { Loaded } from './make-bands.ts'
import { type Run, type StateFilter, toRun } from './run.ts'

export interface RunQuery {
  readonly process: string | undefined
  readonly meta: string | undefined
  readonly uid: string | undefined
  readonly state: StateFilter | undefined
}

/** The states of runs are those at the end of the range. */
export const AS_SEEN = { as_of: 'to' } as const

export interface Timeline extends Loaded {
  readonly askedAtMs: number
  readonly newsAtMs: number
}

export interface Size {
  /** Bars that fit side by side. */
  readonly bars: number
  /** Processes without trouble are drawn, however many there are. */
  readonly isUnfolded: boolean
}

const STEPS = [
  ...(['1s', '2s', '5s', '10s', '30s', '1m', '2m', '5m', '10m', '15m', '30m'] as const),
  ...(['1h', '2h', '3h', '6h', '12h', '1d', '7d', '30d', '365d'] as const),
]
const ROWS_MAX = 8_000
/** An hour is a better bar of a week than two, although it is a little narrower. */
const ROOM = 1.2
/** Together, of all processes whose runs are drawn one by one. */
const RUNS_MAX = 2_000
const NAMES_MAX = 100
/** More processes than this fold: those without trouble. */
const BANDS_MAX = 20
const BANDS_LEAST = 8
/** Groups of exceptions that are read to find processes with trouble. */
const GROUPS_MAX = 1_000
const SOON_MS = 30_000
const LATER_MS = 60_000
const DAY_MS = 86_400_000
/** An event is stored within 10 s and 2 s; pages that ask for the same time share one answer. */
const OVERLAP_MS = 12_000
const NEWS_STEP_S = 10

/** The shortest interval of which at most `max` are in the range. */
export const chooseStep = ({ fromMs, toMs }: Pick<TimeRange, 'fromMs' | 'toMs'>, max: number): string =>
  STEPS.find((step) => (toMs - fromMs) / everyMs(step) <= max) ?? '365d'

/** Processes with too many runs to draw each. */
export function findDense(totals: readonly SummaryRow[], state: StateFilter | undefined, bars: number): Set<string> {
  const counts = totals.map((row) => ({ process: row.process, runs: countRuns(row, state) }))
  let left = RUNS_MAX
  const dense = new Set<string>()
  for (const { process, runs } of counts.sort((a, b) => a.runs - b.runs)) {
    if (runs > bars || runs > left) dense.add(process)
    else left -= runs
  }
  return dense
}

/** The processes of `totals` to draw, with trouble first. `raised`: processes with exceptions. */
export function foldQuiet(
  totals: readonly SummaryRow[],
  state: StateFilter | undefined,
  raised: ReadonlySet<string>,
): { readonly drawn: ReadonlySet<string>; readonly quiet: number; readonly troubled: number } {
  const isTroubled = (row: SummaryRow) => countTroubles(row) > 0 || raised.has(row.process)
  const any = totals.filter((row) => countRuns(row, state) > 0 || (state === 'trouble' && raised.has(row.process)))
  const troubled = any.filter(isTroubled).length
  const shown = any.length <= BANDS_MAX ? any.length : Math.max(BANDS_LEAST, Math.min(troubled, 2 * BANDS_MAX))
  const ordered = any.toSorted(
    (a, b) => Number(isTroubled(b)) - Number(isTroubled(a)) || a.process.localeCompare(b.process),
  )
  return {
    drawn: new Set(ordered.slice(0, shown).map(({ process }) => process)),
    quiet: any.length - Math.max(shown, troubled),
    troubled: Math.max(0, troubled - shown),
  }
}

/** `held`: the last answer to the same question. Throws ApiError. */
export async function askTimeline(
  get: Get,
  range: TimeRange,
  { state, ...filter }: RunQuery,
  { bars, isUnfolded }: Size,
  nowMs: number,
  held: Timeline | undefined,
): Promise<Timeline> {
  const isOld = (at: number) => nowMs - at >= (range.toMs - range.fromMs > DAY_MS ? LATER_MS : SOON_MS)
  if (held !== undefined && !isOld(held.askedAtMs) && range.isLive) {
    const news = await askNews()
    if (news !== undefined) return { ...held, ...news, newsAtMs: nowMs }
  }
  const query = { ...range.query, ...filter, ...AS_SEEN }
  const { rows: totals } = await get('api/timings/summary', query)
  const fold = foldQuiet(totals, state, await askRaised())
  const drawn = isUnfolded ? new Set(totals.map(({ process }) => process)) : fold.drawn
  const folded = isUnfolded ? { quiet: 0, troubled: 0 } : { quiet: fold.quiet, troubled: fold.troubled }
  const shown = totals.filter(({ process }) => drawn.has(process))
  const dense = findDense(shown, state, bars)
  const every = chooseStep(range, Math.min(bars * ROOM, ROWS_MAX / Math.max(1, dense.size)))
  const named = filter.process === undefined ? dense : new Set([filter.process])
  const sparse = shown.map(({ process }) => process).filter((process) => !dense.has(process))
  const common = { askedAtMs: nowMs, newsAtMs: nowMs }
  const [series, runs] = await Promise.all([named.size === 0 ? [] : askSeries(named), askRuns(sparse)])
  return { totals, drawn, folded, dense, series, stepMs: everyMs(every), runs, ...common }

  /** Only where processes fold: otherwise the runs say it. A group has no uid. */
  async function askRaised(): Promise<ReadonlySet<string>> {
    if (totals.length <= BANDS_MAX && state !== 'trouble') return new Set()
    const { process, meta } = filter
    const { groups } = await get('api/exceptions/groups', { ...range.query, process, meta, limit: GROUPS_MAX })
    return new Set(groups.map((group) => group.process))
  }

  async function askSeries(names: ReadonlySet<string>): Promise<readonly SummaryRow[]> {
    const process = filter.process ?? (names.size <= NAMES_MAX ? [...names] : undefined)
    const { rows } = await get('api/timings/summary', { ...query, process, every })
    return rows.filter((row) => names.has(row.process))
  }
  async function askRuns(names: readonly string[]): Promise<readonly Run[]> {
    const parts = Array.from({ length: Math.ceil(names.length / NAMES_MAX) }, (_, i) =>
      names.slice(i * NAMES_MAX, (i + 1) * NAMES_MAX),
    )
    const answers = await Promise.all(
      parts.map((process) =>
        getPages(async (page) => {
          const { timings, next } = await get('api/timings', { ...query, process, state, ...page })
          return { rows: timings, next }
        }),
      ),
    )
    return answers.flatMap(({ rows }) => rows.map(toRun))
  }
  /** undefined: too much is new, or of a process that was not there, or a running run is no longer one. */
  async function askNews(): Promise<Pick<Timeline, 'runs'> | undefined> {
    const { runs, totals, dense, drawn, newsAtMs } = held!
    const from = `-${Math.ceil((nowMs - newsAtMs + OVERLAP_MS) / 1000 / NEWS_STEP_S) * NEWS_STEP_S}s`
    const page = await get('api/timings', { ...filter, ...AS_SEEN, state, from, limit: PAGE_ROWS })
    const known = new Set(totals.map(({ process }) => process))
    if (page.next !== null || page.timings.some(({ process }) => !known.has(process))) return undefined
    const ids = new Set(page.timings.map((timing) => toRun(timing).id))
    if (runs.some(({ id, state }) => state === 'running' && !ids.has(id))) return undefined
    const news = page.timings.filter(({ process }) => drawn.has(process) && !dense.has(process)).map(toRun)
    return { runs: mergeRuns(runs, news, range.fromMs) }
  }
}

/** Without a change the same array is returned. */
export function mergeRuns(held: readonly Run[], news: readonly Run[], fromMs: number): readonly Run[] {
  const kept = held.filter((run) => Math.max(run.startMs, run.endMs) >= fromMs)
  const byId = new Map(kept.map((run) => [run.id, run]))
  let hasChanged = kept.length < held.length
  for (const run of news) {
    const before = byId.get(run.id)
    if (run.state === before?.state && run.endMs === before.endMs && run.exceptions === before.exceptions) continue
    hasChanged = true
    byId.set(run.id, run)
  }
  return hasChanged ? [...byId.values()] : held
}
