// GET /api/overview: what is known of every process of an account, read as board.ts says, with the alerts as they are.
import { toTime } from '../../clock.ts'
import { RHYTHM_STARTS } from '../../process/rhythm.ts'
import type { PointSource } from '../../store/source.ts'
import { selectStarts } from '../../store/start-times.ts'
import type { Overview } from '../../wire/overview.ts'
import { describeOverall, type Overall, PROCESS_STATES, type ProcessState, wordOf } from '../../wire/process-state.ts'
import { ask as askStore } from '../limit-questions.ts'
import { PARSERS } from '../parameters.ts'
import { parseParameters } from '../question.ts'
import { dueBy } from './answer-row.ts'
import { type Board, type BoardDeps, createBoard } from './board.ts'
import { buildRows } from './build-rows.ts'
import type { Watched } from './index-facts.ts'

interface OverviewDeps extends Pick<BoardDeps, 'questions' | 'changes'> {
  readonly points: Pick<PointSource, 'findStartTimes'>
  nowMs(): number
  /** Current, whatever the stores do. */
  watched(account: string): Promise<Watched>
}

/** What a watch covers. */
interface Covered {
  /** Absent for a pattern. */
  readonly process?: string
  covers(process: string): boolean
  /** '' = only without meta; null = any. */
  readonly meta: string | null
}

export interface CoveredState extends Overall {
  /** Of one process its word, `silent`; else the sentence. */
  readonly short: string
}

export type AskOverview = ReturnType<typeof createOverview>

const PAGE = 100
const DAY_MS = 24 * 3_600_000
/** How far back starts are read, up to a day from now; of what starts rarely further: a late monthly job has five gaps. */
export const [STARTS_MS, RARE_STARTS_MS] = [40 * DAY_MS, 230 * DAY_MS]
const RARE = 6
const RARE_MAX = 1_000
/** A board is forgotten after so long, and beyond so many the one that was asked for longest ago. */
const IDLE_MS = 600_000
const BOARDS_MAX = 200
/** A store that hangs is not waited for where something is known. */
const PATIENCE_MS = 3_000

