// What the stores say about the processes of an account, kept while somebody asks, so that an open page costs the stores
// little: the long questions are asked rarely, and between them only what is new. All parts are asked again when they
// are due and something was stored; a part that cannot be read keeps what it had, and `staleMs` says how old that is.
import { Problem } from '../../problem.ts'
import { isOver } from '../../process/judge-meta.ts'
import { RHYTHM_STARTS } from '../../process/rhythm.ts'
import type { StartTimes } from '../../store/start-times.ts'
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import type { SummaryRow, Timing } from '../../wire/timings.ts'
import type { Changes } from '../changes.ts'
import type { Questions } from '../questions.ts'
import { type BoardRun, byNewest, toBoardRun } from './board-run.ts'
import { createPart } from './part.ts'

export interface Starts {
  /** ms, newest first. */
  readonly newest: readonly number[]
  readonly hours: readonly number[]
  readonly firstHour: number
}
export const NO_STARTS: Starts = { newest: [], hours: [], firstHour: Number.POSITIVE_INFINITY }

export interface BoardDeps {
  readonly questions: Pick<Questions, 'recent' | 'latest' | 'summary' | 'groups' | 'processes'>
  readonly findStarts: (account: string, process?: string) => Promise<readonly StartTimes[]>
  readonly changes: Pick<Changes, 'of'>
  nowMs(): number
}

/** Answers may be as old as this. */
const FRESH_MS = 2_000
const WHOLE_MS = 60_000
/** … while nothing older is known to have been stored. */
const WHOLE_IDLE_MS = 600_000
/** What arrives is stored within 2 s. */
const OVERLAP_S = 10
const NEWS_MAX = 1_000
const DAY_MS = 120_000
const WEEK_MS = 3_600_000
const ENTRIES_MS = 60_000
/** A monthly job that did not start stays for a week. */
const ENTRIES_FROM = '-40d'
const GROUPS_MS = 60_000
const GROUPS_MAX = 1_000
/** Tried in turn until the store does not refuse the question as too large. */
const RANGES = ['-30d', '-7d', '-24h', '-6h']
/** The figures of days may come with the next answer. */
const WAIT_MS = 1_500

export type Board = ReturnType<typeof createBoard>
export type BoardFacts = ReturnType<Board['facts']>

export const keyOf = (process: string, meta: string | null): string => JSON.stringify([process, meta])

