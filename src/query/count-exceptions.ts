// Joins exceptions onto timings: how many lie between a run's start and its end.
//
//   exception with a uid   counts for the run of that process, meta and uid, up to 60 s after its end (late requests);
//                          of several such runs on the page for the one that had started last
//   exception without one  counts in each run of its process and meta that is open then
//
// A failed end without a start has those with its uid from 60 s before it to 60 s after it; without uid null.
//
// Bounded: the newest 10,000 exceptions per process and meta are read, 100,000 in all. Timings further back get null,
// as do all when the exceptions' store is unavailable: a page of timings never fails for them.
import { BELATED_US } from '../process/belongs-to.ts'
import {
  type Asker,
  type ExceptionMoment,
  type ExceptionSource,
  type PlainTiming,
  type RunName,
  StoreError,
} from '../store/source.ts'
import { groupInTurns, mapInTurns } from '../turns.ts'

export const GRACE_NS = BigInt(BELATED_US) * 1000n

/** A run, for the events that belong to it. */
export interface CountedRun extends RunName {
  readonly startNs: bigint
  readonly endNs: bigint
  /** The start is not known: only events with the run's uid belong to it. */
  readonly isBare?: boolean
}

export const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts)

interface ExceptionLimits {
  readonly each: number
  readonly all: number
}

const LIMITS: ExceptionLimits = { each: 10_000, all: 100_000 }

interface Subject {
  /** Ascending, by uid ('' = without). */
  readonly times: ReadonlyMap<string, readonly bigint[]>
  /** All exceptions after this time are known. */
  readonly knownAfterNs: bigint
}

/**
 * One number per timing; null for abandoned and orphan ones, failed ones without start and uid, and if unknown, as
 * while the store is away.
 */
export async function countExceptions(
  source: Pick<ExceptionSource, 'findMoments'>,
  { account, signal }: Asker,
  timings: readonly PlainTiming[],
  nowNs: bigint,
  limits: ExceptionLimits = LIMITS,
): Promise<(number | null)[]> {
  const asked = (await mapInTurns(timings, (timing) => toRun(timing, nowNs))).filter((run) => run !== undefined)
  if (asked.length === 0) return timings.map(() => null)
  const bySubject = await groupInTurns(asked, ({ process, meta }) => keyOf(process, meta))
  const subjects = [...bySubject.values()].map(([run]) => ({ process: run!.process, meta: run!.meta }))
  try {
    const [limitEach, limit] = [limits.each + 1, limits.all + 1]
    const moments = await source.findMoments({ account, signal, ...rangeOf(asked), subjects, limitEach, limit })
    return await (await createExceptionCount(moments, nowNs, limits)).countAll(timings)
  } catch (error) {
    if (error instanceof StoreError) return timings.map(() => null)
    throw error
  }
}

/** The counts of timings, from the newest `moments`. */
export async function createExceptionCount(moments: readonly ExceptionMoment[], nowNs: bigint, limits = LIMITS) {
  const known = await groupMoments(moments, limits)
  return {
    /** An upper bound: other runs with its uid are not known. */
    atMost(timing: PlainTiming): number | null {
      const run = toRun(timing, nowNs)
      return run === undefined ? null : countOf(run, known)
    },
    async countAll(timings: readonly PlainTiming[]): Promise<(number | null)[]> {
      const untilOf = await createUntil(timings)
      return mapInTurns(timings, (timing) => {
        const run = toRun(timing, nowNs)
        return run === undefined ? null : countOf(run, known, untilOf(run))
      })
    },
  }
}

/** Until when an event with the uid of one of these runs belongs to it: to the start of the next of them, if sooner. */
export async function createUntil(timings: readonly PlainTiming[]): Promise<(run: CountedRun) => bigint> {
  const byRun = await groupInTurns(timings, ({ process, meta, uid }) => keyOf(process, meta, uid))
  return ({ process, meta, uid, endNs }) => {
    let untilNs = endNs + GRACE_NS
    for (const { startedNs } of byRun.get(keyOf(process, meta, uid)) ?? [])
      if (startedNs !== undefined && startedNs > endNs && startedNs <= untilNs) untilNs = startedNs - 1n
    return untilNs
  }
}

/** The range in which an event may belong to one of the runs, of which there is at least one. */
export function rangeOf(runs: readonly CountedRun[]) {
  let { startNs: fromNs, endNs: lastNs } = runs[0]!
  for (const { startNs, endNs } of runs) {
    if (startNs < fromNs) fromNs = startNs
    if (endNs > lastNs) lastNs = endNs
  }
  return { fromNs, toNs: lastNs + GRACE_NS + 1n }
}

export function toRun(
  { process, meta, uid, state, startedNs, endedNs }: PlainTiming,
  nowNs: bigint,
): CountedRun | undefined {
  switch (state) {
    case 'completed':
      return { process, meta, uid, startNs: startedNs!, endNs: endedNs! }
    case 'failed':
      if (startedNs !== undefined) return { process, meta, uid, startNs: startedNs, endNs: endedNs! }
      return uid === ''
        ? undefined
        : { process, meta, uid, startNs: endedNs! - GRACE_NS, endNs: endedNs!, isBare: true }
    case 'running':
      return { process, meta, uid, startNs: startedNs!, endNs: nowNs }
    case 'abandoned':
    case 'orphan':
      return undefined
    default:
      return state satisfies never
  }
}

interface Known {
  readonly subjects: ReadonlyMap<string, Subject>
  /** Also holds for subjects without exceptions. */
  readonly knownAfterNs: bigint
}

/** `moments` come newest first. */
async function groupMoments(moments: readonly ExceptionMoment[], { each, all }: ExceptionLimits): Promise<Known> {
  const knownAfterNs = moments.length > all ? moments.at(-1)!.atNs : -1n
  const subjects = new Map<string, Subject>()
  for (const [key, same] of await groupInTurns(moments, ({ process, meta }) => keyOf(process, meta))) {
    const byUid = await groupInTurns(same, ({ uid }) => uid)
    const times = await mapInTurns([...byUid], ([uid, own]) => [uid, own.map(({ atNs }) => atNs).reverse()] as const)
    const cutNs = same.length > each ? same.at(-1)!.atNs : -1n
    subjects.set(key, { times: new Map(times), knownAfterNs: cutNs > knownAfterNs ? cutNs : knownAfterNs })
  }
  return { subjects, knownAfterNs }
}

function countOf(run: CountedRun, { subjects, knownAfterNs }: Known, untilNs = run.endNs + GRACE_NS): number | null {
  const { process, meta, uid, startNs, endNs, isBare = false } = run
  const subject = subjects.get(keyOf(process, meta))
  if (startNs <= (subject?.knownAfterNs ?? knownAfterNs)) return null
  const anonymous = isBare ? 0 : countWithin(subject?.times.get(''), startNs, endNs)
  return uid === '' ? anonymous : anonymous + countWithin(subject?.times.get(uid), startNs, untilNs)
}

/** How many of the ascending times lie in [fromNs, toNs]. */
function countWithin(times: readonly bigint[] | undefined, fromNs: bigint, toNs: bigint): number {
  if (times === undefined || toNs < fromNs) return 0
  return countUpTo(times, toNs) - countUpTo(times, fromNs - 1n)
}

function countUpTo(times: readonly bigint[], ns: bigint): number {
  let low = 0
  for (let high = times.length; low < high; ) {
    const middle = (low + high) >> 1
    if (times[middle]! <= ns) low = middle + 1
    else high = middle
  }
  return low
}
