// What the stores know of an account, asked once: everything that the log of before held. Invariants:
// * What is long comes in pages of few processes, so that neither the memory nor the loop holds much of it at once.
// * No account is too large: of a long history the newest part is read, see `countsSinceUs`.
import { MAX_AHEAD_US } from '../event/own-time.ts'
import { SETTLED_KEPT } from '../process/usual.ts'
import { PROCESS_METAS, type ProcessRow } from '../store/process-row.ts'
import type { RaisedRow } from '../store/raised-rows.ts'
import type { ExceptionSource, FoundMark, Names, PointSource, Selection, TimingSummaryRow } from '../store/source.ts'
import { type StartTimes, selectStarts } from '../store/start-times.ts'
import { groupInTurns, mapInTurns, rest, sortInTurns, spend } from '../turns.ts'
import { countedFromUs, HOUR_US } from './hours.ts'
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

/** Gives a question its turn and its time; rejects with Problem. */
export type InTurn = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>

/** What is short, of all processes. */
export interface BaseHead {
  readonly processes: readonly ProcessRow[]
  /** So many others sent nothing for longer, and are left out. */
  readonly omitted: number
  readonly raised: readonly RaisedRow[]
  readonly reachUs: number
  /** The store holds no more marks, of all accounts; undefined: not known. */
  readonly mostMarks: number | undefined
  /** Counts begin here; undefined: a day is counted. */
  readonly countsSinceUs: number | undefined
}

/** The marks of a few processes. */
export interface BasePage {
  readonly processes: readonly string[]
  /** The newest of each process and meta, and all of the hour that is not over. */
  readonly marks: readonly FoundMark[]
  readonly starts: readonly StartTimes[]
  /** Those of which not all marks of the last day are here. */
  readonly full: ReadonlySet<string>
  /** Theirs by meta and hour: of the last 24 hours and the one that is not over. */
  readonly figures: readonly TimingSummaryRow[]
  /** All marks of the hour that is not over are known. */
  readonly isOpenHourWhole: boolean
}

const DAY_US = 24 * HOUR_US
/** How long a process is remembered, and one that starts rarely: a late monthly job has five gaps. */
export const [KNOWN_US, KNOWN_RARE_US] = [39 * DAY_US, 229 * DAY_US]
/** Tried in turn until the range does not hold too many marks. */
const RANGES_US = [KNOWN_US, 7 * DAY_US, DAY_US + HOUR_US, 6 * HOUR_US, HOUR_US]
/** Marks of a process and meta: 60 runs, and room for runs at the same time and ends without a start. */
export const EACH = 200
/** Where processes have so many marks, most have their newest ones within this time. */
const [DENSE, RECENT_US] = [10 * EACH, 2 * DAY_US]
const RARE = 6
/** Processes of a page: as many as have about so many marks. */
const [PAGE, PAGE_MOST, PAGE_MARKS] = [50, 1_000, 10_000]
/** A page with more marks is read again as smaller ones. */
const PAGE_MARKS_MAX = 100_000
/** Marks of an hour that a page reads. */
const OPEN_HOUR_MAX = 20_000
export const PROCESSES_MAX = 100_000
const RAISED_MAX = 2_000

const toNs = (us: number): bigint => BigInt(Math.max(0, Math.floor(us))) * 1000n

const rangeOf = ({ account, processes, nowUs, signal }: BaseQuestion) => {
  const toUs = nowUs + MAX_AHEAD_US + 1e6
  return (fromUs: number, process: Names | undefined = processes, untilUs = toUs): Selection => ({
    account,
    signal,
    fromNs: toNs(fromUs),
    toNs: toNs(untilUs),
    ...(process !== undefined && { process }),
  })
}

const openHourOf = (nowUs: number): number => Math.floor(nowUs / HOUR_US) * HOUR_US

