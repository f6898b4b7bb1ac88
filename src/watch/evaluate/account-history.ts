// Reads an account's history incrementally: everything once, then the newest stretch with an overlap, at times a longer
// one, and the times of delayed events. Reads are bounded. Invariant: no run is open because its end is not stored yet.
//   live     a start in the newest stretch: every end that was accepted before the judged time is stored
//   delayed  any other new start without an end: a run only once all that was accepted up to 5 s after it was seen is
//            stored and its stretch read again; not while delayed events of its process arrive: its end may be one.
// Initially, and for a new process, every start is delayed: everything is loaded twice and not judged before, unless
// nothing waited to be stored at the first time.

import type { AccountDelayed } from './delayed-events.ts'
import { createFormerMarks, type FormerMarksOptions } from './former-marks.ts'
import { createMemory, type DelayedStarts, type Memory, type StartDelay } from './memory.ts'
import { namesOf, type Processes, union, without } from './processes.ts'
import { findAllExceptions, type KnownMark, type WatchSource } from './watch-source.ts'

const MINUTE_US = 60e6
const HOUR_US = 60 * MINUTE_US
const DAY_US = 24 * HOUR_US

export const LOADED_BACK_US = 8 * DAY_US
const LOADED_PER_SERIES = 100
const NEWEST_START_BACK_US = 400 * DAY_US
const FORGOTTEN_AFTER_US = 400 * DAY_US
const MAX_ROWS = 200_000
/** Events with their own time may be in the future. */
const AHEAD_US = 5 * MINUTE_US

/** As far as the spool is delivered, live events are stored within this time; older ones are delayed. */
const LIVE_US = 10e6
/** The events that arrive with a delayed mark are accepted within this time after the mark was seen. */
const SETTLES_US = 5e6
/** An endless stream of delayed events is read this often. */
const STREAM_US = 60e6
/** The longest time that a delayed start waits for the end of such a stream. */
const LONGEST_WAIT_US = 10 * MINUTE_US

/** What is read again before the newest stretch; a sweep looks further back, now and then for a day. */
const OVERLAP_US = 2 * MINUTE_US
const SWEEP_BACK_US = 70 * MINUTE_US
const WIDE_SWEEP = { everyUs: HOUR_US, backUs: 25 * HOUR_US }

/** What the stores may have gained since the last read: processes by the time their first mark was accepted. */
export interface Hints {
  /** Everything is read, whatever was hinted at. */
  readonly isSweep: boolean
  readonly marks: ReadonlyMap<string, number>
  /** When the first was accepted. */
  readonly exceptionUs: number | undefined
}

export interface OpenRun {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly startedUs: number
}

/** The time, and the time before which everything accepted is stored. `isStored`: nothing at all waits to be stored. */
export interface Reach {
  readonly nowUs: number
  readonly knownUs: number
  readonly isStored?: boolean
}

export type AccountHistory = ReturnType<typeof createAccountHistory>

export interface AccountHistoryOptions extends FormerMarksOptions {
  readonly source: WatchSource
  readonly account: string
  /** How far an earlier process evaluated; undefined at the first start. */
  readonly judgedUs: number | undefined
  readonly delayed: AccountDelayed
  nowUs(): number
}

/** To be loaded again once everything that was accepted before `dueUs` is stored. */
interface Load {
  readonly processes: Processes
  readonly fromUs: number
  readonly dueUs: number
  readonly delayed: readonly DelayedStarts[]
}

/** To be read again before they are trusted, at `latestUs` at the latest. */
interface Again extends DelayedStarts {
  readonly latestUs: number
}

