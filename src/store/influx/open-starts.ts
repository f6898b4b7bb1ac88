// Remembers the starts still open at an earlier time W, so that a poll reads only the marks since, not a whole MAX_RUN:
//
//   W − MAX_RUN ─── known, and counted again by InfluxDB ─── W ─── read ─── now
//
// Of all marks before W, only open starts affect later timings. The memory is exact: points are identities and are only
// added (RETENTION_DAYS is at least twice MAX_RUN), so a process with as many marks as were read has the same marks;
// any other is read again. The count is pushed down at a twentieth of the cost of reading, and repeated for every
// question: it does not matter which node stored or erased marks, and a restart costs only time.
import { createHash } from 'node:crypto'
import { rest, spend } from '../../turns.ts'
import type { TimingSelection, TimingState } from '../source.ts'
import type { MarkReader, MarkSeries, SeriesMark, Subject } from './read-marks.ts'
import { createSlices, eachSubject, findGroups, floorS, groupProcesses } from './slices.ts'
import type { OpenStarts } from './stream-timings.ts'

type Question = TimingSelection & { readonly states?: readonly TimingState[] }

/** Immutable: questions that are asked at once may replace it under each other. */
interface Entry {
  readonly loS: number
  readonly untilS: number
  readonly processes: ReadonlyMap<string, Process>
  /** As HELD_MAX counts. */
  readonly size: number
}

interface Process {
  /** Of [loS, untilS): so many were read. */
  readonly marks: number
  /** Keyed by meta and uid, in order of time. */
  readonly starts: ReadonlyMap<string, ReadonlyMap<string, SeriesMark>>
}

/** W lies between once and twice this far back: marks that come later than that let their process be read again. */
const LAG_S = 1800
/** Starts, metas, processes and selections of all accounts together; each takes some 100 to 600 bytes. */
const HELD_MAX = 200_000
/** A larger selection would cost all others theirs. */
const ENTRY_MAX = HELD_MAX / 4
/** The size of a selection without any start. */
const ENTRY_SIZE = 4

export type OpenStartsCache = ReturnType<typeof createOpenStarts>

