// The evaluation's memory of an account's processes: their newest marks and exceptions, in order. Invariants:
// * Adding an event twice has no effect, so overlapping reads are safe; delayed events are inserted in order.
// * Bounded: it holds the newest marks of each process and meta, and the starts without a next mark.
// * It holds every mark since `completeFromUs`.
import type { WatchException } from '../rules/failed.ts'
import { compareMarks, type Trust, type WatchMark } from '../rules/runs.ts'
import type { KnownException, KnownMark, NewestStart } from './watch-source.ts'

const MARKS_KEPT = 250
const OPEN_KEPT = 500
const EXCEPTIONS_KEPT = 200

const NEVER: Trust = { us: Number.POSITIVE_INFINITY, fromUs: Number.POSITIVE_INFINITY }

export interface KeptException extends WatchException {
  readonly headline: string
}

export interface Series {
  readonly process: string
  readonly meta: string
  readonly marks: WatchMark[]
  readonly exceptions: KeptException[]
  /** Starts from before the clock was set back, at times that come again. */
  readonly formerStartsUs: number[]
  completeFromUs: number
  /** The newest start ever seen, even if its mark is no longer kept. */
  newestStartUs: number
  /** The newest event. */
  lastUs: number
  /** The newest open start that was dropped for lack of room: if read again it would be dropped again. */
  droppedUs: number
}

/** New starts older than `beforeUs` without an end are delayed: they are not trusted before `trustUs`. */
export interface StartDelay {
  readonly beforeUs: number
  readonly trustUs: number
}

/** The delayed starts of one process found in one call; `trust` applies to all of them. */
export interface DelayedStarts {
  readonly process: string
  /** The oldest. */
  fromUs: number
  readonly trust: { -readonly [K in keyof Trust]: Trust[K] }
}

export type Memory = ReturnType<typeof createMemory>

export function createMemory() {
  const byProcess = new Map<string, Series[]>()
  /** Never repeats, even after a process was dropped. */
  const versions = new Map<string, number>()
  let version = 0
  const touch = (process: string) => void versions.set(process, ++version)
  const all = () => [...byProcess.values()].flat()

  function at(process: string, meta: string): Series {
    const list = byProcess.get(process) ?? []
    const known = list.find((it) => it.meta === meta)
    if (known !== undefined) return known
    const fresh: Series = {
      process,
      meta,
      marks: [],
      exceptions: [],
      formerStartsUs: [],
      completeFromUs: 0,
      newestStartUs: Number.NEGATIVE_INFINITY,
      lastUs: Number.NEGATIVE_INFINITY,
      droppedUs: Number.NEGATIVE_INFINITY,
    }
    byProcess.set(process, list)
    list.push(fresh)
    return fresh
  }

  return {
    /** Without `startDelay` all of them are trusted, including known ones. */
    addMarks(marks: readonly KnownMark[], startDelay?: StartDelay): readonly DelayedStarts[] {
      const delayed = new Map<string, DelayedStarts>()
      const bySeries = new Map<Series, WatchMark[]>()
      for (const { process, meta, ...known } of marks) {
        const { mark, atUs } = known
        const series = at(process, meta)
        series.lastUs = Math.max(series.lastUs, atUs)
        if (mark === 'start' && known.ownUs === undefined) series.newestStartUs = Math.max(series.newestStartUs, atUs)
        const own = bySeries.get(series)
        if (own === undefined) bySeries.set(series, [known])
        else own.push(known)
      }
      for (const [series, own] of bySeries) {
        if (startDelay === undefined)
          series.marks.forEach((known, i) => {
            series.marks[i] = own.find((mark) => compareMarks(mark, known) === 0) ?? known
          })
        if (!merge(series.marks, own)) continue
        touch(series.process)
        if (startDelay === undefined) continue
        const fresh = new Set(own)
        const open = findOpen(series.marks)
        series.marks.forEach((mark, i) => {
          if (mark.atUs >= startDelay.beforeUs || !fresh.has(mark) || open.get(mark.uid) !== mark) return
          if (mark.atUs <= series.droppedUs) {
            series.marks[i] = { ...mark, trust: NEVER }
            return
          }
          const { process } = series
          const trust = { us: startDelay.trustUs, fromUs: Number.NEGATIVE_INFINITY }
          const found = delayed.get(process) ?? { process, fromUs: mark.atUs, trust }
          found.fromUs = Math.min(found.fromUs, mark.atUs)
          delayed.set(process, found)
          series.marks[i] = { ...mark, trust: found.trust }
        })
      }
      return [...delayed.values()]
    },
    addExceptions(exceptions: readonly KnownException[]): void {
      for (const { process, meta, ...exception } of exceptions) {
        const series = at(process, meta)
        series.lastUs = Math.max(series.lastUs, exception.atUs)
        if (insert(series.exceptions, exception, compareExceptions)) touch(process)
      }
    },
    addNewestStarts(starts: readonly NewestStart[]): void {
      for (const { process, meta, atUs } of starts) {
        const series = at(process, meta)
        series.newestStartUs = Math.max(series.newestStartUs, atUs)
        series.lastUs = Math.max(series.lastUs, atUs)
        touch(process)
      }
    },
    addFormerStarts(marks: readonly KnownMark[]): void {
      for (const { process, meta, mark, atUs } of marks)
        if (mark === 'start') at(process, meta).formerStartsUs.push(atUs)
    },
    /** Marks before this time may be missing, of these processes or of all. */
    noteCompleteFrom(us: number, processes?: readonly string[]): void {
      const concerned = processes?.flatMap((process) => byProcess.get(process) ?? []) ?? all()
      for (const series of concerned) series.completeFromUs = Math.max(series.completeFromUs, us)
    },
    completeFromUs: (process: string, meta: string): number =>
      byProcess.get(process)?.find((it) => it.meta === meta)?.completeFromUs ?? 0,
    series: all,
    seriesOf: (process: string): readonly Series[] => byProcess.get(process) ?? [],
    /** A number that changes with every new event of one process or of any. */
    versionOf: (process: string | undefined): number =>
      process === undefined ? version : (versions.get(process) ?? 0),
    /** Forgets the marks of all others; their exceptions stay. */
    keepMarksOf(processes: ReadonlySet<string>): void {
      for (const [process, list] of [...byProcess]) {
        if (processes.has(process)) continue
        byProcess.delete(process)
        touch(process)
        for (const { meta, exceptions } of list.filter((it) => it.exceptions.length > 0)) {
          const series = at(process, meta)
          series.exceptions.push(...exceptions)
          series.lastUs = exceptions.at(-1)!.atUs
        }
        if (!byProcess.has(process)) versions.delete(process)
      }
    },
    /** Drops what no rule needs. Called after an evaluation, so that every mark is evaluated once. */
    trim(forgetBeforeUs: number): void {
      for (const [process, list] of byProcess) {
        const kept = list.filter(({ lastUs }) => lastUs >= forgetBeforeUs)
        if (kept.length === 0) {
          byProcess.delete(process)
          versions.delete(process)
          version++
        } else if (kept.length < list.length) byProcess.set(process, kept)
        for (const series of kept) {
          trimMarks(series)
          series.exceptions.splice(0, series.exceptions.length - EXCEPTIONS_KEPT)
        }
      }
    },
  }
}

