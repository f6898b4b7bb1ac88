// Look-ups in the stores about one run, and the last good one before it, by process and meta.
import { findRun } from '../process/belongs-to.ts'
import { byDifference } from '../process/by-difference.ts'
import { compare, comparePlaces } from '../store/order.ts'
import type {
  Asker,
  ExceptionRow,
  ExceptionSource,
  PlainTiming,
  PointSource,
  RunName,
  TimingRow,
} from '../store/source.ts'
import type { AlertDetail } from '../wire/alert-detail.ts'
import { countExceptions, GRACE_NS, toRun } from './count-exceptions.ts'
import { findRunMetrics } from './run-metrics.ts'

const HOUR_NS = 3_600_000_000_000n
/** How far back a run is looked for, step by step: a nightly job has few marks in two days, a busy one in an hour. */
const STEPS_NS = [1n, 48n, 336n, 2160n].map((hours) => hours * HOUR_NS)
/** Runs that are looked at for a good one in each step. */
const GOOD_AMONG = 200
const OUTPUTS_MAX = 20
/** As many characters as are compared. */
const OUTPUT_MAX = 12_000
export const EXCEPTIONS_MAX = 20

export interface RunPartsDeps {
  readonly points: PointSource
  readonly exceptions: ExceptionSource
  readonly maxRunNs: bigint
}

interface Moments {
  /** The end of what runs. */
  readonly nowNs: bigint
  /** The start that followed a run that never finished. */
  readonly followedNs?: bigint
}

