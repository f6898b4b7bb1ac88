// What a caller sends with a uid up to 60 s after a run's end still belongs to that run, unless another run with the
// same process, meta and uid has started in between: a worker may use one uid for all its runs.
//
// Bounded: the newest 20 stretches with such events are read, 20,000 marks of each. Further back all of them belong.
import { BELATED_US } from '../process/belongs-to.ts'
import { compare } from '../store/order.ts'
import type { Asker, PlainTiming, PointSource } from '../store/source.ts'
import { MAX_PROCESSES } from '../wire/parameters.ts'

export const GRACE_NS = BigInt(BELATED_US) * 1000n
const STRETCHES_MAX = 20
const MARKS_MAX = 20_000

export interface Run extends Pick<PlainTiming, 'process' | 'meta' | 'uid'> {
  readonly startNs: bigint
  readonly endNs: bigint
  /** Its start is not known: only events with its uid are its own. */
  readonly isBare?: boolean
}

interface LateRun extends Run {
  /** The newest event with its uid in the 60 s after its end. */
  readonly lastNs: bigint
}

export const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts)

/**
 * Until when an event with the uid of one of these runs belongs to it. `lastOf`: the newest such event, or an earlier
 * one; only for runs with one after their end a store is asked.
 */
export async function findLastMoments(
  points: Pick<PointSource, 'findMarks'>,
  { account, signal, isShort = false }: Asker,
  runs: readonly Run[],
  lastOf: (run: Run) => bigint | undefined,
): Promise<(run: Run) => bigint> {
  const late = runs.flatMap((run): LateRun[] => {
    const lastNs = lastOf(run)
    return lastNs !== undefined && lastNs > run.endNs ? [{ ...run, lastNs }] : []
  })
  const stretches = mergeStretches(late).slice(0, STRETCHES_MAX)
  const processes = [...new Set(late.map(({ process }) => process))]
  const marks = await Promise.all(
    stretches.map(({ fromNs, toNs }) =>
      points.findMarks({
        ...{ account, signal, isShort, fromNs, toNs, maxRows: MARKS_MAX },
        ...(processes.length <= MAX_PROCESSES && { process: processes }),
      }),
    ),
  )
  const starts = marks.flat().filter(({ mark }) => mark === 'start')
  const byRun = Map.groupBy(starts, ({ process, meta, uid }) => keyOf(process, meta, uid))
  return ({ process, meta, uid, endNs }) => {
    const later = (byRun.get(keyOf(process, meta, uid)) ?? []).map(({ ns }) => ns).filter((ns) => ns > endNs)
    const next = later.toSorted(compare)[0]
    return next === undefined ? endNs + GRACE_NS : next - 1n
  }
}

/** [fromNs, toNs) from the ends of runs to their newest events; newest first. */
function mergeStretches(runs: readonly LateRun[]): { fromNs: bigint; toNs: bigint }[] {
  const merged: { fromNs: bigint; toNs: bigint }[] = []
  for (const { endNs, lastNs } of runs.toSorted((a, b) => compare(b.lastNs, a.lastNs))) {
    const newer = merged.at(-1)
    if (newer === undefined || lastNs < newer.fromNs) merged.push({ fromNs: endNs, toNs: lastNs + 1n })
    else if (endNs < newer.fromNs) newer.fromNs = endNs
  }
  return merged
}