const FEW = 16

/** Inserts into the sorted marks of a series; false if all are there already. */
function merge(list: WatchMark[], marks: readonly WatchMark[]): boolean {
  const before = list.length
  if (marks.length <= FEW) for (const mark of marks) insert(list, mark, compareMarks)
  else {
    const sorted = [...list, ...marks].sort(compareMarks)
    list.length = 0
    for (const mark of sorted) {
      const last = list.at(-1)
      if (last === undefined || compareMarks(last, mark) !== 0) list.push(mark)
    }
  }
  return list.length > before
}

/** Inserts into a sorted list; false if it is there already. */
function insert<T>(list: T[], item: T, compare: (a: T, b: T) => number): boolean {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compare(list[middle]!, item)
    if (order === 0) return false
    if (order < 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, item)
  return true
}

const compareExceptions = (a: KeptException, b: KeptException): number =>
  a.atUs - b.atUs || (a.headline < b.headline ? -1 : a.headline > b.headline ? 1 : 0)

/** The starts without a next mark, by uid. */
function findOpen(marks: readonly WatchMark[]): ReadonlyMap<string, WatchMark> {
  const open = new Map<string, WatchMark>()
  for (const mark of marks) {
    if (mark.mark === 'start') open.set(mark.uid, mark)
    else open.delete(mark.uid)
  }
  return open
}

function trimMarks(series: Series): void {
  const { marks } = series
  const cut = marks.length - MARKS_KEPT
  if (cut <= 0) return
  const boundary = marks[cut]!
  const open = [...findOpen(marks).values()].filter((mark) => compareMarks(mark, boundary) < 0).sort(compareMarks)
  series.droppedUs = Math.max(series.droppedUs, open.at(-OPEN_KEPT - 1)?.atUs ?? Number.NEGATIVE_INFINITY)
  series.completeFromUs = Math.max(series.completeFromUs, boundary.atUs)
  marks.splice(0, cut, ...open.slice(-OPEN_KEPT))
}