export function createAccountHistory(options: AccountHistoryOptions) {
  const { source, account, judgedUs, delayed, rewind } = options
  const memory = createMemory()
  const former = createFormerMarks(options)
  let readUs: number | undefined
  let exceptionsUs: number | undefined
  let loaded: Processes = new Set()
  let loads: readonly Load[] = []
  /** Loaded twice. */
  let ready: Processes = new Set()
  let again: readonly Again[] = []
  /** An earlier process may leave exceptions of any age unjudged: all are read once all up to this time is stored. */
  let inheritedUs: number | undefined
  let sweptUs: number | undefined
  let wideUs = Number.NEGATIVE_INFINITY

  const startDelay = (waitUs: number): StartDelay => ({
    beforeUs: (readUs ?? Number.POSITIVE_INFINITY) - LIVE_US,
    trustUs: options.nowUs() + waitUs,
  })

  function readAgainLater(starts: readonly DelayedStarts[]): void {
    const latestUs = options.nowUs() + LONGEST_WAIT_US
    const wanted = starts.filter(({ process }) => loaded === 'all' || loaded.has(process))
    if (wanted.length > 0) again = [...again, ...wanted.map((it) => ({ ...it, latestUs }))]
  }

  function add(marks: readonly KnownMark[], startDelay?: StartDelay): readonly DelayedStarts[] {
    const divided = former.divide(marks, options.nowUs())
    memory.addFormerStarts(divided.former)
    return memory.addMarks(divided.current, startDelay)
  }

  /** Resolves to the time before which marks are missing, if the answer was cut. */
  async function read(processes: readonly string[] | undefined, fromUs: number, toUs: number, waitUs = SETTLES_US) {
    const marks = await source.findMarks({ account, fromUs, toUs, ...(processes && { processes }), maxRows: MAX_ROWS })
    readAgainLater(add(marks, startDelay(waitUs)))
    if (marks.length < MAX_ROWS) return undefined
    const cutUs = marks.at(-1)!.atUs
    memory.noteCompleteFrom(cutUs, processes)
    return cutUs
  }

  async function load(nowUs: number, processes: Processes): Promise<KnownMark[]> {
    const names = namesOf(processes)
    const range = { account, toUs: nowUs + AHEAD_US, ...(names && { processes: names }) }
    const fromUs = nowUs - LOADED_BACK_US
    const [starts, marks] = await Promise.all([
      source.findNewestStarts({ ...range, fromUs: nowUs - NEWEST_START_BACK_US }),
      source.findMarks({ ...range, fromUs, perSeries: LOADED_PER_SERIES, maxRows: MAX_ROWS }),
    ])
    memory.addNewestStarts(starts.filter(({ atUs }) => !former.isFormer(atUs, options.nowUs())))
    return marks
  }

  /** Processes that have not been loaded yet, and again those whose first load is settled. */
  async function loadWanted(reach: Reach, wanted: Processes, openRuns: readonly OpenRun[]): Promise<void> {
    const { nowUs, knownUs, isStored = false } = reach
    const fromUs = nowUs - LOADED_BACK_US
    const processes = without(wanted, loaded)
    if (processes === 'all' || processes.size > 0) {
      // Some marks of processes that are not loaded may be there, some of them without their ends.
      if (loaded !== 'all') memory.keepMarksOf(loaded)
      const marks = await load(nowUs, processes)
      const dueUs = options.nowUs() + SETTLES_US
      const isComplete = isStored && delayed.marks.isEmpty()
      const starts = add(marks, isComplete ? undefined : { beforeUs: Number.POSITIVE_INFINITY, trustUs: dueUs })
      noteIncomplete(memory, marks.length, fromUs)
      const runs = openRuns.map(({ startedUs, ...run }) => ({ ...run, mark: 'start' as const, atUs: startedUs }))
      memory.addMarks(runs.filter(({ atUs }) => former.ambiguousAt(atUs)))
      add(runs)
      if (rewind) await read(namesOf(processes), rewind.sinceUs, rewind.untilUs + 1)
      if (isComplete) ready = union(ready, processes)
      else loads = [...loads, { processes, fromUs, dueUs, delayed: starts }]
      loaded = union(loaded, processes)
    }
    for (const one of loads.filter(({ dueUs }) => dueUs <= knownUs)) {
      const marks = await load(nowUs, one.processes)
      if (rewind) await read(namesOf(one.processes), rewind.sinceUs, rewind.untilUs + 1)
      readAgainLater(add(marks, startDelay(SETTLES_US)))
      readAgainLater(one.delayed.filter(({ process }) => delayed.marks.isPending(process, knownUs)))
      noteIncomplete(memory, marks.length, fromUs)
      loads = loads.filter((it) => it !== one)
      ready = union(ready, one.processes)
    }
  }

  /** Processes that are no longer wanted are not read, so they must be loaded again once they are wanted. */
  function forgetAllBut(wanted: ReadonlySet<string>): void {
    if (loaded !== 'all' && loaded.isSubsetOf(wanted)) return
    const left = (known: Processes) => (known === 'all' ? wanted : known.intersection(wanted))
    loaded = left(loaded)
    ready = left(ready)
    loads = loads.map((it) => ({ ...it, processes: left(it.processes) })).filter(({ processes }) => processes.size > 0)
    again = again.filter(({ process }) => wanted.has(process))
  }

  /** Stretches whose delayed marks are trusted from now on. */
  async function readAgain({ nowUs, knownUs }: Reach): Promise<void> {
    for (const { process, trust, latestUs } of again)
      if (trust.us <= knownUs && delayed.marks.isPending(process, knownUs))
        trust.us = Math.min(options.nowUs() + SETTLES_US, latestUs)
    const due = again.filter(({ trust }) => trust.us <= knownUs)
    if (due.length === 0) return
    const names = namesOf(new Set(due.map(({ process }) => process)))
    const cutUs = await read(names, Math.min(...due.map(({ fromUs }) => fromUs)), nowUs + AHEAD_US, STREAM_US)
    if (cutUs !== undefined) for (const { trust } of due) trust.fromUs = cutUs
    again = again.filter((it) => !due.includes(it))
  }

  const isExceptionDue = ({ isSweep, exceptionUs }: Hints, knownUs: number) =>
    isSweep ||
    exceptionUs !== undefined ||
    inheritedUs !== undefined ||
    delayed.exceptions.stored(knownUs) !== undefined

  return {
    memory,
    /** Whether the marks of this process (undefined = of all) may be judged. */
    isReady: (process: string | undefined): boolean => ready === 'all' || (process !== undefined && ready.has(process)),
    /** Nothing waits to be read again. */
    isSettled: (): boolean =>
      loads.length === 0 &&
      again.length === 0 &&
      delayed.marks.isEmpty() &&
      delayed.exceptions.isEmpty() &&
      inheritedUs === undefined,
    /** When everything that was accepted before must be stored for the next second load. */
    settlesUs: (): number => Math.min(...loads.map(({ dueUs }) => dueUs)),
    /** Reads the hinted ones of these processes (undefined = all). Rejects if the store fails; keeps what it has. */
    async readMarks(
      reach: Reach,
      wanted: ReadonlySet<string> | undefined,
      openRuns: readonly OpenRun[],
      hints: Hints,
    ): Promise<void> {
      const { nowUs, knownUs } = reach
      if (wanted !== undefined) forgetAllBut(wanted)
      const isFirst = loaded !== 'all' && loaded.size === 0
      await loadWanted(reach, wanted ?? 'all', openRuns)
      await readAgain(reach)
      const untilUs = Math.min(nowUs, knownUs)
      const hinted = [...hints.marks].filter(([process]) => wanted?.has(process) ?? true)
      if (hints.isSweep) {
        const isWide = nowUs - wideUs >= WIDE_SWEEP.everyUs
        const fromUs = Math.min(sweptUs ?? judgedUs ?? nowUs, nowUs) - (isWide ? WIDE_SWEEP.backUs : SWEEP_BACK_US)
        // at first all of it was just loaded
        if (!isFirst) await read(namesOf(wanted ?? 'all'), fromUs, nowUs + AHEAD_US)
        if (isWide) wideUs = nowUs
        sweptUs = untilUs
      } else if (hinted.length > 0) {
        const fromUs = Math.min(readUs ?? nowUs, nowUs, ...hinted.map(([, us]) => us)) - OVERLAP_US
        await read(namesOf(new Set(hinted.map(([process]) => process))), fromUs, nowUs + AHEAD_US)
      }
      readUs = untilUs
      const old = delayed.marks.stored(knownUs)
      if (old === undefined) return
      const processes = old.processes?.filter((process) => wanted?.has(process) ?? true)
      if (processes?.length !== 0) await read(processes, old.fromUs, old.toUs)
      delayed.marks.settle()
    },
    async readExceptions({ nowUs, knownUs }: Reach, hints: Hints): Promise<void> {
      if (!isExceptionDue(hints, knownUs)) {
        exceptionsUs = Math.min(nowUs, knownUs)
        return
      }
      if (exceptionsUs === undefined && judgedUs !== undefined) inheritedUs = options.nowUs() + SETTLES_US
      const sinceUs = Math.min(exceptionsUs ?? judgedUs ?? nowUs, nowUs, hints.exceptionUs ?? nowUs)
      const fromUs = sinceUs - (hints.isSweep ? SWEEP_BACK_US : OVERLAP_US)
      const range = { account, fromUs, toUs: nowUs + AHEAD_US }
      memory.addExceptions(await findAllExceptions(source, range))
      exceptionsUs = Math.min(nowUs, knownUs)
      const areMarksLoaded = readUs !== undefined && loads.length === 0
      if (areMarksLoaded && inheritedUs !== undefined && inheritedUs <= knownUs) {
        const found = await findAllExceptions(source, { ...range, fromUs: nowUs - LOADED_BACK_US })
        memory.addExceptions(found.filter(({ process, meta, atUs }) => atUs >= memory.completeFromUs(process, meta)))
        inheritedUs = undefined
      }
      const old = delayed.exceptions.stored(knownUs)
      if (old === undefined) return
      memory.addExceptions(await findAllExceptions(source, { ...range, fromUs: old.fromUs, toUs: old.toUs }))
      delayed.exceptions.settle()
    },
  }
}

/** A series that reached its limit may have older marks. */
function noteIncomplete(memory: Memory, rows: number, fromUs: number): void {
  memory.noteCompleteFrom(fromUs)
  for (const series of memory.series()) {
    if (series.marks.length >= LOADED_PER_SERIES || rows >= MAX_ROWS)
      series.completeFromUs = Math.max(series.completeFromUs, series.marks[0]?.atUs ?? fromUs)
  }
}

export const forgetBeforeUs = (nowUs: number): number => nowUs - FORGOTTEN_AFTER_US