/** All throw StoreError. */
export function createRunParts(
  { points, exceptions, maxRunNs }: RunPartsDeps,
  asker: Asker,
  { nowNs, followedNs }: Moments,
) {
  const common = { ...asker, maxRunNs, nowNs }
  /** Without a uid an event after the start of a run that never finished may be another run's. */
  const lastNs = ({ uid, startedNs = 0n }: PlainTiming) =>
    followedNs !== undefined ? followedNs - 1n : uid === '' ? startedNs : startedNs + maxRunNs
  const spanOf = (run: PlainTiming) => ({
    fromNs: run.startedNs ?? run.endedNs! - GRACE_NS,
    toNs: run.endedNs ?? (run.state === 'running' ? nowNs : lastNs(run)),
  })

  /** Up to `limit` of those that `find` returns, newest first: each step reads further back from `toNs`. */
  async function findBack(
    { process, meta }: { readonly process: string; readonly meta: string | undefined },
    toNs: bigint,
    limit: number,
    find: (range: { fromNs: bigint; toNs: bigint; process: string; meta: string | undefined }) => Promise<TimingRow[]>,
  ): Promise<TimingRow[]> {
    let found: TimingRow[] = []
    for (const stepNs of STEPS_NS) {
      found = await find({ process, meta, fromNs: toNs > stepNs ? toNs - stepNs : 0n, toNs })
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  return {
    /** The run with this start. */
    async byStart(name: RunName, startedNs: bigint): Promise<PlainTiming | undefined> {
      const range = { fromNs: startedNs, toNs: startedNs + 1000n }
      const found = await points.findTimings({ ...common, ...name, ...range }, { limit: 5 })
      return found.find((run) => run.startedNs === startedNs)
    },
    /** The failed end without a start at this time. */
    async byEnd(name: Omit<RunName, 'uid'> & { readonly uid?: string }, endedNs: bigint) {
      const range = { fromNs: endedNs, toNs: endedNs + 1000n }
      const found = await points.findTimings({ ...common, ...name, ...range, states: ['failed'] }, { limit: 5 })
      return found.find((run) => run.endedNs === endedNs)
    },
    /** The run that an exception of this time belongs to. */
    async byException({ process, meta }: Omit<RunName, 'uid'>, uid: string | null, atNs: bigint) {
      const range = { fromNs: atNs > GRACE_NS ? atNs - GRACE_NS : 0n, toNs: atNs + 1000n }
      const name = { process, meta, ...(uid !== null && { uid }) }
      const found = await points.findTimings({ ...common, ...name, ...range }, { limit: EXCEPTIONS_MAX })
      const spans = found.flatMap((run) => {
        const known = toRun(run, nowNs)
        const us = (ns: bigint) => Number(ns / 1000n)
        if (known === undefined || run.startedNs === undefined) return []
        return [{ run, uid: run.uid === '' ? null : run.uid, startUs: us(known.startNs), endUs: us(known.endNs) }]
      })
      return findRun({ atUs: Number(atNs / 1000n), uid }, spans)?.run
    },
    /** The newest that completed before `beforeNs`; one without an exception if it is among the newest 200. */
    async good(
      { process, meta }: Omit<RunName, 'uid'>,
      beforeNs: bigint,
      trouble: Pick<ExceptionSource, 'findMoments'>,
    ) {
      const [good] = await findBack({ process, meta }, beforeNs, 1, async (range) => {
        const found = await points.findTimings({ ...common, ...range, states: ['completed'] }, { limit: GOOD_AMONG })
        const over = found.filter(({ endedNs }) => endedNs! <= beforeNs)
        const counts = await countExceptions(trouble, asker, over, nowNs)
        const good = over.find((_, i) => counts[i] === 0 || counts[i] === null) ?? over[0]
        return good === undefined ? [] : [good]
      })
      return good
    },
    /** The newest starts before `beforeNs`, oldest first. */
    async starts(process: string, meta: string | undefined, beforeNs: bigint, limit: number): Promise<bigint[]> {
      const found = await findBack({ process, meta }, beforeNs, limit, async (range) => {
        const timings = await points.findTimings({ ...common, ...range }, { limit: limit + GOOD_AMONG })
        return timings.filter(({ startedNs }) => startedNs !== undefined && startedNs < beforeNs)
      })
      return found.map(({ startedNs }) => startedNs!).toSorted(compare)
    },
    metrics: async (run: PlainTiming) => (await findRunMetrics(points, asker, [run], undefined, nowNs))[0]!,
    /** The run's outputs, oldest first; null without any. */
    async output(run: PlainTiming): Promise<string | null> {
      const { fromNs, toNs } = spanOf(run)
      const { process, meta, uid } = run
      const q = { ...asker, process, meta, uid, fromNs: run.startedNs ?? run.endedNs!, toNs: toNs + 1n }
      const found = fromNs > toNs ? [] : await exceptions.findTexts('output', q, { limit: OUTPUTS_MAX })
      return found.length === 0
        ? null
        : found
            .toReversed()
            .map(({ text }) => text)
            .join('\n')
            .slice(-OUTPUT_MAX)
    },
    /** Newest first: those with its uid, up to 60 s after its end, and those without any while it is open. */
    async exceptions(run: PlainTiming): Promise<ExceptionRow[]> {
      const { process, meta, uid, startedNs } = run
      const { fromNs, toNs } = spanOf(run)
      const q = { ...asker, process, meta }
      const limit = { limit: EXCEPTIONS_MAX }
      const [others, own] = await Promise.all([
        startedNs === undefined
          ? []
          : exceptions.findExceptions({ ...q, uid: '', fromNs: startedNs, toNs: toNs + 1n }, limit),
        uid === '' ? [] : exceptions.findExceptions({ ...q, uid, fromNs, toNs: toNs + GRACE_NS + 1n }, limit),
      ])
      return newestOf([...others, ...own])
    },
    /** Exceptions of exactly this time. */
    exceptionsAt: ({ process, meta }: Omit<RunName, 'uid'>, atNs: bigint) =>
      exceptions.findExceptions(
        { ...asker, process, meta, fromNs: atNs, toNs: atNs + 1000n },
        { limit: EXCEPTIONS_MAX },
      ),
    /** Runs of all processes that touch the range, the newest `limit`; also as many that did not end well. */
    async around(fromNs: bigint, toNs: bigint, limit: number): Promise<TimingRow[]> {
      const q = { ...common, fromNs, toNs }
      const found = await points.findTimings(q, { limit })
      if (found.length < limit) return found
      return [...found, ...(await points.findTimings({ ...q, states: ['failed', 'abandoned'] }, { limit }))]
    },
  }
}

const newestOf = (rows: readonly ExceptionRow[]): ExceptionRow[] =>
  rows.toSorted((a, b) => comparePlaces(a.place, b.place)).slice(0, EXCEPTIONS_MAX)

type Values = Readonly<Record<string, number | null>>

/** The metrics of both runs, the greatest difference first. */
export function compareMetrics(values: Values, good: Values): AlertDetail['metrics'] {
  const names = [...new Set([...Object.keys(values), ...Object.keys(good)])]
  return names
    .map((name) => ({ name, value: values[name] ?? null, good_value: good[name] ?? null }))
    .toSorted(byDifference)
}
