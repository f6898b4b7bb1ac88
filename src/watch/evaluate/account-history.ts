// Reads an account's history in step with time: everything once at the beginning, then only the newest stretch with an overlap, now and then a longer
// one, and what is known to have arrived late. All reads are bounded.

import type { LateEvents } from './late-events.ts'
import { createMemory, type Memory } from './memory.ts'
import type { WatchSource } from './watch-source.ts'

const MINUTE_US = 60e6
const HOUR_US = 60 * MINUTE_US
const DAY_US = 24 * HOUR_US

export const LOADED_BACK_US = 8 * DAY_US
const LOADED_PER_SERIES = 100
const NEWEST_START_BACK_US = 400 * DAY_US
const FORGOTTEN_AFTER_US = 400 * DAY_US
const MAX_ROWS = 200_000
const MAX_EXCEPTIONS = 1000
/** Events with an own time may lie ahead of now. */
const AHEAD_US = 5 * MINUTE_US
/** Asked for by name up to this many processes, else all of the account's. */
const MAX_NAMED = 200

/** A spool that is so far behind holds events of before. */
const BEHIND_US = 5e6

/** Every so often, so much of the past is read again. */
const OVERLAPS = [
  { everyUs: 0, backUs: 2 * MINUTE_US },
  { everyUs: 5 * MINUTE_US, backUs: 70 * MINUTE_US },
  { everyUs: HOUR_US, backUs: 25 * HOUR_US },
] as const

export interface OpenRun {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly startedUs: number
}

/** `nowUs`, and everything before `knownUs` is stored. */
export interface Reach {
  readonly nowUs: number
  readonly knownUs: number
}

export interface AccountHistory {
  readonly memory: Memory
  /** Of these processes; undefined = all. Rejects when the store does not answer; what was known stays. */
  readMarks(reach: Reach, processes: ReadonlySet<string> | undefined, openRuns: readonly OpenRun[]): Promise<void>
  readExceptions(reach: Reach): Promise<void>
}

export interface LateOnes {
  readonly marks: LateEvents
  readonly exceptions: LateEvents
}

/** `judgedUs`: how far an earlier process came; undefined at the very first time. */
export function createAccountHistory(
  source: WatchSource,
  account: string,
  judgedUs: number | undefined,
  late: LateOnes,
): AccountHistory {
  const memory = createMemory()
  let readUs: number | undefined
  let exceptionsUs: number | undefined
  let loaded: ReadonlySet<string> | 'all' = new Set()
  /** An earlier process left events in the spool, as old as they may be: everything is loaded again once they are stored. */
  let reloadUs: number | undefined
  const overlapped: number[] = OVERLAPS.map(() => Number.NEGATIVE_INFINITY)

  function backFrom(nowUs: number): number {
    const due = OVERLAPS.map(({ everyUs }, i) => nowUs - overlapped[i]! >= everyUs)
    const widest = due.lastIndexOf(true)
    for (let i = 0; i <= widest; i++) overlapped[i] = nowUs
    return OVERLAPS[widest]!.backUs
  }

  const namesOf = (wanted: ReadonlySet<string> | undefined) =>
    wanted === undefined || wanted.size > MAX_NAMED ? {} : { processes: [...wanted] }

  /** Of processes that were not looked at so far. */
  async function load(nowUs: number, processes: ReadonlySet<string> | undefined): Promise<void> {
    const range = { account, toUs: nowUs + AHEAD_US, ...namesOf(processes) }
    const fromUs = nowUs - LOADED_BACK_US
    const [starts, marks] = await Promise.all([
      source.findNewestStarts({ ...range, fromUs: nowUs - NEWEST_START_BACK_US }),
      source.findMarks({ ...range, fromUs, perSeries: LOADED_PER_SERIES, maxRows: MAX_ROWS }),
    ])
    memory.addNewestStarts(starts)
    memory.addMarks(marks)
    noteIncomplete(memory, marks.length, fromUs)
  }

  return {
    memory,
    async readMarks({ nowUs, knownUs }, processes, openRuns) {
      if (readUs === undefined && nowUs - knownUs > BEHIND_US) reloadUs = nowUs
      if (reloadUs !== undefined && knownUs >= reloadUs) {
        loaded = new Set()
        reloadUs = undefined
      }
      const missing = missingFrom(loaded, processes)
      if (missing === 'all' || missing.size > 0) {
        await load(nowUs, missing === 'all' ? undefined : missing)
        loaded = processes === undefined ? 'all' : new Set([...(loaded === 'all' ? [] : loaded), ...processes])
        memory.addMarks(openRuns.map(({ startedUs, ...run }) => ({ ...run, mark: 'start', atUs: startedUs })))
      }
      const untilUs = readUs ?? judgedUs ?? nowUs
      const fromUs = Math.min(untilUs, nowUs) - backFrom(nowUs)
      const range = { account, fromUs, toUs: nowUs + AHEAD_US, ...namesOf(processes) }
      const marks = await source.findMarks({ ...range, maxRows: MAX_ROWS })
      memory.addMarks(marks)
      if (marks.length >= MAX_ROWS) memory.noteCompleteFrom(marks.at(-1)!.atUs)
      readUs = Math.min(nowUs, knownUs)
      const old = late.marks.stored(knownUs)
      if (old === undefined) return
      const wanted = old.processes?.filter((process) => processes?.has(process) ?? true)
      if (wanted?.length !== 0)
        memory.addMarks(await source.findMarks({ account, ...old, processes: wanted, maxRows: MAX_ROWS }))
      late.marks.settle()
    },
    async readExceptions({ nowUs, knownUs }) {
      const fromUs = (exceptionsUs ?? judgedUs ?? nowUs) - OVERLAPS[0].backUs
      const range = { account, fromUs, toUs: nowUs + AHEAD_US, maxRows: MAX_EXCEPTIONS }
      memory.addExceptions(await source.findExceptions(range))
      exceptionsUs = Math.min(nowUs, knownUs)
      const old = late.exceptions.stored(knownUs)
      if (old === undefined) return
      memory.addExceptions(await source.findExceptions({ ...range, fromUs: old.fromUs, toUs: old.toUs }))
      late.exceptions.settle()
    },
  }
}

/** A series that filled its share may have older marks. */
function noteIncomplete(memory: Memory, rows: number, fromUs: number): void {
  memory.noteCompleteFrom(fromUs)
  for (const series of memory.series()) {
    if (series.marks.length >= LOADED_PER_SERIES || rows >= MAX_ROWS)
      series.completeFromUs = Math.max(series.completeFromUs, series.marks[0]?.atUs ?? fromUs)
  }
}

function missingFrom(
  loaded: ReadonlySet<string> | 'all',
  wanted: ReadonlySet<string> | undefined,
): ReadonlySet<string> | 'all' {
  if (loaded === 'all') return new Set()
  return wanted === undefined ? 'all' : wanted.difference(loaded)
}

export const forgetBeforeUs = (nowUs: number): number => nowUs - FORGOTTEN_AFTER_US
