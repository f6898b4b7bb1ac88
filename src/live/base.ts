// What the stores know of an account, asked once: everything that the log of before held. Invariants:
// * What is long comes in pages of few processes, so that neither the memory nor the loop holds much of it at once.
// * No account is too large: of a long history the newest part is read, see `countsSinceUs`.
import { MAX_AHEAD_US } from '../event/own-time.ts'
import { SETTLED_KEPT } from '../process/usual.ts'
import type { ProcessRow } from '../store/process-row.ts'
import type { RaisedRow } from '../store/raised-rows.ts'
import type { ExceptionSource, FoundMark, Names, PointSource, Selection, TimingSummaryRow } from '../store/source.ts'
import { type StartTimes, selectStarts } from '../store/start-times.ts'
import { MOMENTS_KEPT } from './raised.ts'

export interface BaseSources {
  readonly points: Pick<
    PointSource,
    'findMarks' | 'findStartTimes' | 'summarizeTimings' | 'findPointProcesses' | 'countMarks' | 'boundMarks'
  >
  readonly exceptions: Pick<ExceptionSource, 'findRaised' | 'findExceptionProcesses'>
}

interface BaseQuestion {
  readonly account: string
  /** Only these. */
  readonly processes?: readonly string[] | undefined
  readonly nowUs: number
  readonly maxRunUs: number
  /** A range with more marks than this is not read whole. */
  readonly maxMarks: number
  /** Only so many, those with the newest events. */
  readonly maxProcesses: number
  readonly signal?: AbortSignal | undefined
}

/** What is short, of all processes. */
export interface BaseHead {
  readonly processes: readonly ProcessRow[]
  /** So many others sent nothing for longer, and are left out. */
  readonly omitted: number
  /** By process, meta and hour: of the last 24 hours and the one that is not over. */
  readonly figures: readonly TimingSummaryRow[]
  readonly raised: readonly RaisedRow[]
  readonly reachUs: number
  /** Counts begin here; undefined: a day is counted. */
  readonly countsSinceUs: number | undefined
}

/** The marks of a few processes. */
export interface BasePage {
  readonly processes: readonly string[]
  /** The newest of each process and meta, and all of the hour that is not over. */
  readonly marks: readonly FoundMark[]
  readonly starts: readonly StartTimes[]
  /** All marks of the hour that is not over are known. */
  readonly isOpenHourWhole: boolean
}

export const HOUR_US = 3_600e6
const DAY_US = 24 * HOUR_US
/** How long a process is remembered, and one that starts rarely: a late monthly job has five gaps. */
export const [KNOWN_US, KNOWN_RARE_US] = [39 * DAY_US, 229 * DAY_US]
/** Tried in turn until the range does not hold too many marks. */
const RANGES_US = [KNOWN_US, 7 * DAY_US, DAY_US + HOUR_US, 6 * HOUR_US, HOUR_US]
/** Marks of a process and meta: 60 runs, and room for runs at the same time and ends without a start. */
export const EACH = 200
const RARE = 6
/** Processes of a page, and marks of an hour that one reads. */
const PAGE = 50
const OPEN_HOUR_MAX = 20_000
const PAGE_MARKS_MAX = 100_000
export const PROCESSES_MAX = 100_000
const RAISED_MAX = 2_000

const toNs = (us: number): bigint => BigInt(Math.max(0, Math.floor(us))) * 1000n

const rangeOf = ({ account, processes, nowUs, signal }: BaseQuestion) => {
  const toUs = nowUs + MAX_AHEAD_US + 1e6
  return (fromUs: number, process: Names | undefined = processes): Selection => ({
    ...{ account, signal, fromNs: toNs(fromUs), toNs: toNs(toUs) },
    ...(process !== undefined && { process }),
  })
}

const openHourOf = (nowUs: number): number => Math.floor(nowUs / HOUR_US) * HOUR_US