/** Throws Problem `question_invalid`; those of a store only if nothing at all is known. */
export function createOverview({ questions, changes, points, nowMs, watched }: OverviewDeps) {
  const boards = new Map<string, { readonly board: Board; usedMs: number }>()

  async function findStarts(account: string, process?: string) {
    const toNs = BigInt(Math.ceil(nowMs() + DAY_MS)) * 1_000_000n
    const find = (ms: number, process: string | readonly string[] | undefined) =>
      askStore(
        points.findStartTimes({ account, process, fromNs: toNs - BigInt(ms) * 1_000_000n, toNs, each: RHYTHM_STARTS }),
      )
    const rows = selectStarts(await find(STARTS_MS, process))
    const isRare = ({ newest }: (typeof rows)[number]) => newest.length < RARE
    const rare = [...new Set(rows.filter(isRare).map((row) => row.process))].slice(0, RARE_MAX)
    const longer = rare.length === 0 ? [] : selectStarts(await find(RARE_STARTS_MS, rare))
    return [...rows, ...longer.filter(isKnownRare)]
    function isKnownRare({ process, meta }: (typeof rows)[number]) {
      return rows.some((row) => row.process === process && row.meta === meta && isRare(row))
    }
  }

  function boardOf(account: string, process: string | undefined): Board {
    const key = JSON.stringify([account, process])
    const now = nowMs()
    const held = boards.get(key) ?? {
      board: createBoard({ questions, findStarts, changes, nowMs }, account, process),
      usedMs: now,
    }
    boards.delete(key)
    boards.set(key, { ...held, usedMs: now })
    for (const [oldest, { usedMs }] of boards)
      if (now - usedMs > IDLE_MS || boards.size > BOARDS_MAX) boards.delete(oldest)
      else break
    return held.board
  }

  /** All rows of an account, or that of one process. */
  async function load(account: string, process: string | undefined) {
    const board = boardOf(account, process)
    const fresh = board.refresh()
    if (board.isKnown()) {
      fresh.catch(() => {}) // it may fail after the wait
      await Promise.race([fresh, new Promise((done) => setTimeout(done, PATIENCE_MS))])
    } else await fresh
    const now = nowMs()
    const { alerts, ...others } = await watched(account)
    const own = process === undefined ? alerts : alerts.filter((alert) => alert.process === process)
    const rows = buildRows(board.facts(), { ...others, alerts: own }, now, process === undefined ? 30 : 60)
    const fault = board.fault()
    const all = fault === undefined ? rows : rows.filter(({ row }) => row.alerts.length > 0) // nothing is known of others
    if (fault !== undefined && all.length === 0) throw fault
    return { board, all, others, now }
  }

  async function ask(account: string, search: URLSearchParams): Promise<Overview> {
    const { process, cursor } = parseParameters(ASKED, search)
    const { board, all, others, now } = await load(account, process)
    const counts = countStates(all.map(({ row }) => row.state))
    const { unjudged, failingChannels } = others
    const sum = (of: (row: (typeof all)[number]['row']) => number) => all.reduce((total, { row }) => total + of(row), 0)
    const first = cursor === undefined ? 0 : all.findIndex((one) => isBehind(one, cursor))
    const page = first < 0 ? [] : all.slice(first, first + PAGE)
    const staleMs = board.staleMs()
    return {
      at: toTime(now),
      stale_s: staleMs === undefined ? null : Math.round(staleMs / 1000),
      ...describeOverall({ counts, unjudged, failingChannels }),
      counts,
      unjudged,
      failing_channels: failingChannels,
      last_24h: {
        runs: sum((row) => row.last_24h.runs),
        failed: sum((row) => row.last_24h.failed),
        exceptions: sum((row) => row.last_24h.exceptions),
      },
      processes: page.map(({ row, byMeta, watches, metas }) =>
        process === undefined
          ? row
          : {
              ...row,
              by_meta: byMeta(),
              watches: watches.map((watch) => {
                const due = dueBy(watch, metas)
                const time = (ms: number | undefined) => (ms === undefined ? null : toTime(ms))
                return { ...watch.shown, due_at: time(due?.nextMs), late_at: time(due?.lateMs) }
              }),
            },
      ),
      next: first >= 0 && first + PAGE < all.length ? encodeCursor(page.at(-1)!) : null,
    }
  }

  /** How these processes are, without their names; undefined if none is known. */
  async function describe(account: string, { process, covers, meta }: Covered): Promise<CoveredState | undefined> {
    const { all } = await load(account, process)
    const states = all.flatMap(({ row, metas }): ProcessState[] => {
      if (!covers(row.process)) return []
      if (meta === null) return [row.state]
      return metas.filter((one) => (one.meta ?? '') === meta).map(({ judgement }) => judgement.state)
    })
    if (states.length === 0) return undefined
    const overall = describeOverall({ counts: countStates(states) })
    return { ...overall, short: states.length === 1 ? wordOf(states[0]!) : overall.sentence.replace(/\.$/, '') }
  }

  return Object.assign(ask, {
    describe,
    /** The version of the account that an answer to this shows now; undefined while a part of it is being read. */
    versionOf: (account: string, search: URLSearchParams) =>
      boardOf(account, parseParameters(ASKED, search).process).version(),
    /** The state of every process. */
    states: async (account: string) =>
      (await load(account, undefined)).all.map(({ row: { process, state } }) => ({ process, state })),
  })
}

const ASKED = { process: PARSERS.process, cursor: parseCursor }

function countStates(states: readonly ProcessState[]): Record<ProcessState, number> {
  const counts = Object.fromEntries(PROCESS_STATES.map((state) => [state, 0])) as Record<ProcessState, number>
  for (const state of states) counts[state]++
  return counts
}

type Row = ReturnType<typeof buildRows>[number]
interface Place {
  readonly rank: number
  readonly seenMs: number
  readonly process: string
}

const encodeCursor = ({ rank, seenMs, row: { process } }: Row): string =>
  Buffer.from(JSON.stringify([rank, seenMs, process])).toString('base64url')

function parseCursor(text: string): { readonly value: Place } | { readonly detail: string } {
  try {
    const [rank, seenMs, process] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    if (typeof rank === 'number' && typeof seenMs === 'number' && typeof process === 'string')
      return { value: { rank, seenMs, process } }
  } catch {} // as any other text
  return { detail: 'is not a cursor of an earlier answer' }
}

/** The rows are in this order. */
const isBehind = ({ rank, seenMs, row: { process } }: Row, after: Place): boolean =>
  rank - after.rank > 0 ||
  (rank === after.rank && (seenMs < after.seenMs || (seenMs === after.seenMs && process > after.process)))
