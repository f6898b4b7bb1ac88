// Pairs the marks of a whole window while they stream in, oldest first, with `judgeMark` of store/pair-marks.ts.
//
//   [from − MAX_RUN, to + MAX_RUN + 5 min) ─ slices ▶ per subject and uid: open start ▶ settled timings
//
// Memory: a slice, and starts without a next mark. Later marks only settle open starts; reading ends with the last one.
import { rest, spend } from '../../turns.ts'
import { marksWindow } from '../order.ts'
import { boundsInUs, isPair, judgeMark } from '../pair-marks.ts'
import type { PlainTiming, TimingRow, TimingSelection, TimingState } from '../source.ts'
import type { MarkSeries, SeriesMark, Subject } from './read-marks.ts'
import { ceilS, createSlices, eachSubject, findGroups, floorS, type SliceReader } from './slices.ts'

/** A timing: the mark that settles it and, of a completed or failed one, its start. */
export interface PairedMarks {
  readonly state: TimingState
  readonly subject: Subject
  readonly mark: SeriesMark
  readonly start?: SeriesMark
}

/** The starts before a second that had no next mark before it, by subject and uid, in the order of their times. */
export interface OpenStarts {
  readonly untilS: number
  readonly starts: ReadonlyMap<Subject, ReadonlyMap<string, SeriesMark>>
}

/**
 * Shows every timing that the window settles, in range or not, until `visit` has had enough; those of a process oldest
 * first. With `known` only marks from its second on are read, and timings settled before it are not shown.
 */
export async function streamTimings(
  reader: SliceReader,
  q: TimingSelection,
  visit: (timing: PairedMarks) => 'enough' | undefined,
  known?: OpenStarts,
): Promise<void> {
  const window = marksWindow(q)
  const startS = known?.untilS ?? floorS(window.fromNs)
  const [rangeS, stopS] = [Math.max(startS, ceilS(q.toNs)), ceilS(window.toNs)]
  const { read, sliceMarks } = reader
  // of few runs the count of their processes says nothing, and of a short time it costs as much as their marks
  const isWhole = q.uid !== undefined || known !== undefined
  const groups = await findGroups(isWhole ? { read, sliceMarks } : reader, startS, stopS)
  for (const group of groups) {
    const pairing = createPairing(q, visit)
    for (const [subject, starts] of known?.starts ?? []) await pairing.resume(subject, starts)
    const slices = createSlices(group, stopS - startS)
    for await (const { series, endS } of slices(startS, rangeS)) {
      await pairing.take(series, false)
      if (pairing.stopped) return
      pairing.forgetBefore(endS * 1e6)
    }
    if (pairing.open > 0)
      for await (const { series, endS } of slices(rangeS, stopS)) {
        await pairing.take(series, true)
        if (pairing.stopped) return
        pairing.forgetBefore(endS * 1e6)
        if (pairing.open === 0) break
      }
    pairing.finish()
    if (pairing.stopped) return
  }
}

function createPairing(q: TimingSelection, visit: (timing: PairedMarks) => 'enough' | undefined) {
  const bounds = boundsInUs(q)
  /** The starts without a next mark, by subject and uid. */
  const starts = new Map<Subject, Map<string, SeriesMark>>()
  let [open, stopped] = [0, false]

  const settle = (state: TimingState, subject: Subject, mark: SeriesMark, start?: SeriesMark): void => {
    if (!stopped) stopped = visit({ state, subject, mark, ...(start && { start }) }) === 'enough'
  }

  /** Marks of a subject come in the rule's order. */
  function takeMark(subject: Subject, own: Map<string, SeriesMark>, mark: SeriesMark, isBehind: boolean): void {
    const before = own.get(mark.uid)
    if (before === undefined && isBehind) return
    if (before !== undefined) {
      const state = judgeMark(undefined, before, mark, bounds)
      if (state !== undefined) settle(state, subject, before)
    }
    if (mark.mark !== 'start') {
      const state = judgeMark(before, mark, undefined, bounds)!
      settle(state, subject, mark, isPair(before, mark, bounds.maxRun) ? before : undefined)
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

    /** The starts of a subject that were open before all marks that will be taken. */
    async resume(subject: Subject, own: ReadonlyMap<string, SeriesMark>): Promise<void> {
      starts.set(subject, new Map(own))
      open += own.size
      if (spend(own.size)) await rest()
    },

    async take(slice: readonly MarkSeries[], isBehind: boolean): Promise<void> {
      for (const [subject, seconds] of eachSubject(slice)) {
        const own = starts.get(subject) ?? new Map<string, SeriesMark>()
        starts.set(subject, own)
        for (const second of seconds) {
          for (const mark of second) takeMark(subject, own, mark, isBehind)
          if (spend(second.length)) await rest()
          if (stopped) return
        }
      }
    },

    /** All marks before `us` were taken: settles and frees a start that can neither be running nor get an end. */
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

export const toPlain = ({ state, subject, mark, start }: PairedMarks): PlainTiming => ({
  process: subject.process,
  meta: subject.meta,
  uid: mark.uid,
  state,
  ...((start !== undefined || mark.mark === 'start') && { startedNs: BigInt((start ?? mark).at) * 1000n }),
  ...(mark.mark !== 'start' && { endedNs: BigInt(mark.at) * 1000n }),
})

export function toTiming(settled: PairedMarks): TimingRow {
  const { mark, at, stampUs, sub } = settled.start ?? settled.mark
  const { process, meta, uid, ...timing } = toPlain(settled)
  const tie = JSON.stringify([String(BigInt(stampUs) * 1000n + BigInt(sub)), mark, process, meta, uid])
  return { process, meta, uid, ...timing, place: { ns: BigInt(at) * 1000n, tie } }
}
