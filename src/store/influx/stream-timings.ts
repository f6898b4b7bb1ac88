// Pairs the marks of a whole window while they stream in, oldest first, with the rule's own judge (store/pair-marks.ts).
//
// Processes are read in groups that fit into one slice; only a process with more marks is read in several slices of time.
//
//   window [from − MAX_RUN, to + MAX_RUN + 5 min) ── slices of whole seconds ──▶ per subject and uid: the open start ──▶ timings, as they settle
//
// A stamp never leaves its time's second, so a slice holds all marks of its seconds. What is held: one slice, and the starts without a next mark. Behind
// the range marks only settle what is open, and the reading ends when nothing is.
import { boundsInUs, judgeMark, MARK_RANK, toTiming as timingOf } from '../pair-marks.ts'
import type { Timing, TimingSelection, TimingState } from '../source.ts'
import { marksWindow } from '../source.ts'
import { createPace } from './pace.ts'
import type { MarkReader, MarkRow, MarkSeries, Subject } from './read-marks.ts'

/** A timing: the mark that settles it and, of a completed or failed one, its start. */
export interface Settled {
  readonly state: TimingState
  readonly subject: Subject
  readonly mark: MarkRow
  readonly start?: MarkRow
}

/** A slice with so many times the marks that it should have is read again, shorter. */
const SLICE_MAX = 2
const [GROWTH, SHRINKAGE] = [4, 8]
/** Processes of a group: each is a condition of its query. */
const GROUP_MAX = 100

/** Shows every timing that the window settles, in range or not, until `visit` has had enough. Those of a process come oldest first. */
export async function streamTimings(
  reader: Pick<MarkReader, 'read' | 'sliceMarks'> & Partial<Pick<MarkReader, 'among' | 'countMarks'>>,
  q: TimingSelection,
  visit: (timing: Settled) => 'enough' | undefined,
): Promise<void> {
  const window = marksWindow(q)
  // of few runs the count of their processes says nothing
  if (q.uid !== undefined || reader.among === undefined || reader.countMarks === undefined) {
    await streamGroup(reader, 0, q, visit)
    return
  }
  const counts = await reader.countMarks(floorS(window.fromNs), ceilS(window.toNs))
  for (const { processes, marks } of groupProcesses(counts, reader.sliceMarks)) {
    const group = processes.length === counts.size ? reader : { ...reader, ...reader.among(processes) }
    if ((await streamGroup(group, marks, q, visit)) === 'enough') return
  }
}

/** A question that reads a stretch costs the store all marks around it, so a group of processes that fits is read in one piece rather than all in several. */
function* groupProcesses(
  counts: ReadonlyMap<string, number>,
  sliceMarks: number,
): Generator<{ processes: string[]; marks: number }> {
  let group = { processes: [] as string[], marks: 0 }
  for (const [process, marks] of counts) {
    if (group.processes.length > 0 && (group.marks + marks > sliceMarks || group.processes.length === GROUP_MAX)) {
      yield group
      group = { processes: [], marks: 0 }
    }
    group.processes.push(process)
    group.marks += marks
  }
  if (group.marks > 0) yield group
}

/** `expected`: about how many marks the window holds. */
async function streamGroup(
  { read, sliceMarks }: Pick<MarkReader, 'read' | 'sliceMarks'>,
  expected: number,
  q: TimingSelection,
  visit: (timing: Settled) => 'enough' | undefined,
): Promise<'enough' | undefined> {
  const window = marksWindow(q)
  const [startS, rangeS, stopS] = [floorS(window.fromNs), ceilS(q.toNs), ceilS(window.toNs)]
  const pairing = createPairing(q, visit)
  let lengthS = Math.max(1, Math.ceil((stopS - startS) / Math.max(1, Math.ceil(expected / sliceMarks))))
  for (let atS = startS; atS < stopS && !pairing.stopped; ) {
    const isBehind = atS >= rangeS
    if (isBehind && pairing.open === 0) break
    const endS = Math.min(atS + lengthS, isBehind ? stopS : rangeS)
    const slice = await read(atS, endS, endS - atS > 1 ? SLICE_MAX * sliceMarks : undefined)
    if (slice === undefined) {
      lengthS = Math.max(1, Math.floor((endS - atS) / SHRINKAGE))
      continue
    }
    const marks = slice.reduce((sum, series) => sum + series.marks.length, 0)
    await pairing.take(slice, isBehind)
    atS = endS
    pairing.forgetBefore(atS * 1e6)
    // an empty slice says nothing about the next one
    if (marks > 0) lengthS = Math.max(1, Math.floor(lengthS * Math.min(GROWTH, sliceMarks / marks)))
  }
  pairing.finish()
  return pairing.stopped ? 'enough' : undefined
}

