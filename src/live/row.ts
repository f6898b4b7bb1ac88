// What is remembered of one process and meta: its newest 60 settled runs and all open ones, packed, because an account
// may have 10,000 rows. Invariants:
// * The runs are those of the pairing rule over all marks that are later than `cutUs`, whatever order they came in.
//   A mark of `cutUs` or before cannot be judged here: `fold` says so, and the process is read from the store again.
// * An event that came before changes nothing.
// * Counts by hour change with each run that settles, differently or not at all any more.
import { SETTLED_KEPT } from '../process/usual.ts'
import { countHour, createHours, type Hours, hoursHeld, setHour } from './hours.ts'
import { firstUs, isCompleted, isOpen, type LiveMark, type LiveRun, marksOf, pairRuns } from './marks.ts'

const OPEN_MAX = 1_000
const [FAILED, HAS_START, HAS_END] = [1, 2, 4]
/** Numbers of a packed run: start, end, settled. */
const WIDTH = 3

export interface Row {
  readonly process: string
  readonly meta: string
  times: Float64Array
  rests: Uint32Array
  bits: Uint8Array
  /** Of the settled runs, then of the open ones; a uid holds no line break. */
  uids: string
  /** Marks of this time and before are not in `times`. */
  cutUs: number
  /** Hours with a start before the newest runs. */
  starts: Uint32Array | undefined
  startsHour: number
  figures: Hours | undefined
  /** When the newest run that is not kept any more completed, and failed. */
  lastOkUs: number
  lastFailedUs: number
}

const NO_TIMES = new Float64Array(0)
const NO_RESTS = new Uint32Array(0)
const NO_BITS = new Uint8Array(0)

export const createRow = (process: string, meta: string): Row => ({
  ...{ process, meta, times: NO_TIMES, rests: NO_RESTS, bits: NO_BITS, uids: '', cutUs: Number.NEGATIVE_INFINITY },
  ...{ starts: undefined, startsHour: 0, figures: undefined, lastOkUs: 0, lastFailedUs: 0 },
})

/** Settled ones in the order in which they settled, then open ones by their start. */
export function runsOf(row: Row): LiveRun[] {
  const { times, rests, bits } = row
  if (bits.length === 0) return []
  const uids = row.uids.split('\n')
  return Array.from(bits, (bit, i) => ({
    uid: uids[i]!,
    startUs: bit & HAS_START ? times[i * WIDTH]! : NaN,
    endUs: bit & HAS_END ? times[i * WIDTH + 1]! : NaN,
    settledUs: times[i * WIDTH + 2]!,
    startNs: rests[2 * i]!,
    endNs: rests[2 * i + 1]!,
    failed: (bit & FAILED) !== 0,
  }))
}

/** Whether a run may have been open between these times, without unpacking them. */
export function touches({ times, bits }: Row, fromUs: number, toUs: number): boolean {
  for (let i = 0; i < bits.length; i++) {
    const [start, end, settled] = [times[i * WIDTH]!, times[i * WIDTH + 1]!, times[i * WIDTH + 2]!]
    if (!(start > toUs) && !(end < fromUs) && settled >= fromUs) return true
  }
  return false
}

function pack(row: Row, runs: readonly LiveRun[]): void {
  const n = runs.length
  if (row.bits.length !== n) {
    row.times = new Float64Array(WIDTH * n)
    row.rests = new Uint32Array(2 * n)
    row.bits = new Uint8Array(n)
  }
  for (const [i, { startUs, endUs, settledUs, startNs, endNs, failed }] of runs.entries()) {
    row.times.set([startUs, endUs, settledUs], i * WIDTH)
    row.rests.set([startNs, endNs], i * 2)
    row.bits[i] = (failed ? FAILED : 0) | (Number.isNaN(startUs) ? 0 : HAS_START) | (Number.isNaN(endUs) ? 0 : HAS_END)
  }
  row.uids = runs.map(({ uid }) => uid).join('\n')
}

const bySettled = (a: LiveRun, b: LiveRun): number => {
  if (a.settledUs !== b.settledUs) return a.settledUs - b.settledUs
  return firstUs(a) - firstUs(b) || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0)
}