/** `process`: of this one alone, with the figures of its metas. */
export function createBoard({ questions, findStarts, changes, nowMs }: BoardDeps, account: string, process?: string) {
  const of = process === undefined ? [] : [['process', process]]
  const params = (given: Record<string, string>) => new URLSearchParams([...Object.entries(given), ...of])
  const each = '60'
  const bornMs = nowMs()
  let seen: string | undefined
  /** Steps whose figures of days are being read. */
  let pending = 0
  let newsAtMs = 0
  let wholeLate: string | undefined
  let from = RANGES[0]!
  /** Runs that ended since the day was counted. */
  let ended = new Map<string, BoardRun>()

  const runs = createPart<ReadonlyMap<string, readonly BoardRun[]>>(nowMs, new Map())
  const starts = createPart<ReadonlyMap<string, Starts>>(nowMs, new Map())
  const entries = createPart<readonly ProcessEntry[]>(nowMs, [])
  const groups = createPart<readonly ExceptionGroup[]>(nowMs, [])
  const day = createPart<Figures | undefined>(nowMs, undefined)
  const week = createPart<Figures | undefined>(nowMs, undefined)
  const parts = [runs, starts, entries, groups, day, week]

  async function readWhole(): Promise<readonly Timing[]> {
    for (;;) {
      try {
        return (await questions.latest(account, params({ from, each, by: 'meta' }))).timings
      } catch (error) {
        const shorter = RANGES[RANGES.indexOf(from) + 1]
        if (!isTooLarge(error) || shorter === undefined) throw error
        from = shorter
      }
    }
  }

  async function readRuns(isWhole: boolean) {
    const askedMs = nowMs()
    const ago = Math.ceil((askedMs - newsAtMs) / 1000) + OVERLAP_S
    const news =
      newsAtMs === 0 ? [] : await questions.recent(account, params({ from: `-${ago}s`, limit: `${NEWS_MAX}` }))
    const whole = isWhole ? await readWhole() : undefined
    newsAtMs = askedMs
    const found = news.map(toBoardRun)
    for (const run of found)
      if ((run.state === 'completed' || run.state === 'failed') && run.endUs >= day.atMs() * 1000)
        ended.set(run.id, run)
    const held = whole === undefined ? runs.value() : Map.groupBy(whole.map(toBoardRun), (run) => run.process)
    return merge(held, found, Number(each))
  }

  async function readStarts() {
    const rows = await findStarts(account, process)
    return new Map(rows.map((row) => [keyOf(row.process, row.meta === '' ? null : row.meta), toStarts(row)]))
  }

  /** Totals per process, of one process also per meta. */
  async function readFigures(range: Record<string, string>): Promise<Figures> {
    const [total, byMeta] = await Promise.all([
      questions.summary(account, params(range)),
      process === undefined ? undefined : questions.summary(account, params({ ...range, by: 'meta' })),
    ])
    return {
      byProcess: new Map(total.rows.map((row) => [row.process, row])),
      byMeta: new Map(byMeta?.rows.map((row) => [keyOf(row.process, row.meta ?? null), row])),
    }
  }

  const unlessTooLarge =
    <T>(value: T) =>
    (error: unknown) => {
      if (!isTooLarge(error)) throw error
      return value
    }

  async function step(): Promise<void> {
    const { version, late, raised, whole: isOnly } = changes.of(account)
    const isNews = !isOnly || version !== seen
    const everyMs = isOnly && late === wholeLate ? WHOLE_IDLE_MS : WHOLE_MS
    const isWhole = newsAtMs === 0 || starts.isDue(everyMs)
    const rests = isNews || isWhole
    const essential = [
      rests && runs.read(() => readRuns(isWhole)),
      isWhole && starts.read(readStarts),
      rests &&
        entries.isDue(entries.value().length === 0 ? 0 : ENTRIES_MS) &&
        entries.read(
          async () => (await questions.processes(account, params({ from: ENTRIES_FROM, limit: '1000' }))).processes,
        ),
      (groups.isDue(GROUPS_MS) || (isOnly && groups.mark !== raised && groups.isDue(0))) &&
        groups.read(async () => {
          const { groups: found } = await questions.groups(account, params({ from: '-24h', limit: `${GROUPS_MAX}` }))
          groups.mark = raised
          return found
        }),
    ]
    const rest = Promise.all([
      day.isDue(DAY_MS) &&
        day.read(async () => {
          const askedMs = nowMs()
          const found = await readFigures({ from: '-24h' })
          ended = new Map([...ended].filter(([, { endUs }]) => endUs >= askedMs * 1000))
          return found
        }),
      week.isDue(WEEK_MS) && week.read(() => readFigures({ from: '-8d', to: '-24h' }).catch(unlessTooLarge(undefined))),
    ])
    pending++
    const settle = () => {
      pending--
    }
    rest.then(settle, settle) // it may fail after the wait
    await Promise.all(essential)
    const results = parts.every((part) => part.error === undefined)
    if (results) {
      seen = version
      if (isWhole) wholeLate = late
    }
    await Promise.race([rest, new Promise((done) => setTimeout(done, WAIT_MS))])
  }

  let steps: Promise<void> | undefined
  let stepAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Reads what is due. Never rejects for a store: see `staleMs`. */
    async refresh(): Promise<void> {
      if (steps === undefined && nowMs() - stepAtMs < FRESH_MS) return
      steps ??= step().finally(() => {
        steps = undefined
        stepAtMs = nowMs()
      })
      await steps
    },
    isKnown: () => runs.atMs() > 0,
    /** Why no run is known; undefined if they are. */
    fault: () => (runs.atMs() > 0 ? undefined : runs.error),
    /** Of the account when everything was read; undefined while something is being read or could not be. */
    version: () => (steps === undefined && pending === 0 && parts.every(({ error }) => !error) ? seen : undefined),
    /** How old the oldest part is that could not be read; undefined if all could. */
    staleMs(): number | undefined {
      const failed = [runs, starts, entries, groups].filter(({ error }) => error !== undefined)
      if (failed.length === 0) return undefined
      return nowMs() - Math.min(...failed.map((part) => (part.atMs() > 0 ? part.atMs() : bornMs)))
    },
    facts: () => ({
      ...{ runs: runs.value(), starts: starts.value(), entries: entries.value(), groups: groups.value() },
      ...{ day: day.value(), week: week.value(), ended: [...ended.values()] },
    }),
  }
}

export interface Figures {
  readonly byProcess: ReadonlyMap<string, SummaryRow>
  readonly byMeta: ReadonlyMap<string, SummaryRow>
}

const isTooLarge = (error: unknown): boolean => error instanceof Problem && error.code === 'question_too_large'

const toStarts = ({ newest, hours }: { readonly newest: readonly bigint[]; readonly hours: readonly number[] }) => ({
  newest: newest.slice(0, RHYTHM_STARTS).map((ns) => Number(ns / 1_000_000n)),
  hours: hours.map((s) => s * 1000),
  firstHour: Math.min(...hours) * 1000,
})

/** At most `each` runs per process, all that still run, and of each meta the last one that is over. */
function merge(held: ReadonlyMap<string, readonly BoardRun[]>, news: readonly BoardRun[], each: number) {
  const all = new Map(held)
  for (const [process, fresh] of Map.groupBy(news, (run) => run.process)) {
    const ids = new Set(fresh.map(({ id }) => id))
    all.set(process, [...fresh, ...(all.get(process) ?? []).filter(({ id }) => !ids.has(id))])
  }
  return new Map([...all].map(([process, own]) => [process, selectNewest(own.toSorted(byNewest), each)]))
}

function selectNewest(runs: readonly BoardRun[], each: number): BoardRun[] {
  const over = new Set<string | null>()
  return runs.filter((run, place) => {
    const isLastOver = isOver(run) && !over.has(run.meta)
    if (isLastOver) over.add(run.meta)
    return place < each || run.state === 'running' || isLastOver
  })
}
