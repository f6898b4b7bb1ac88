// Positions of bands, lanes and times on the timeline, and the run at a point. In CSS pixels, from the top left of all
// lanes.
//
//   gutter │ lanes                      Names are in a gutter at the left, or above their lanes on a narrow screen.
//   name 3 │ ▬▬  ▬▬▬   ▬▬               A process with many concurrent runs is one density strip instead of lanes.
import { zoneOffsetMs } from '../kit/format-time.ts'
import type { Band, Lane } from './lay-runs.ts'
import { byNewest, type Run } from './run.ts'

export const AXIS_PX = 26
/** Width of the gutter; the value axis of the charts below has the same width. */
export const GUTTER_PX = 168
const NARROW_PX = 640
const HEADER_PX = 24
const BAND_PX = 26
const STRIP_PX = 40
const GAP_PX = 6
const TOUCH_PX = 4
/** More lanes than this collapse into a density strip; a single process may have more. */
const LANES_MAX = 6
const LANES_MAX_ALONE = 24

export const gutterPxFor = (widthPx: number): number => (widthPx < NARROW_PX ? 0 : GUTTER_PX)

export interface PlacedBand extends Band {
  readonly topPx: number
  readonly lanesPx: number
  readonly bottomPx: number
  readonly isStrip: boolean
}

export interface Layout {
  readonly bands: readonly PlacedBand[]
  readonly gutterPx: number
  readonly lanePx: number
  readonly heightPx: number
}

/** Lanes get flatter as their number grows. */
export function placeBands(bands: readonly Band[], gutterPx = 0): Layout {
  const lanesMax = bands.length === 1 ? LANES_MAX_ALONE : LANES_MAX
  const lanes = bands.reduce((sum, band) => sum + (band.lanes.length > lanesMax ? 2 : band.lanes.length), 0)
  const lanePx = lanes <= 40 ? 20 : lanes <= 120 ? 14 : 9
  let topPx = AXIS_PX
  const placed = bands.map((band): PlacedBand => {
    const isStrip = band.lanes.length > lanesMax
    const lanesPx = topPx + (gutterPx === 0 ? HEADER_PX : GAP_PX / 2)
    const filledPx = isStrip ? STRIP_PX : Math.max(1, band.lanes.length) * lanePx
    const bottomPx = lanesPx + (gutterPx === 0 ? filledPx : Math.max(filledPx, BAND_PX - GAP_PX))
    const at = { ...band, topPx, lanesPx, bottomPx, isStrip }
    topPx = bottomPx + GAP_PX
    return at
  })
  return { bands: placed, gutterPx, lanePx, heightPx: topPx + GAP_PX }
}

/** Converts times to positions and back; the range spans `leftPx` to `widthPx`. */
export interface Scale {
  readonly fromMs: number
  readonly toMs: number
  readonly leftPx: number
  readonly widthPx: number
}

export const toPx = ({ fromMs, toMs, leftPx, widthPx }: Scale, ms: number): number =>
  leftPx + ((ms - fromMs) / (toMs - fromMs)) * (widthPx - leftPx)
export const toMs = ({ fromMs, toMs, leftPx, widthPx }: Scale, px: number): number =>
  fromMs + ((px - leftPx) / (widthPx - leftPx)) * (toMs - fromMs)

/** The index of the lane's first run that ends at or after `ms`; all before it are out of view. */
export function firstVisible(lane: Lane, ms: number): number {
  let low = 0
  let high = lane.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (lane[middle]!.endMs < ms) low = middle + 1
    else high = middle
  }
  return low
}

export const findBandAt = ({ bands }: Layout, yPx: number): PlacedBand | undefined =>
  bands.find(({ topPx, bottomPx }) => yPx >= topPx && yPx < bottomPx)

/** The run at a point or within `TOUCH_PX` of it; in a density strip only a run with trouble. */
export function findRunAt(layout: Layout, scale: Scale, xPx: number, yPx: number): Run | undefined {
  if (xPx < scale.leftPx) return undefined
  const band = layout.bands.find(({ lanesPx, bottomPx }) => yPx >= lanesPx && yPx < bottomPx)
  if (band === undefined) return undefined
  const lane = band.isStrip ? band.troubles : band.lanes[Math.floor((yPx - band.lanesPx) / layout.lanePx)]
  if (lane === undefined) return undefined
  if (band.isStrip) return lane.find((run) => Math.abs(toPx(scale, run.startMs) - xPx) <= TOUCH_PX)
  const run = lane[firstVisible(lane, toMs(scale, xPx - TOUCH_PX))]
  return run !== undefined && toPx(scale, run.startMs) - TOUCH_PX <= xPx ? run : undefined
}