/** Rejects with StoreError. */
export async function readHead({ points, exceptions }: BaseSources, q: BaseQuestion): Promise<BaseHead> {
  const { account, nowUs, maxMarks, signal } = q
  const select = rangeOf(q)
  const dayFromUs = countedFromUs(nowUs)
  const mostMarks = await points.boundMarks?.({ account, ...(signal && { signal }) })
  const reachUs = await findReach()
  const listed = { ...select(nowUs - KNOWN_US), maxRows: PROCESSES_MAX }
  const [marked, texts, raised] = await Promise.all([
    points.findPointProcesses(listed),
    exceptions.findExceptionProcesses(listed),
    exceptions.findRaised({
      ...select(nowUs - KNOWN_US),
      countFromNs: toNs(dayFromUs),
      each: MOMENTS_KEPT,
      maxRows: RAISED_MAX,
    }),
  ])
  const { kept, isKept, omitted } = await keepNewest([marked, texts].flat(), q.maxProcesses)
  return {
    processes: kept,
    omitted,
    reachUs,
    mostMarks,
    raised: raised.filter(isKept),
    countsSinceUs: nowUs - reachUs <= dayFromUs ? undefined : nowUs,
  }

  /** How far back all marks may be read. */
  async function findReach(): Promise<number> {
    if (mostMarks !== undefined && mostMarks <= maxMarks) return KNOWN_US
    for (const us of RANGES_US) if ((await points.countMarks(select(nowUs - us))) <= maxMarks) return us
    return 0
  }
}

/** A process may have a row of each store. */
async function keepNewest(rows: readonly ProcessRow[], max: number) {
  if (rows.length <= max) return { kept: rows, isKept: () => true, omitted: 0 }
  const newest = new Map<string, bigint>()
  for (const { process, lastNs } of rows) {
    if (lastNs > (newest.get(process) ?? -1n)) newest.set(process, lastNs)
    if (spend()) await rest()
  }
  const omitted = Math.max(0, newest.size - max)
  const names = await sortInTurns(await mapInTurns(newest, (one) => one), ([, a], [, b]) =>
    a < b ? 1 : a > b ? -1 : 0,
  )
  for (const [name] of names.slice(max)) {
    newest.delete(name)
    if (spend()) await rest()
  }
  const isKept = ({ process }: { readonly process: string }): boolean => newest.has(process)
  const kept: ProcessRow[] = []
  for (const row of rows) {
    if (isKept(row)) kept.push(row)
    if (spend()) await rest()
  }
  return { kept, isKept, omitted }
}

