// Joins metrics onto timings: the newest value of each name that a run sent, by the rule of count-exceptions.ts.
//
//   metric with a uid    belongs to the run of that process, meta and uid, up to 60 s after its end; of several such
//                        runs on the page to the one that had started last
//   metric without one   belongs to each run of its process and meta that is open then, unless it sent that name by uid
//
// Bounded: the newest 20,000 points of these names are read. Runs further back get null, like those that sent none.
import type { Asker, MetricPointRow, PlainTiming, PointSource } from '../store/source.ts'
import { groupInTurns, mapInTurns } from '../turns.ts'
import { MAX_PROCESSES } from '../wire/parameters.ts'
import { type CountedRun, createUntil, keyOf, rangeOf, toRun } from './count-exceptions.ts'

const POINTS_MAX = 20_000

export type RunMetrics = Readonly<Record<string, number | null>>

/** One object per timing, which has every name. `given` undefined: every name that was sent near the runs. */
export async function findRunMetrics(
  points: Pick<PointSource, 'findMetrics'>,
  asker: Asker,
  timings: readonly PlainTiming[],
  given: readonly string[] | undefined,
  nowNs: bigint,
  limit = POINTS_MAX,
): Promise<RunMetrics[]> {
  const runs = await mapInTurns(timings, (timing) => toRun(timing, nowNs))
  const asked = runs.filter((run) => run !== undefined)
  const newest = asked.length === 0 ? [] : await readPoints(points, asker, asked, given, limit)
  const names = given ?? [...new Set(newest.map(({ name }) => name))]
  const knownAfterNs = newest.length > limit ? newest.at(-1)!.atNs : -1n
  const series = await groupInTurns(newest, ({ process, meta, name, uid }) => keyOf(process, meta, name, uid))
  const untilOf = await createUntil(timings)
  const valuesOf = (run: CountedRun | undefined) =>
    Object.fromEntries(names.map((name) => [name, run ? newestOf(run, name) : null]))
  return mapInTurns(runs, valuesOf, () => 8 * names.length)

  function newestOf(run: CountedRun, name: string): number | null {
    const { process, meta, uid, startNs, endNs } = run
    const newest = (of: string, untilNs: bigint) =>
      newestWithin(series.get(keyOf(process, meta, name, of)), startNs, untilNs)
    const own = uid === '' ? undefined : newest(uid, untilOf(run))
    if (own !== undefined || run.isBare === true || startNs <= knownAfterNs) return own?.value ?? null
    return newest('', endNs)?.value ?? null
  }
}

function readPoints(
  points: Pick<PointSource, 'findMetrics'>,
  asker: Asker,
  runs: readonly CountedRun[],
  name: readonly string[] | undefined,
  limit: number,
): Promise<MetricPointRow[]> {
  const [processes, metas] = [new Set(runs.map(({ process }) => process)), new Set(runs.map(({ meta }) => meta))]
  const [meta] = metas
  return points.findMetrics(
    {
      ...asker,
      ...rangeOf(runs),
      ...(processes.size <= MAX_PROCESSES && { process: [...processes] }),
      ...(metas.size === 1 && { meta: meta! }),
      name,
    },
    { limit: limit + 1 },
  )
}

/** The first of the points, which come newest first, within [fromNs, toNs]. */
function newestWithin(points: readonly MetricPointRow[] | undefined, fromNs: bigint, toNs: bigint) {
  if (points === undefined) return undefined
  let low = 0
  for (let high = points.length; low < high; ) {
    const middle = (low + high) >> 1
    if (points[middle]!.atNs > toNs) low = middle + 1
    else high = middle
  }
  const found = points[low]
  return found !== undefined && found.atNs >= fromNs ? found : undefined
}