const NS_PER_S = 1_000_000_000n
export const floorS = (ns: bigint): number => Number(ns / NS_PER_S)
export const ceilS = (ns: bigint): number => Number((ns + NS_PER_S - 1n) / NS_PER_S)

function createPairing(q: TimingSelection, visit: (timing: Settled) => 'enough' | undefined) {
  const bounds = boundsInUs(q)
  /** Of each subject the starts without a next mark, by uid. */
  const starts = new Map<Subject, Map<string, MarkRow>>()
  const pace = createPace()
  let [open, stopped] = [0, false]

  const settle = (state: TimingState, subject: Subject, mark: MarkRow, start?: MarkRow): void => {
    if (!stopped) stopped = visit({ state, subject, mark, ...(start && { start }) }) === 'enough'
  }

  /** Marks of a subject come in the rule's order. */
  function takeMark(subject: Subject, own: Map<string, MarkRow>, mark: MarkRow, isBehind: boolean): void {
    const before = own.get(mark.uid)
    if (before === undefined && isBehind) return
    if (before !== undefined) {
      const state = judgeMark(undefined, before, mark, bounds)
      if (state !== undefined) settle(state, subject, before)
    }
    if (mark.mark !== 'start') {
      const state = judgeMark(before, mark, undefined, bounds)!
      settle(state, subject, mark, state === 'orphan' ? undefined : before)
    }
    if (mark.mark === 'start' && !isBehind) {
      if (before === undefined) open++
      else own.delete(mark.uid) // so that the starts stay in the order of their times
      own.set(mark.uid, mark)
    } else if (before !== undefined) {
      open--
      own.delete(mark.uid)
    }
  }

  return {
    get open() {
      return open
    },
    get stopped() {
      return stopped
    },

    async take(slice: readonly MarkSeries[], isBehind: boolean): Promise<void> {
      for (const [subject, series] of Map.groupBy(slice, ({ subject }) => subject)) {
        const own = starts.get(subject) ?? new Map<string, MarkRow>()
        starts.set(subject, own)
        for (const second of eachSecond(series.map(({ marks }) => marks))) {
          for (const mark of second) takeMark(subject, own, mark, isBehind)
          if (pace.spend(second.length)) await pace.rest()
          if (stopped) return
        }
      }
    },

    /** All marks before `us` were taken: a start that can neither be running nor get an end any more is settled, and its memory freed. */
    forgetBefore(us: number): void {
      const before = Math.min(us - bounds.maxRun, bounds.runningSince)
      for (const [subject, own] of starts)
        for (const [uid, start] of own) {
          if (start.at >= before) break
          settle('abandoned', subject, start)
          own.delete(uid)
          open--
        }
    },

    /** No further marks. */
    finish(): void {
      for (const [subject, own] of starts)
        for (const start of own.values()) settle(judgeMark(undefined, start, undefined, bounds)!, subject, start)
    },
  }
}

/** The marks of one subject, from series that are each in the order of stamps, by seconds: each second's in the rule's order. */
function* eachSecond(series: readonly (readonly MarkRow[])[]): Generator<MarkRow[]> {
  const places = series.map(() => 0)
  for (;;) {
    let next = Number.POSITIVE_INFINITY
    for (let i = 0; i < series.length; i++) {
      const mark = series[i]![places[i]!]
      if (mark !== undefined && mark.at < next) next = mark.at
    }
    if (next === Number.POSITIVE_INFINITY) return
    const end = (Math.floor(next / 1e6) + 1) * 1e6
    const second: MarkRow[] = []
    for (let i = 0; i < series.length; i++)
      for (let mark = series[i]![places[i]!]; mark !== undefined && mark.at < end; mark = series[i]![++places[i]!])
        second.push(mark)
    yield second.length > 1 ? second.sort(compareRows) : second
  }
}

/** As `compareMarks`. */
export const compareRows = (a: MarkRow, b: MarkRow): number =>
  a.at - b.at || MARK_RANK[a.mark] - MARK_RANK[b.mark] || a.stampUs - b.stampUs || a.sub - b.sub

// A timing as the questions answer it, of marks as InfluxDB holds them.
const storedMark = (subject: Subject, { mark, uid, at, stampUs, sub }: MarkRow) => ({
  ...subject,
  ...{ mark, uid, ns: BigInt(at) * 1000n },
  stamp: BigInt(stampUs) * 1000n + BigInt(sub),
})

export const toTiming = ({ state, subject, mark, start }: Settled): Timing =>
  timingOf(state, storedMark(subject, mark), start && storedMark(subject, start))
