// What is remembered of one process and meta: its newest 60 settled runs and all open ones, packed, because an account
// may have 10,000 rows. Invariants:
// * The runs are those of the pairing rule over all marks that are later than `cutUs`, whatever order they came in.
//   A mark of `cutUs` or before cannot be judged here: `fold` says so, and the process is read from the store again.
// * An event that came before changes nothing.
// * Counts by hour change with each run that settles, differently or not at all any more.
import { SETTLED_KEPT } from '../process/usual.ts'
import { countHour, HOUR_US, type Hours, hoursHeld, NO_HOURS, setHour } from './hours.ts'
import { firstUs, isCompleted, isOpen, type LiveMark, type LiveRun, marksOf, pairRuns } from './marks.ts'

const OPEN_MAX = 1_000
const [FAILED, HAS_START, HAS_END] = [1, 2, 4]
/** Numbers of a packed run: its start, its end or else when it settled, and the rests of both, with the bits behind. */
const WIDTH = 4
const BITS = 8

export interface Row {
  readonly process: string
  readonly meta: string
  packed: Float64Array
  /** Of the settled runs, then of the open ones; a uid holds no line break. */
  uids: string
  /** Marks of this time and before are not in `packed`. */
  cutUs: number
  /** Hours with a start before the newest runs. */
  starts: Uint32Array | undefined
  startsHour: number
  figures: Hours
  /** When the newest run completed, and failed, that is not kept any more; 0 if none of the last day is known. */
  lastOkUs: number
  lastFailedUs: number
}

const NOTHING = new Float64Array(0)

export function createRow(process: string, meta: string): Row {
  // a literal without spreading takes half the memory
  return {
    process,
    meta,
    packed: NOTHING,
    uids: '',
    cutUs: Number.NEGATIVE_INFINITY,
    starts: undefined,
    startsHour: 0,
    figures: NO_HOURS,
    lastOkUs: 0,
    lastFailedUs: 0,
  }
}

export const countRuns = ({ packed }: Row): number => packed.length / WIDTH

/** Settled ones in the order in which they settled, then open ones by their start. */
export function runsOf({ packed, uids }: Row): LiveRun[] {
  if (packed.length === 0) return []
  return uids.split('\n').map((uid, i): LiveRun => {
    const [at, bits] = [i * WIDTH, packed[i * WIDTH + 2]! % BITS]
    const lastUs = packed[at + 1]!
    return {
      uid,
      startUs: bits & HAS_START ? packed[at]! : NaN,
      startNs: (packed[at + 2]! - bits) / BITS,
      endUs: bits & HAS_END ? lastUs : NaN,
      endNs: packed[at + 3]!,
      failed: (bits & FAILED) !== 0,
      settledUs: lastUs,
    }
  })
}

/** The newest of all runs, without unpacking them; undefined where there was none or it is not known any more. */
export function newestOf({ packed, lastOkUs, lastFailedUs }: Row) {
  let [start, ok, failed, took, seen, running] = [0, lastOkUs, lastFailedUs, undefined as number | undefined, 0, 0]
  for (let at = 0; at < packed.length; at += WIDTH) {
    const [startUs, settledUs, bits] = [packed[at]!, packed[at + 1]!, packed[at + 2]! % BITS]
    if (settledUs === Infinity) running++
    if (bits & HAS_START) start = Math.max(start, startUs)
    if ((bits & HAS_END) === 0) continue
    seen = settledUs // they are in the order in which they settled
    if (bits & HAS_START) took = settledUs - startUs
    if (bits & FAILED) failed = Math.max(failed, settledUs)
    else if (bits & HAS_START) ok = Math.max(ok, settledUs)
  }
  const known = (us: number) => (us === 0 ? undefined : us)
  const [startUs, okUs, failedUs] = [known(start), known(ok), known(failed)]
  return { startUs, okUs, failedUs, tookUs: took, seenUs: Math.max(seen, start), running }
}

/** Whether a run may have been open between these times, without unpacking them. */
export function touches({ packed }: Row, fromUs: number, toUs: number): boolean {
  for (let at = 0; at < packed.length; at += WIDTH) if (!(packed[at]! > toUs) && packed[at + 1]! >= fromUs) return true
  return false
}

function pack(row: Row, runs: readonly LiveRun[]): void {
  if (countRuns(row) !== runs.length) row.packed = new Float64Array(WIDTH * runs.length)
  for (const [i, { startUs, endUs, settledUs, startNs, endNs, failed }] of runs.entries()) {
    const bits = (failed ? FAILED : 0) | (Number.isNaN(startUs) ? 0 : HAS_START) | (Number.isNaN(endUs) ? 0 : HAS_END)
    row.packed.set([startUs, settledUs, startNs * BITS + bits, endNs], i * WIDTH)
  }
  row.uids = runs.map(({ uid }) => uid).join('\n')
}

