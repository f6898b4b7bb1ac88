// Reads an account's history in step with time: everything once at the beginning, then only the newest stretch, with an overlap for events that
// arrive late; now and then a longer overlap. All reads are bounded.

import { createMemory, type Memory } from './memory.ts'
import type { WatchSource } from './watch-source.ts'

const MINUTE_US = 60e6
const HOUR_US = 60 * MINUTE_US
const DAY_US = 24 * HOUR_US

const LOADED_BACK_US = 8 * DAY_US
const LOADED_PER_SERIES = 100
const NEWEST_START_BACK_US = 400 * DAY_US
const FORGOTTEN_AFTER_US = 400 * DAY_US
const MAX_ROWS = 200_000
const MAX_EXCEPTIONS = 1000
/** Events with an own time may lie ahead of now. */
const AHEAD_US = 5 * MINUTE_US
/** Asked for by name up to this many processes, else all of the account's. */
const MAX_NAMED = 200

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

export interface AccountHistory {
  readonly memory: Memory
  /** Of these processes; undefined = all. Rejects when the store does not answer; what was known stays. */
  readMarks(nowUs: number, processes: ReadonlySet<string> | undefined, openRuns: readonly OpenRun[]): Promise<void>
  readExceptions(nowUs: number): Promise<void>
  /** Events as old as this are on their way: reads go back to there for some minutes. */
  expect(fromUs: number, nowUs: number): void
}

/** So long after events were expected they may still wait in the spool, or be sent again. */
const EXPECTED_FOR_US = 5 * MINUTE_US

/** `judgedUs`: how far an earlier process came; undefined at the very first time. */
export function createAccountHistory(
  source: WatchSource,
  account: string,
  judgedUs: number | undefined,
): AccountHistory {
  const memory = createMemory()
  let readUs: number | undefined
  let exceptionsUs: number | undefined
  let loaded: ReadonlySet<string> | 'all' = new Set()
  let expected = { fromUs: Number.POSITIVE_INFINITY, untilUs: Number.NEGATIVE_INFINITY }
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
    async readMarks(nowUs, processes, openRuns) {
      const missing = missingFrom(loaded, processes)
      if (missing === 'all' || missing.size > 0) {
        await load(nowUs, missing === 'all' ? undefined : missing)
        loaded = processes === undefined ? 'all' : new Set([...(loaded === 'all' ? [] : loaded), ...processes])
        memory.addMarks(openRuns.map(({ startedUs, ...run }) => ({ ...run, mark: 'start', atUs: startedUs })))
      }
      const untilUs = readUs ?? judgedUs ?? nowUs
      const backUs = Math.min(untilUs, nowUs) - backFrom(nowUs)
      const fromUs = expected.untilUs > nowUs ? Math.min(backUs, expected.fromUs) : backUs
      const range = { account, fromUs, toUs: nowUs + AHEAD_US, ...namesOf(processes) }
      const marks = await source.findMarks({ ...range, maxRows: MAX_ROWS })
      memory.addMarks(marks)
      if (marks.length >= MAX_ROWS) memory.noteCompleteFrom(marks.at(-1)!.atUs)
      readUs = nowUs
    },
    async readExceptions(nowUs) {
      const fromUs = (exceptionsUs ?? judgedUs ?? nowUs) - OVERLAPS[0].backUs
      const range = { account, fromUs, toUs: nowUs + AHEAD_US, maxRows: MAX_EXCEPTIONS }
      memory.addExceptions(await source.findExceptions(range))
      exceptionsUs = nowUs
    },
    expect(fromUs, nowUs) {
      const isFresh = expected.untilUs <= nowUs
      expected = {
        fromUs: isFresh ? fromUs : Math.min(fromUs, expected.fromUs),
        untilUs: nowUs + EXPECTED_FOR_US,
      }
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