/** Those with the newest events first; each page has a turn of its own. */
export async function* readPages(
  { points }: BaseSources,
  q: BaseQuestion,
  { processes, reachUs, mostMarks = 0, countsSinceUs }: Omit<BaseHead, 'omitted' | 'raised'>,
  inTurn: InTurn,
): AsyncGenerator<BasePage> {
  const { nowUs, maxRunUs } = q
  const [near, far]: [string[], string[]] = [[], []]
  const nearNs = toNs(nowUs - reachUs)
  const isDense = mostMarks > DENSE * processes.length
  const metasOf = new Map<string, readonly string[]>()
  for (const { process, kinds, metas, lastNs } of processes) {
    if (spend()) await rest()
    if (!kinds.includes('mark')) continue
    ;(lastNs >= nearNs ? near : far).push(process)
    if (isDense) metasOf.set(process, metas)
  }
  yield* readNames(near, reachUs)
  yield* readNames(far, KNOWN_US)

  async function* readNames(names: readonly string[], us: number): AsyncGenerator<BasePage> {
    let size = PAGE
    for (let at = 0; at < names.length; ) {
      const page = await inTurn((signal) => readPage(names.slice(at, at + size), us, { ...q, signal }))
      if (page === undefined) {
        size = Math.ceil(size / 4)
        continue
      }
      at += page.processes.length
      const each = Math.max(1, page.marks.length / page.processes.length)
      size = Math.min(PAGE_MOST, Math.max(PAGE, Math.floor(PAGE_MARKS / each)))
      yield page
    }
  }

  /** Undefined: too many at once. */
  async function readPage(names: readonly string[], us: number, asked: BaseQuestion): Promise<BasePage | undefined> {
    const select = rangeOf(asked)
    const fromUs = nowUs - us
    const newest = await findNewest(names, fromUs, select)
    if (newest.length === PAGE_MARKS_MAX && names.length > 1) return undefined
    const of = await groupInTurns(newest, ({ process }) => process)
    const sizeOf = (name: string) => of.get(name)?.length ?? 0
    const rare = names.filter((name) => sizeOf(name) < 2 * RARE)
    const older =
      rare.length === 0
        ? []
        : await points.findMarks({
            ...select(nowUs - KNOWN_RARE_US, rare, fromUs),
            maxRows: PAGE_MARKS_MAX,
            perSeries: EACH,
          })
    // of the others all marks are here
    const full = names.filter((name) => sizeOf(name) >= EACH)
    const hourUs = openHourOf(nowUs)
    const cut = newest.length === PAGE_MARKS_MAX ? names : full.filter((name) => isWithin(of.get(name)!, toNs(hourUs)))
    const openHour =
      cut.length === 0 ? [] : await points.findMarks({ ...select(hourUs, cut), maxRows: OPEN_HOUR_MAX + 1 })
    const isOpenHourWhole = openHour.length <= OPEN_HOUR_MAX
    // their newest marks do not say when they usually pause
    const busy = names.filter((name) => sizeOf(name) > SETTLED_KEPT)
    const starts = busy.length === 0 ? [] : await points.findStartTimes({ ...select(fromUs, busy), each: 1 })
    const figures =
      full.length === 0 || countsSinceUs !== undefined
        ? []
        : await points.summarizeTimings({
            ...select(countedFromUs(nowUs), full),
            everyNs: toNs(HOUR_US),
            byMeta: true,
            newest: true,
            maxRunNs: toNs(maxRunUs),
            nowNs: toNs(nowUs),
            maxRows: PAGE_MARKS_MAX,
          })
    return {
      processes: names,
      starts: selectStarts(starts),
      full: new Set(full),
      figures,
      isOpenHourWhole,
      marks: [...newest, ...older, ...(isOpenHourWhole ? openHour : [])],
    }
  }

  /** Of the newest two days first: whole weeks of busy processes would be sorted for it. */
  async function findNewest(
    names: readonly string[],
    fromUs: number,
    select: ReturnType<typeof rangeOf>,
  ): Promise<readonly FoundMark[]> {
    const find = (us: number, left: readonly string[]) =>
      points.findMarks({ ...select(us, left), perSeries: EACH, maxRows: PAGE_MARKS_MAX })
    const recentUs = nowUs - RECENT_US
    if (!isDense || recentUs <= fromUs || fromUs !== nowUs - reachUs) return find(fromUs, names)
    const recent = await find(recentUs, names)
    if (recent.length === PAGE_MARKS_MAX) return recent
    const counts = new Map<string, number>()
    for (const { process, meta } of recent) {
      const key = `${process}\0${meta}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      if (spend(2)) await rest()
    }
    const isWhole = (name: string): boolean => {
      const metas = metasOf.get(name)!
      return metas.length < PROCESS_METAS && metas.every((meta) => (counts.get(`${name}\0${meta}`) ?? 0) >= EACH)
    }
    const left = new Set(names.filter((name) => !isWhole(name)))
    if (left.size === 0) return recent
    const all = await find(fromUs, [...left])
    return all.length === PAGE_MARKS_MAX ? all : [...recent.filter(({ process }) => !left.has(process)), ...all]
  }
}

/** Of a meta there are as many marks as were asked for, and none is of before: others of this time may be missing. */
const isWithin = (marks: readonly FoundMark[], fromNs: bigint): boolean =>
  Map.groupBy(marks, ({ meta }) => meta)
    .values()
    .some((own) => own.length >= EACH && own.every(({ ns }) => ns >= fromNs))