const bySettled = (a: LiveRun, b: LiveRun): number => {
  if (a.settledUs !== b.settledUs) return a.settledUs - b.settledUs
  return firstUs(a) - firstUs(b) || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0)
}

/** Adds marks of the row's process and meta. Returns false if one of them is too old to be judged here. */
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
  const before = row.packed.length === 0 ? [] : runsOf(row)
  const after = before.map((run) => expired(run, knownUs, maxRunUs))
  if (after.every((run, i) => run === before[i])) return false
  countChange(row, before, after)
  store(row, after)
  return true
}

/** The run as it is known at `knownUs`. */
export const expired = (run: LiveRun, knownUs: number, maxRunUs: number): LiveRun =>
  isOpen(run) && run.startUs < knownUs - maxRunUs ? { ...run, settledUs: run.startUs + maxRunUs } : run

/** The newest settled ones, and open ones, stay. */
function store(row: Row, runs: LiveRun[]): void {
  runs.sort(bySettled)
  const open = runs.filter(isOpen)
  const settled = runs.slice(0, runs.length - open.length)
  const gone = settled.splice(0, Math.max(0, settled.length - SETTLED_KEPT))
  for (const run of gone) {
    row.cutUs = Math.max(row.cutUs, run.settledUs)
    noteStartHour(row, firstUs(run))
    if (run.failed) noteOlder(row, 0, run.settledUs)
    else if (isCompleted(run)) noteOlder(row, run.settledUs, 0)
  }
  pack(row, [...settled, ...open.slice(-OPEN_MAX)])
}

/** Notes when a run completed or failed that is not kept. */
export function noteOlder(row: Row, okUs: number, failedUs: number): void {
  if (okUs <= row.cutUs) row.lastOkUs = Math.max(row.lastOkUs, okUs)
  if (failedUs <= row.cutUs) row.lastFailedUs = Math.max(row.lastFailedUs, failedUs)
}

export function countChange(row: Row, before: readonly LiveRun[], after: readonly LiveRun[]): void {
  for (const [runs, by] of [
    [after, 1], // first, for no count is below zero
    [before, -1],
  ] as const)
    for (const run of runs) {
      const figure = figureOf(run)
      if (figure !== undefined) row.figures = countHour(row.figures, FIGURES, countedUs(run), figure, by)
    }
}

/** When a run counts: at its end; what never finished at its start. */
export const countedUs = ({ startUs, endUs }: LiveRun): number => (Number.isNaN(endUs) ? startUs : endUs)

/** The figures of an hour. */
export const FIGURES = 4
export const [RUNS, FAILURES, UNFINISHED, ORPHANS] = [0, 1, 2, 3]

function figureOf({ startUs, endUs, failed, settledUs }: LiveRun): number | undefined {
  if (settledUs === Infinity) return undefined
  if (failed) return FAILURES
  if (Number.isNaN(endUs)) return UNFINISHED
  return Number.isNaN(startUs) ? ORPHANS : RUNS
}

export function noteStartHour(row: Row, atUs: number): void {
  const hour = Math.floor(atUs / HOUR_US)
  if (row.starts === undefined) {
    row.starts = new Uint32Array(HOUR_WORDS)
    row.startsHour = hour
  }
  row.startsHour = setHour(row.starts, row.startsHour, hour)
}

/** 40 days. */
const HOUR_WORDS = 30

/** The beginnings of the hours that held a start before the newest runs, ms. */
export const startHoursMs = (row: Row): number[] =>
  row.starts === undefined ? [] : hoursHeld(row.starts, row.startsHour).map((hour) => hour * 3_600_000)

/** Estimated memory of the row. */
export const bytesOf = ({ packed, uids, starts, figures, meta }: Row): number =>
  ROW_BYTES + roomOf(uids.length + 2 * meta.length) + arrayBytes(packed) + arrayBytes(starts) + arrayBytes(figures)

const arrayBytes = (array: Float64Array | Uint32Array | undefined): number =>
  array === undefined || array.length === 0 ? 0 : ARRAY_BYTES + roomOf(array.byteLength)

/** Memory comes in pieces of certain sizes. */
const roomOf = (bytes: number): number => Math.ceil(1.2 * bytes)
/** The object with its text's head, and the head of an array, as measured. */
const [ROW_BYTES, ARRAY_BYTES] = [170, 64]
