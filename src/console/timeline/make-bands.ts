// The runs of a view → a band per process, those with trouble first: lanes of runs that are drawn one by one where there
// is room, otherwise bars of their numbers.
import type { SummaryRow } from '../../wire/timings.ts'
import { type Bin, binsOfRows, binsOfRuns, countRuns, countTroubles } from './count-bins.ts'
import { type Lane, layLanes } from './lay-runs.ts'
import { byNewest, isTrouble, type Run, type StateFilter } from './run.ts'
import { type Scale, toPx } from './scale.ts'

/** A run needs as much room; a bar is as wide. */
export const RUN_PX = 6
/** More lanes than this become bars; a single process may have more. */
const LANES_MAX = 6
const LANES_MAX_ALONE = 24
/** Stubs and diamonds need room although they have no duration. */
const POINT_PAD_PX = 18
const SHORT_PAD_PX = 2

export interface Band {
  readonly process: string
  readonly count: number
  readonly troubles: number
  /** Empty where bars are drawn. */
  readonly lanes: readonly Lane[]
  readonly bins: readonly Bin[]
}

export interface Loaded {
  /** A row per process. */
  readonly totals: readonly SummaryRow[]
  /** A row per interval of the processes whose runs are not loaded. */
  readonly series: readonly SummaryRow[]
  readonly stepMs: number
  /** Processes whose runs are not loaded. */
  readonly dense: ReadonlySet<string>
  readonly runs: readonly Run[]
}

export function makeBands(
  { totals, series, stepMs, dense, runs }: Loaded,
  state: StateFilter | undefined,
  scale: Scale,
): Band[] {
  const runsOf = Map.groupBy(runs, ({ process }) => process)
  const seriesOf = Map.groupBy(series, ({ process }) => process)
  const names = new Set([...totals.map(({ process }) => process), ...runsOf.keys()])
  const lanesMax = names.size === 1 ? LANES_MAX_ALONE : LANES_MAX
  const msPerPx = (scale.toMs - scale.fromMs) / scale.widthPx
  const padOf = ({ startMs, endMs }: Run) => (endMs > startMs ? SHORT_PAD_PX : POINT_PAD_PX) * msPerPx
  const bands = [...names].flatMap((process): Band[] => {
    const total = totals.find((row) => row.process === process)
    if (dense.has(process)) {
      const count = total === undefined ? 0 : countRuns(total, state)
      const troubles = total === undefined || (state !== undefined && state !== 'trouble') ? 0 : countTroubles(total)
      return [{ process, count, troubles, lanes: [], bins: binsOfRows(seriesOf.get(process) ?? [], stepMs, state) }]
    }
    const own = runsOf.get(process) ?? []
    if (own.length === 0) return []
    const common = { process, count: own.length, troubles: own.filter(isTrouble).length }
    const lanes = layLanes(own, padOf)
    const isFull = lanes.length > lanesMax || own.length > scale.widthPx / RUN_PX
    if (!isFull) return [{ ...common, lanes, bins: [] }]
    return [{ ...common, lanes: [], bins: binsOfRuns(own, scale.fromMs, RUN_PX * msPerPx) }]
  })
  const isQuiet = ({ troubles }: Band) => Number(troubles === 0)
  return bands.sort((a, b) => isQuiet(a) - isQuiet(b) || a.process.localeCompare(b.process))
}

/** How high each bar is, as a share of the band: a burst flattens nothing else. */
export function barHeights(bins: readonly Bin[]): number[] {
  const sorted = bins.map(({ runs }) => runs).sort((a, b) => a - b)
  const usual = sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 1
  const top = Math.max(1, Math.min(sorted.at(-1) ?? 1, 3 * usual))
  return bins.map(({ runs }) => Math.min(1, runs / top))
}

/** The bin at a position. */
export const binAt = ({ bins }: Band, scale: Scale, px: number): Bin | undefined =>
  bins.find((bin) => toPx(scale, bin.fromMs) <= px && px < toPx(scale, bin.toMs))

// Arrow keys: left and right move along the runs of a process, up and down to the nearest run in time of the adjacent
// process.
type StepKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

const KEYS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'] satisfies StepKey[]
export const isStepKey = (key: string): key is StepKey => KEYS.includes(key)

export function stepRun(bands: readonly Band[], from: Run, key: StepKey): Run {
  const drawn = bands.filter(({ lanes }) => lanes.length > 0)
  const oldestFirst = (band: Band | undefined) => band?.lanes.flat().sort((a, b) => byNewest(b, a)) ?? []
  const at = drawn.findIndex(({ process }) => process === from.process)
  const same = oldestFirst(drawn[at])
  const place = same.findIndex(({ id }) => id === from.id)
  switch (key) {
    case 'ArrowLeft':
      return same[Math.max(0, place - 1)] ?? from
    case 'ArrowRight':
      return same[Math.min(same.length - 1, place + 1)] ?? from
    case 'Home':
      return same[0] ?? from
    case 'End':
      return same.at(-1) ?? from
    case 'ArrowUp':
      return nearest(oldestFirst(drawn[at - 1]), from) ?? from
    case 'ArrowDown':
      return nearest(oldestFirst(drawn[at + 1]), from) ?? from
    default:
      return key satisfies never
  }
}

const nearest = (runs: readonly Run[], { startMs }: Run): Run | undefined =>
  runs.toSorted((a, b) => Math.abs(a.startMs - startMs) - Math.abs(b.startMs - startMs))[0]
