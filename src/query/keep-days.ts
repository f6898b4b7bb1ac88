// Sources whose summaries by day and lists of processes read each closed day, or week, once (closed-days.ts). Rows of a
// series by day say their day, so it is asked for in stretches; rows of a list do not: each week is asked for alone.

import type { ProcessRow } from '../store/process-row.ts'
import type { ExceptionSource, PointSource, ProcessSelection, TimingSummaryRow } from '../store/source.ts'
import { groupInTurns, mapInTurns } from '../turns.ts'
import { mergeProcesses } from './answers.ts'
import type { ClosedDays, Stretch } from './closed-days.ts'

type SummaryQuestion = Parameters<PointSource['summarizeTimings']>[0]

const HOUR_NS = 3_600_000_000_000n
const DAY_NS = 24n * HOUR_NS
const WEEK_NS = 7n * DAY_NS
/** The first Monday after the epoch. */
const MONDAY_NS = 4n * DAY_NS
/** More stretches between kept days cost more than the whole range. */
const STRETCHES_MAX = 4
/** A list over more weeks is asked for at once. */
const WEEKS_MAX = 60
/** As measured (165 and 245 with their names), and a little more. */
const [SUMMARY_BYTES, PROCESS_BYTES] = [200, 200]

/** `nowNs`: no earlier than any stamp given so far. */
export function keepDays<Points extends PointSource, Exceptions extends ExceptionSource>(
  { points, exceptions }: { readonly points: Points; readonly exceptions: Exceptions },
  days: ClosedDays,
  nowNs: () => bigint,
): { readonly points: PointSource; readonly exceptions: ExceptionSource } {
  async function summarize(q: SummaryQuestion): Promise<TimingSummaryRow[]> {
    const closed = daysOf(q).filter(({ toNs }) => days.isClosed(toNs, q.nowNs))
    const isPlain = q.knownToNs === undefined && q.asOfNs === undefined
    if (!isPlain || closed.length === 0) return points.summarizeTimings(q)
    const { account, process, meta, uid, byMeta, newest, quantiles } = q
    const words = JSON.stringify(['summary', process, meta, uid, byMeta, newest, quantiles])
    return days.read<TimingSummaryRow, TimingSummaryRow[]>({ account, words }, closed, async (found) => {
      if (found === undefined) return points.summarizeTimings(q)
      const gaps = gapsOf(
        q,
        closed.filter(({ fromNs }) => found.known.has(fromNs)),
      )
      const isWhole = gaps.length > STRETCHES_MAX
      const all: (readonly TimingSummaryRow[])[] = isWhole ? [] : [...found.known.values()]
      for (const gap of isWhole ? [q] : gaps) {
        const left = q.maxRows === undefined ? {} : { maxRows: Math.max(q.maxRows - countOf(all), 1) }
        const rows = await points.summarizeTimings({ ...q, ...left, fromNs: gap.fromNs, toNs: gap.toNs })
        all.push(rows)
        if (rows.length >= (left.maxRows ?? Number.POSITIVE_INFINITY)) break // it is refused
        const byDay = await groupInTurns(rows, ({ atNs }) => atNs!)
        const rowsOf = ({ fromNs }: Stretch) => byDay.get(fromNs) ?? []
        const read = closed.filter(({ fromNs, toNs }) => fromNs >= gap.fromNs && toNs <= gap.toNs)
        const toDay = (day: Stretch) => ({ ...day, rows: rowsOf(day), bytes: sumOf(rowsOf(day), bytesOfSummary) })
        found.keep(await mapInTurns(read, toDay, (day) => 4 + rowsOf(day).length))
      }
      return all.flat()
    })
  }

  const findProcesses =
    (store: string, find: (q: ProcessSelection) => Promise<ProcessRow[]>) =>
    async (q: ProcessSelection): Promise<ProcessRow[]> => {
      const closed = stretchesOf(q, WEEK_NS, MONDAY_NS).filter(({ toNs }) => days.isClosed(toNs, nowNs()))
      if (closed.length === 0 || closed.length > WEEKS_MAX) return find(q)
      const { account, process, meta, byMeta } = q
      const words = JSON.stringify([store, process, meta, byMeta])
      return days.read<ProcessRow, ProcessRow[]>({ account, words }, closed, async (found) => {
        if (found === undefined) return find(q)
        const merge = () => mergeProcesses(all.flat(), byMeta === true)
        const max = q.maxRows ?? Number.POSITIVE_INFINITY
        let all: (readonly ProcessRow[])[] = [...found.known.values()]
        for (const stretch of [...gapsOf(q, closed), ...closed]) {
          if (found.known.has(stretch.fromNs)) continue
          const rows = await find({ ...q, ...stretch })
          all.push(rows)
          // most processes are in many weeks: their rows must not add up
          if (countOf(all) >= max) all = [await merge()]
          if (countOf(all) >= max) break // it is refused
          if (closed.includes(stretch)) found.keep([{ ...stretch, rows, bytes: sumOf(rows, bytesOfProcess) }])
        }
        return merge()
      })
    }

  return {
    points: {
      ...points,
      summarizeTimings: summarize,
      findPointProcesses: findProcesses('points', points.findPointProcesses),
    },
    exceptions: {
      ...exceptions,
      findExceptionProcesses: findProcesses('exceptions', exceptions.findExceptionProcesses),
    },
  }
}

/** The whole days of a series by day; none of another one. */
function daysOf({ fromNs, toNs, everyNs, bounds }: SummaryQuestion): Stretch[] {
  if (bounds === undefined) return everyNs === DAY_NS ? stretchesOf({ fromNs, toNs }, DAY_NS, 0n) : []
  const days = bounds.slice(1).map((end, i) => ({ fromNs: bounds[i]!, toNs: end }))
  // the clocks of a zone may change
  const isDay = (day: Stretch) => day.toNs - day.fromNs >= 20n * HOUR_NS && day.toNs - day.fromNs <= 28n * HOUR_NS
  return days.every(isDay) ? days.filter((day) => day.fromNs >= fromNs && day.toNs <= toNs) : []
}

/** Whole stretches of this length in the range, counted from `originNs`. */
function stretchesOf({ fromNs, toNs }: Stretch, lengthNs: bigint, originNs: bigint): Stretch[] {
  const first = originNs + ((fromNs - originNs + lengthNs - 1n) / lengthNs) * lengthNs
  const stretches: Stretch[] = []
  for (let at = first; at + lengthNs <= toNs; at += lengthNs) stretches.push({ fromNs: at, toNs: at + lengthNs })
  return stretches
}

/** The parts of the range between these stretches. */
function gapsOf({ fromNs, toNs }: Stretch, stretches: readonly Stretch[]): Stretch[] {
  const ends = [fromNs, ...stretches.map((stretch) => stretch.toNs)]
  const begins = [...stretches.map((stretch) => stretch.fromNs), toNs]
  return ends.map((end, i) => ({ fromNs: end, toNs: begins[i]! })).filter((gap) => gap.fromNs < gap.toNs)
}

const bytesOfSummary = ({ process, meta = '', quantilesMs = [] }: TimingSummaryRow): number =>
  SUMMARY_BYTES + 2 * (process.length + meta.length) + 8 * quantilesMs.length

const bytesOfProcess = ({ process, metas }: ProcessRow): number =>
  PROCESS_BYTES + 2 * (process.length + metas.join('').length) + 24 * metas.length

const countOf = (all: readonly (readonly unknown[])[]): number => sumOf(all, ({ length }) => length)

const sumOf = <Row>(rows: readonly Row[], bytesOf: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + bytesOf(row), 0)
