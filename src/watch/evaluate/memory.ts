// What the evaluation keeps in mind of an account's processes: their newest marks and exceptions, in order. Invariants:
// * Adding an event twice changes nothing, so overlapping reads are safe; an event that arrives late takes its place.
// * Bounded: of each process and meta the newest marks, and the starts that nothing has followed yet.
// * `completeFromUs`: every mark since then is in it.
import type { WatchException } from '../rules/failed.ts'
import { compareMarks, type WatchMark } from '../rules/runs.ts'
import type { KnownException, KnownMark, NewestStart } from './watch-source.ts'

const MARKS_KEPT = 250
const OPEN_KEPT = 500
const EXCEPTIONS_KEPT = 200

export interface KeptException extends WatchException {
  readonly headline: string
}

export interface Series {
  readonly process: string
  readonly meta: string
  readonly marks: WatchMark[]
  readonly exceptions: KeptException[]
  completeFromUs: number
  /** The newest start that was ever seen, also when its mark is no longer kept. */
  newestStartUs: number
  /** The newest event. */
  lastUs: number
}

export interface Memory {
  addMarks(marks: readonly KnownMark[]): void
  addExceptions(exceptions: readonly KnownException[]): void
  addNewestStarts(starts: readonly NewestStart[]): void
  /** Marks before this moment may be missing. */
  noteCompleteFrom(us: number): void
  series(): Iterable<Series>
  seriesOf(process: string): readonly Series[]
  /** Forgets what no rule needs. Called after an evaluation, so that it sees every mark once. */
  trim(forgetBeforeUs: number): void
}

export function createMemory(): Memory {
  const byProcess = new Map<string, Series[]>()
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
      completeFromUs: 0,
      newestStartUs: Number.NEGATIVE_INFINITY,
      lastUs: Number.NEGATIVE_INFINITY,
    }
    byProcess.set(process, list)
    list.push(fresh)
    return fresh
  }

  return {
    addMarks(marks) {
      for (const { process, meta, ...mark } of marks) {
        const series = at(process, meta)
        series.lastUs = Math.max(series.lastUs, mark.atUs)
        if (mark.mark === 'start') series.newestStartUs = Math.max(series.newestStartUs, mark.atUs)
        insert(series.marks, mark, compareMarks)
      }
    },
    addExceptions(exceptions) {
      for (const { process, meta, ...exception } of exceptions) {
        const series = at(process, meta)
        series.lastUs = Math.max(series.lastUs, exception.atUs)
        insert(series.exceptions, exception, compareExceptions)
      }
    },
    addNewestStarts(starts) {
      for (const { process, meta, atUs } of starts) {
        const series = at(process, meta)
        series.newestStartUs = Math.max(series.newestStartUs, atUs)
        series.lastUs = Math.max(series.lastUs, atUs)
      }
    },
    noteCompleteFrom(us) {
      for (const series of all()) series.completeFromUs = Math.max(series.completeFromUs, us)
    },
    series: all,
    seriesOf: (process) => byProcess.get(process) ?? [],
    trim(forgetBeforeUs) {
      for (const [process, list] of byProcess) {
        const kept = list.filter(({ lastUs }) => lastUs >= forgetBeforeUs)
        if (kept.length === 0) byProcess.delete(process)
        else if (kept.length < list.length) byProcess.set(process, kept)
        for (const series of kept) {
          trimMarks(series)
          series.exceptions.splice(0, series.exceptions.length - EXCEPTIONS_KEPT)
        }
      }
    },
  }
}

/** Into a sorted list; one that is there already stays alone. Most events are newer than all others. */
function insert<T>(list: T[], item: T, compare: (a: T, b: T) => number): void {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compare(list[middle]!, item)
    if (order === 0) return
    if (order < 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, item)
}

const compareExceptions = (a: KeptException, b: KeptException): number =>
  a.atUs - b.atUs || (a.headline < b.headline ? -1 : a.headline > b.headline ? 1 : 0)

function trimMarks(series: Series): void {
  const { marks } = series
  const cut = marks.length - MARKS_KEPT
  if (cut <= 0) return
  const open = new Map<string, WatchMark>()
  for (const mark of marks) {
    if (mark.mark === 'start') open.set(mark.uid, mark)
    else open.delete(mark.uid)
  }
  const boundary = marks[cut]!
  const kept = [...open.values()].filter((mark) => compareMarks(mark, boundary) < 0).slice(-OPEN_KEPT)
  series.completeFromUs = Math.max(series.completeFromUs, boundary.atUs)
  marks.splice(0, cut, ...kept.sort(compareMarks))
}
