// The runs of a view → a band per process, those with trouble first: lanes of runs that are drawn one by one where
// there is room, otherwise bars of their numbers.
import type { SummaryRow } from '../../wire/timings.ts'
import { type Scale, toPx } from '../kit/scale.ts'
import { type Bin, binsOfRows, binsOfRuns, countRuns, countTroubles } from './count-bins.ts'
import { type Lane, layLanes } from './lay-runs.ts'
import { byNewest, isTrouble, type Run, type StateFilter } from './run.ts'

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
  /** A row per process, drawn or not. */
  readonly totals: readonly SummaryRow[]
  readonly drawn: ReadonlySet<string>
  /** How many processes are not drawn. */
  readonly folded: { readonly quiet: number; readonly troubled: number }
  /** A row per interval of the processes whose runs are not loaded. */
  readonly series: readonly SummaryRow[]
  readonly stepMs: number
  /** Processes whose runs are not loaded. */
  readonly dense: ReadonlySet<string>
  readonly runs: readonly Run[]
}

export function makeBands(
  { totals, drawn, series, stepMs, dense, runs }: Loaded,
  state: StateFilter | undefined,
  scale: Scale,
): Band[] {
  const runsOf = Map.groupBy(runs, ({ process }) => process)
  const seriesOf = Map.groupBy(series, ({ process }) => process)
  const names = new Set([...drawn, ...runsOf.keys()])
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
    return [{ ...common, lanes: [], bins: binsOfRuns(own, scale, RUN_PX * msPerPx) }]
  })
  const isQuiet = ({ troubles }: Band) => Number(troubles === 0)
  return bands.sort((a, b) => isQuiet(a) - isQuiet(b) || a.process.localeCompare(b.process))
}

/** How high each bar is, as a share of the band: a burst flattens nothing else. */
export function barHeights(bins: readonly Bin[]): number[] {
  const sorted = bins.map(({ height }) => height).sort((a, b) => a - b)
  const usual = sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 1
  const top = Math.max(1, Math.min(sorted.at(-1) ?? 1, 3 * usual))
  return bins.map(({ height }) => Math.min(1, height / top))
}

/** The bin at a position. */
export const binAt = ({ bins }: Band, scale: Scale, px: number): Bin | undefined =>
  bins.find((bin) => toPx(scale, bin.fromMs) <= px && px < toPx(scale, bin.toMs))

/** Where the focus is: on a run, or on the name of a process. */
export interface Stop {
  readonly process: string
  readonly run?: Run | undefined
}

// Arrow keys: left and right move along the name and the runs of a process, up and down to the name or the nearest run
// in time of the adjacent process.
type StepKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

const KEYS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'] satisfies StepKey[]
export const isStepKey = (key: string): key is StepKey => KEYS.includes(key)

export function moveStop(bands: readonly Band[], from: Stop, key: StepKey): Stop {
  const { process, run } = from
  const oldestFirst = ({ lanes }: Band) => lanes.flat().sort((a, b) => byNewest(b, a))
  const at = bands.findIndex((band) => band.process === process)
  const row = bands[at] === undefined ? [undefined] : [undefined, ...oldestFirst(bands[at])]
  const place = row.findIndex((it) => it?.id === run?.id)
  const toPlace = (to: number): Stop => ({ process, run: row.at(Math.max(0, Math.min(row.length - 1, to))) })
  const toBand = (band: Band | undefined): Stop =>
    band === undefined ? from : { process: band.process, run: run && nearest(oldestFirst(band), run) }
  switch (key) {
    case 'ArrowLeft':
      return toPlace(place - 1)
    case 'ArrowRight':
      return toPlace(place + 1)
    case 'Home':
      return toPlace(0)
    case 'End':
      return toPlace(row.length - 1)
    case 'ArrowUp':
      return toBand(at > 0 ? bands[at - 1] : undefined)
    case 'ArrowDown':
      return toBand(bands[at + 1])
    default:
      return key satisfies never
  }
}

const nearest = (runs: readonly Run[], { startMs }: Run): Run | undefined =>
  runs.toSorted((a, b) => Math.abs(a.startMs - startMs) - Math.abs(b.startMs - startMs))[0]