/** Adds marks of the row's process and meta. False: one of them is too old to be judged here. */
export function foldMarks(row: Row, marks: readonly LiveMark[], maxRunUs: number): boolean {
  const known = marks.filter(({ atUs }) => atUs > row.cutUs)
  const touched = Map.groupBy(known, ({ uid }) => uid)
  const runs = runsOf(row)
  const kept = runs.filter(({ uid }) => !touched.has(uid))
  const former = Map.groupBy(
    runs.filter(({ uid }) => touched.has(uid)),
    ({ uid }) => uid,
  )
  for (const [uid, own] of touched) {
    const before = former.get(uid) ?? []
    const after = pairRuns([...before.flatMap((run) => [...marksOf(run)]), ...own], maxRunUs)
    countChange(row, before, after)
    kept.push(...after)
  }
  store(row, kept)
  return known.length === marks.length
}

export const pairAll = (marks: readonly LiveMark[], maxRunUs: number): LiveRun[] =>
  [...Map.groupBy(marks, ({ uid }) => uid).values()].flatMap((own) => pairRuns(own, maxRunUs))

/** The runs of a row that holds nothing yet; they are not counted. */
export function fillRow(row: Row, marks: readonly LiveMark[], maxRunUs: number): LiveRun[] {
  const runs = pairAll(marks, maxRunUs)
  store(row, [...runs])
  return runs
}

/** Open runs that are older than MAX_RUN have never finished. True if there was one. */
export function expireRuns(row: Row, knownUs: number, maxRunUs: number): boolean {
  const open = row.bits.length === 0 ? [] : runsOf(row)
  const isOld = (run: LiveRun) => isOpen(run) && run.startUs < knownUs - maxRunUs
  const old = open.filter(isOld)
  if (old.length === 0) return false
  const ended = old.map((run) => ({ ...run, settledUs: run.startUs + maxRunUs }))
  countChange(row, old, ended)
  store(row, [...open.filter((run) => !isOld(run)), ...ended])
  return true
}

/** The newest settled ones, and open ones, stay. */
function store(row: Row, runs: LiveRun[]): void {
  runs.sort(bySettled)
  const open = runs.filter(isOpen)
  const settled = runs.slice(0, runs.length - open.length)
  const gone = settled.splice(0, Math.max(0, settled.length - SETTLED_KEPT))
  for (const run of gone) {
    row.cutUs = Math.max(row.cutUs, run.settledUs)
    noteStartHour(row, firstUs(run))
    if (run.failed) row.lastFailedUs = Math.max(row.lastFailedUs, run.settledUs)
    else if (isCompleted(run)) row.lastOkUs = Math.max(row.lastOkUs, run.settledUs)
  }
  pack(row, [...settled, ...open.slice(-OPEN_MAX)])
}

export function countChange(row: Row, before: readonly LiveRun[], after: readonly LiveRun[]): void {
  row.figures ??= createHours(FIGURES)
  for (const [runs, by] of [
    [after, 1], // first, for no count is below zero
    [before, -1],
  ] as const)
    for (const run of runs) {
      const figure = figureOf(run)
      if (figure !== undefined) countHour(row.figures, countedUs(run), figure, by)
    }
}

/** When a run counts: at its end; what never finished at its start. */
export const countedUs = ({ startUs, endUs }: LiveRun): number => (Number.isNaN(endUs) ? startUs : endUs)

/** The figures of an hour. */
export const FIGURES = 3
export const [RUNS, FAILURES, UNFINISHED] = [0, 1, 2]

function figureOf({ startUs, endUs, failed, settledUs }: LiveRun): number | undefined {
  if (settledUs === Infinity) return undefined
  if (failed) return FAILURES
  if (Number.isNaN(endUs)) return UNFINISHED
  return Number.isNaN(startUs) ? undefined : RUNS
}

export function noteStartHour(row: Row, atUs: number): void {
  const hour = Math.floor(atUs / HOUR_US)
  if (row.starts === undefined) {
    row.starts = new Uint32Array(HOUR_WORDS)
    row.startsHour = hour
  }
  row.startsHour = setHour(row.starts, row.startsHour, hour)
}

export const HOUR_US = 3_600e6
/** 40 days. */
const HOUR_WORDS = 30

/** The beginnings of the hours that held a start before the newest runs, ms. */
export const startHoursMs = (row: Row): number[] =>
  row.starts === undefined ? [] : hoursHeld(row.starts, row.startsHour).map((hour) => hour * 3_600_000)

/** What the row takes in memory. */
export const bytesOf = ({ times, rests, bits, uids, starts, figures, process, meta }: Row): number =>
  ROW_BYTES +
  times.byteLength +
  rests.byteLength +
  bits.byteLength +
  2 * uids.length +
  2 * (process.length + meta.length) +
  (starts?.byteLength ?? 0) +
  (figures?.counts.byteLength ?? 0)

/** The object, its arrays' heads and its places in maps, as measured. */
const ROW_BYTES = 700