/** Rejects with StoreError. */
export async function readHead({ points, exceptions }: BaseSources, q: BaseQuestion): Promise<BaseHead> {
  const { account, nowUs, maxRunUs, maxMarks, signal } = q
  const select = rangeOf(q)
  const dayFromUs = openHourOf(nowUs) - DAY_US
  const reachUs = await findReach()
  const isDayKnown = nowUs - reachUs <= dayFromUs
  const listed = { ...select(nowUs - KNOWN_US), maxRows: PROCESSES_MAX }
  const [marked, texts, figures, raised] = await Promise.all([
    points.findPointProcesses(listed),
    exceptions.findExceptionProcesses(listed),
    isDayKnown ? summarizeHours() : [],
    exceptions.findRaised({
      ...{ ...select(nowUs - KNOWN_US), countFromNs: toNs(dayFromUs) },
      ...{ each: MOMENTS_KEPT, maxRows: RAISED_MAX },
    }),
  ])
  const { kept, omitted } = keepNewest([...marked, ...texts], q.maxProcesses)
  return {
    ...{ processes: kept, omitted, figures, reachUs },
    raised: omitted === 0 ? raised : raised.filter(isOf(kept)),
    countsSinceUs: isDayKnown ? undefined : nowUs,
  }

  /** How far back all marks may be read. */
  async function findReach(): Promise<number> {
    const all = await points.boundMarks?.({ account, ...(signal && { signal }) })
    if (all !== undefined && all <= maxMarks) return KNOWN_US
    for (const us of RANGES_US) if ((await points.countMarks(select(nowUs - us))) <= maxMarks) return us
    return 0
  }

  function summarizeHours(): Promise<TimingSummaryRow[]> {
    return points.summarizeTimings({
      ...{ ...select(dayFromUs), everyNs: toNs(HOUR_US), byMeta: true },
      ...{ maxRunNs: toNs(maxRunUs), nowNs: toNs(nowUs), maxRows: PROCESSES_MAX * 25 },
    })
  }
}

/** A process may have a row of each store. */
function keepNewest(rows: readonly ProcessRow[], max: number) {
  const newest = new Map<string, bigint>()
  for (const { process, lastNs } of rows) if (lastNs > (newest.get(process) ?? -1n)) newest.set(process, lastNs)
  if (newest.size <= max) return { kept: rows, omitted: 0 }
  const names = [...newest].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, max)
  const chosen = new Set(names.map(([name]) => name))
  return { kept: rows.filter(({ process }) => chosen.has(process)), omitted: newest.size - max }
}

const isOf = (rows: readonly ProcessRow[]) => {
  const names = new Set(rows.map(({ process }) => process))
  return ({ process }: { readonly process: string }) => names.has(process)
}

/** Those with the newest events first. Of one without an event in reach each is asked for by itself. */
export async function* readPages(
  { points }: BaseSources,
  q: BaseQuestion,
  { processes, reachUs }: Pick<BaseHead, 'processes' | 'reachUs'>,
): AsyncGenerator<BasePage> {
  const { nowUs } = q
  const select = rangeOf(q)
  const marked = processes.filter(({ kinds }) => kinds.includes('mark'))
  const isNear = ({ lastNs }: ProcessRow) => lastNs >= toNs(nowUs - reachUs)
  const namesOf = (rows: readonly ProcessRow[]) => rows.map(({ process }) => process)
  for (const [names, us] of [
    [namesOf(marked.filter(isNear)), reachUs],
    [namesOf(marked.filter((row) => !isNear(row))), KNOWN_US],
  ] as const)
    for (let at = 0; at < names.length; at += PAGE) yield await readPage(names.slice(at, at + PAGE), us)

  async function readPage(names: readonly string[], us: number): Promise<BasePage> {
    const find = (fromUs: number, of: readonly string[], limits: { perSeries?: number; maxRows: number }) =>
      points.findMarks({ ...select(fromUs, of), ...limits })
    const newest = await find(nowUs - us, names, { perSeries: EACH, maxRows: PAGE_MARKS_MAX })
    const openHour = await find(openHourOf(nowUs), names, { maxRows: OPEN_HOUR_MAX + 1 })
    const isOpenHourWhole = openHour.length <= OPEN_HOUR_MAX
    const counts = Map.groupBy(newest, ({ process }) => process)
    const sizeOf = (name: string) => counts.get(name)?.length ?? 0
    const rare = names.filter((name) => sizeOf(name) < 2 * RARE)
    const older =
      rare.length === 0 ? [] : await find(nowUs - KNOWN_RARE_US, rare, { perSeries: EACH, maxRows: PAGE_MARKS_MAX })
    // their newest marks do not say when they usually pause
    const busy = names.filter((name) => sizeOf(name) > SETTLED_KEPT)
    const starts = busy.length === 0 ? [] : await points.findStartTimes({ ...select(nowUs - us, busy), each: 1 })
    return {
      ...{ processes: names, starts: selectStarts(starts), isOpenHourWhole },
      marks: [...newest, ...older, ...(isOpenHourWhole ? openHour : [])],
    }
  }
}