const TICKS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 10800e3, 21600e3, 43200e3, 86400e3, 172800e3, 604800e3,
]

export interface Ticks {
  readonly stepMs: number
  readonly atMs: readonly number[]
}

/** Round times in the chosen zone, far enough apart for their labels. */
export function placeTicks({ fromMs, toMs, leftPx, widthPx }: Scale, apartPx: number): Ticks {
  const least = ((toMs - fromMs) / Math.max(1, widthPx - leftPx)) * apartPx
  const stepMs = TICKS_MS.find((step) => step >= least) ?? Math.ceil(least / 604800e3) * 604800e3
  const offsetMs = zoneOffsetMs(fromMs)
  const atMs: number[] = []
  for (let at = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs - offsetMs; at < toMs; at += stepMs) atMs.push(at)
  return { stepMs, atMs }
}

// Arrow keys: left and right move along the runs of a process, up and down to the nearest run in time of the adjacent
// process.
export type StepKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

const KEYS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'] satisfies StepKey[]
export const isStepKey = (key: string): key is StepKey => KEYS.includes(key)

/** Without a current run, any key selects the newest run of the first process; undefined if there are no runs. */
export function stepRun({ bands }: Layout, from: Run | undefined, key: StepKey): Run | undefined {
  const at = bands.findIndex(({ process }) => process === from?.process)
  const oldestFirst = (band: number) => bands[band]?.lanes.flat().toSorted((a, b) => byNewest(b, a)) ?? []
  if (from === undefined || at < 0) return oldestFirst(0).at(-1)
  const same = oldestFirst(at)
  const place = same.findIndex(({ id }) => id === from.id)
  switch (key) {
    case 'ArrowLeft':
      return same[Math.max(0, place - 1)]
    case 'ArrowRight':
      return same[Math.min(same.length - 1, place + 1)]
    case 'Home':
      return same[0]
    case 'End':
      return same.at(-1)
    case 'ArrowUp':
      return nearest(oldestFirst(at - 1), from) ?? from
    case 'ArrowDown':
      return nearest(oldestFirst(at + 1), from) ?? from
    default:
      return key satisfies never
  }
}

const nearest = (runs: readonly Run[], { startMs }: Run): Run | undefined =>
  runs.toSorted((a, b) => Math.abs(a.startMs - startMs) - Math.abs(b.startMs - startMs))[0]

// Exceptions → ticks on the lanes of their runs, matched by uid if one was sent, otherwise by process, meta and time.
// An exception that matches no run is shown at the top of its process.
export interface ExceptionMark {
  readonly atMs: number
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
}

export interface Tick {
  readonly atMs: number
  /** From the top of all lanes. */
  readonly topPx: number
  readonly heightPx: number
}

/** Requests overtake each other: an exception with a uid may follow its run's end by this much. */
export const LATE_MS = 60_000

/** Whether an exception belongs to a run, and not to a later one of `runs`, which has the same uid. */
export function belongsTo({ atMs, process, meta, uid }: ExceptionMark, run: Run, runs: readonly Run[]): boolean {
  const isSame = (it: Run) => it.process === process && it.meta === meta && (uid === null || it.uid === uid)
  if (!isSame(run) || atMs < run.startMs) return false
  if (atMs <= run.endMs || uid === null) return atMs <= run.endMs
  return atMs <= run.endMs + LATE_MS && !runs.some((it) => isSame(it) && it.startMs > run.startMs && it.startMs <= atMs)
}

export function placeExceptions({ bands, lanePx }: Layout, exceptions: readonly ExceptionMark[]): Tick[] {
  const byProcess = Map.groupBy(exceptions, ({ process }) => process)
  return bands.flatMap(({ process, lanes, lanesPx, bottomPx, isStrip }) => {
    const all = lanes.flat()
    return (byProcess.get(process) ?? []).map((exception) => {
      const { atMs } = exception
      if (isStrip) return { atMs, topPx: lanesPx, heightPx: bottomPx - lanesPx }
      const lane = lanes.findIndex((runs) => runs.some((run) => belongsTo(exception, run, all)))
      return { atMs, topPx: lanesPx + Math.max(0, lane) * lanePx, heightPx: lanePx }
    })
  })
}