export function createOpenStarts(lagS = LAG_S) {
  const entries = new Map<string, Entry>()
  let held = 0

  function forget(key: string): void {
    held -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  function keep(key: string, entry: Entry): void {
    forget(key)
    if (entry.size > ENTRY_MAX) return
    entries.set(key, entry)
    held += entry.size
    for (const oldest of entries.keys()) {
      if (held <= HELD_MAX) return
      forget(oldest)
    }
  }

  return {
    /** Undefined where the answer includes timings settled earlier. Reads a whole MAX_RUN the first time. */
    async find(reader: MarkReader, q: Question): Promise<OpenStarts | undefined> {
      if (q.uid !== undefined) return undefined // one run has few marks
      const wantedS = Math.max(0, floorS(q.nowNs) - lagS)
      const latestS = latestUseful(q)
      const of = JSON.stringify([q.account, q.process ?? null, q.meta ?? null, String(q.maxRunNs)])
      const isList = typeof q.process === 'object' // it may be long
      const key = isList ? createHash('sha256').update(of).digest('base64') : of
      const kept = entries.get(key)
      const isAhead = kept !== undefined && kept.untilS > floorS(q.nowNs) // the clock was
      const known = isAhead ? undefined : kept
      if ((known?.untilS ?? wantedS) > latestS) return undefined
      const isRecent = known !== undefined && wantedS - known.untilS < lagS
      const untilS = isRecent || wantedS > latestS ? known!.untilS : wantedS
      const entry = await update(reader, known, Math.max(0, untilS - Math.ceil(Number(q.maxRunNs) / 1e9)), untilS)
      keep(key, entry)
      return { untilS, starts: startsOf(entry, reader) }
    },
  }
}

/** The last second before which no timing of the answer is settled: running ones never are, late marks came later. */
function latestUseful({ fromNs, nowNs, asOfNs, states }: Question): number {
  const settledNs = states?.every((state) => state === 'running') ? nowNs : fromNs
  return floorS(asOfNs !== undefined && asOfNs < settledNs ? asOfNs : settledNs)
}

/** The starts open at `untilS` among the marks of [loS, untilS), reusing the valid part of `known` (no later). */
async function update(reader: MarkReader, known: Entry | undefined, loS: number, untilS: number): Promise<Entry> {
  const fold = createFold()
  let sinceS = loS
  if (known !== undefined && known.untilS > loS) {
    sinceS = known.untilS
    // counted before the comparison: so these are among the marks that it finds unchanged
    const left = known.loS < loS ? await reader.countMarks(loS, sinceS) : undefined
    const counts = await reader.countMarks(known.loS, sinceS)
    const changed = new Map(counts)
    for (const [process, { marks, starts }] of known.processes)
      if (counts.get(process) === marks) {
        changed.delete(process)
        await fold.resume(process, left === undefined ? marks : (left.get(process) ?? 0), starts, loS)
      }
    if (changed.size === 0 && untilS === sinceS && counts.size === known.processes.size && left === undefined)
      return known
    for (const group of groupProcesses(reader, changed))
      for await (const { series } of createSlices(group, sinceS - loS)(loS, sinceS)) await fold.take(series)
  }
  if (sinceS < untilS)
    for (const group of await findGroups(reader, sinceS, untilS))
      for await (const { series } of createSlices(group, untilS - sinceS)(sinceS, untilS)) await fold.take(series)
  const processes = fold.processes()
  return { loS, untilS, processes, size: sizeOf(processes) }
}

/** Marks in the order of time, of each process by itself. */
function createFold() {
  const processes = new Map<string, { marks: number; readonly starts: Map<string, Map<string, SeriesMark>> }>()

  function of(process: string) {
    const known = processes.get(process) ?? { marks: 0, starts: new Map<string, Map<string, SeriesMark>>() }
    processes.set(process, known)
    return known
  }

  return {
    async resume(process: string, marks: number, starts: Process['starts'], loS: number): Promise<void> {
      const known = of(process)
      known.marks = marks
      for (const [meta, own] of starts) {
        const left = new Map<string, SeriesMark>()
        for (const [uid, start] of own) if (start.at >= loS * 1e6) left.set(uid, start)
        if (left.size > 0) known.starts.set(meta, left)
        if (spend(1 + own.size)) await rest()
      }
    },

    async take(series: readonly MarkSeries[]): Promise<void> {
      for (const [{ process, meta }, seconds] of eachSubject(series)) {
        const known = of(process)
        const own = known.starts.get(meta) ?? new Map<string, SeriesMark>()
        known.starts.set(meta, own)
        for (const second of seconds) {
          for (const mark of second) {
            own.delete(mark.uid) // so that the starts stay in the order of their times
            if (mark.mark === 'start') own.set(mark.uid, mark)
          }
          known.marks += second.length
          if (spend(second.length)) await rest()
        }
        if (own.size === 0) known.starts.delete(meta)
      }
    },

    processes: (): Entry['processes'] => new Map(processes.entries().filter(([, { marks }]) => marks > 0)),
  }
}

const startsOf = ({ processes }: Entry, reader: MarkReader): OpenStarts['starts'] => {
  const starts = new Map<Subject, ReadonlyMap<string, SeriesMark>>()
  for (const [process, { starts: byMeta }] of processes)
    for (const [meta, own] of byMeta) starts.set(reader.subjectOf(process, meta), own)
  return starts
}

const sizeOf = (processes: Entry['processes']): number =>
  processes
    .values()
    .reduce((sum, { starts }) => sum + 1 + starts.values().reduce((n, own) => n + 1 + own.size, 0), ENTRY_SIZE)
