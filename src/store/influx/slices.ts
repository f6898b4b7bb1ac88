// Reads the marks of a range oldest first, in slices that fit into memory. Processes are read in groups that fit into
// one slice; only a larger process is read in several. A stamp is in its event's second, so whole seconds are complete.
import { MARK_RANK } from '../pair-marks.ts'
import type { MarkReader, MarkSeries, SeriesMark, Subject } from './read-marks.ts'

/** Without the optional parts all processes are read together. */
export type SliceReader = Pick<MarkReader, 'read' | 'sliceMarks'> & Partial<Pick<MarkReader, 'among' | 'countMarks'>>

/** A slice with so many times the marks that it should have is read again, shorter. */
const SLICE_MAX = 2
const [GROWTH, SHRINKAGE] = [4, 8]
/** Processes of a group: each is a condition of its query. */
const GROUP_MAX = 100

interface Group extends Pick<MarkReader, 'read' | 'sliceMarks'> {
  /** About so many does the range hold. */
  readonly marks: number
}

/** The groups of the processes with marks in [startS, stopS). */
export async function findGroups(reader: SliceReader, startS: number, stopS: number): Promise<readonly Group[]> {
  const { read, sliceMarks, among, countMarks } = reader
  if (among === undefined || countMarks === undefined) return [{ read, sliceMarks, marks: 0 }]
  const counts = await countMarks(startS, stopS)
  const marks = counts.values().reduce((sum, n) => sum + n, 0)
  if (marks > sliceMarks) return groupProcesses({ sliceMarks, among }, counts)
  return marks === 0 ? [] : [{ read, sliceMarks, marks }]
}

/**
 * Reading part of a range costs the store all marks around it, so a group of processes that fits is read at once.
 * `counts`: marks by process.
 */
export function groupProcesses(
  { sliceMarks, among }: Pick<MarkReader, 'sliceMarks' | 'among'>,
  counts: Iterable<readonly [process: string, marks: number]>,
): Group[] {
  const groups: { processes: string[]; marks: number }[] = []
  for (const [process, marks] of counts) {
    const last = groups.at(-1)
    if (last === undefined || last.marks + marks > sliceMarks || last.processes.length === GROUP_MAX)
      groups.push({ processes: [process], marks })
    else {
      last.processes.push(process)
      last.marks += marks
    }
  }
  return groups.map(({ processes, marks }) => ({ ...among(processes), sliceMarks, marks }))
}

/** Reads slices of [fromS, toS), sized by those before; the first as if marks were spread evenly over `spreadS`. */
export function createSlices({ read, sliceMarks, marks: expected }: Group, spreadS: number) {
  let lengthS = Math.max(1, Math.ceil(spreadS / Math.max(1, Math.ceil(expected / sliceMarks))))
  return async function* (fromS: number, toS: number): AsyncGenerator<{ series: MarkSeries[]; endS: number }> {
    for (let atS = fromS; atS < toS; ) {
      const endS = Math.min(atS + lengthS, toS)
      const series = await read(atS, endS, endS - atS > 1 ? SLICE_MAX * sliceMarks : undefined)
      if (series === undefined) {
        lengthS = Math.max(1, Math.floor((endS - atS) / SHRINKAGE))
        continue
      }
      yield { series, endS }
      atS = endS
      const marks = series.reduce((sum, { marks }) => sum + marks.length, 0)
      // an empty slice says nothing about the next one
      if (marks > 0) lengthS = Math.max(1, Math.floor(lengthS * Math.min(GROWTH, sliceMarks / marks)))
    }
  }
}

const NS_PER_S = 1_000_000_000n
export const floorS = (ns: bigint): number => Number(ns / NS_PER_S)
export const ceilS = (ns: bigint): number => Number((ns + NS_PER_S - 1n) / NS_PER_S)

/** The marks of a slice by subject, and of each by seconds. */
export function* eachSubject(slice: readonly MarkSeries[]): Generator<[Subject, Iterable<SeriesMark[]>]> {
  for (const [subject, series] of Map.groupBy(slice, ({ subject }) => subject))
    yield [subject, eachSecond(series.map(({ marks }) => marks))]
}

/** The marks of one subject by second, each second in the rule's order. Each series is in the order of stamps. */
function* eachSecond(series: readonly (readonly SeriesMark[])[]): Generator<SeriesMark[]> {
  const places = series.map(() => 0)
  for (;;) {
    let next = Number.POSITIVE_INFINITY
    for (let i = 0; i < series.length; i++) {
      const mark = series[i]![places[i]!]
      if (mark !== undefined && mark.at < next) next = mark.at
    }
    if (next === Number.POSITIVE_INFINITY) return
    const end = (Math.floor(next / 1e6) + 1) * 1e6
    const second: SeriesMark[] = []
    for (let i = 0; i < series.length; i++)
      for (let mark = series[i]![places[i]!]; mark !== undefined && mark.at < end; mark = series[i]![++places[i]!])
        second.push(mark)
    yield second.length > 1 ? second.sort(compareRows) : second
  }
}

/** As `compareMarks`. */
export const compareRows = (a: SeriesMark, b: SeriesMark): number =>
  a.at - b.at || MARK_RANK[a.mark] - MARK_RANK[b.mark] || a.stampUs - b.stampUs || a.sub - b.sub
