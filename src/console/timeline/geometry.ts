// Where bands, lanes and moments are on the picture, and what is under a point of it. In CSS pixels, from the top left of all lanes.
import type { Band, Lane } from './lay-runs.ts'
import type { Run } from './run.ts'

export const AXIS_PX = 26
const HEADER_PX = 24
const GAP_PX = 8
export const TOUCH_PX = 4

export interface PlacedBand extends Band {
  readonly topPx: number
  readonly lanesPx: number
  readonly bottomPx: number
}

export interface Layout {
  readonly bands: readonly PlacedBand[]
  readonly lanePx: number
  readonly heightPx: number
}

/** The more lanes there are, the flatter they get. */
export function placeBands(bands: readonly Band[]): Layout {
  const lanes = bands.reduce((sum, band) => sum + band.lanes.length, 0)
  const lanePx = lanes <= 30 ? 20 : lanes <= 100 ? 14 : lanes <= 400 ? 9 : 6
  let topPx = AXIS_PX
  const placed = bands.map((band): PlacedBand => {
    const lanesPx = topPx + HEADER_PX
    const bottomPx = lanesPx + band.lanes.length * lanePx
    const at = { ...band, topPx, lanesPx, bottomPx }
    topPx = bottomPx + GAP_PX
    return at
  })
  return { bands: placed, lanePx, heightPx: topPx + GAP_PX }
}

/** Moments ↔ places across. */
export interface Scale {
  readonly fromMs: number
  readonly toMs: number
  readonly widthPx: number
}

export const toPx = ({ fromMs, toMs, widthPx }: Scale, ms: number): number =>
  ((ms - fromMs) / (toMs - fromMs)) * widthPx
export const toMs = ({ fromMs, toMs, widthPx }: Scale, px: number): number => fromMs + (px / widthPx) * (toMs - fromMs)

/** The first run of a lane that ends at or after a moment: everything before it is out of sight. */
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

/** The run at a point, or the nearest within a finger's breadth. */
export function findRunAt(layout: Layout, scale: Scale, xPx: number, yPx: number): Run | undefined {
  const band = layout.bands.find(({ lanesPx, bottomPx }) => yPx >= lanesPx && yPx < bottomPx)
  const lane = band?.lanes[Math.floor((yPx - band.lanesPx) / layout.lanePx)]
  if (lane === undefined) return undefined
  const first = firstVisible(lane, toMs(scale, xPx - TOUCH_PX))
  const run = lane[first]
  const reachPx = (candidate: Run) => toPx(scale, candidate.startMs) - TOUCH_PX
  return run !== undefined && reachPx(run) <= xPx ? run : undefined
}

const TICKS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 10800e3, 21600e3, 43200e3, 86400e3, 172800e3, 604800e3,
]

export interface Ticks {
  readonly stepMs: number
  readonly atMs: readonly number[]
}

/** Round moments of local time, far enough apart for their labels. */
export function placeTicks({ fromMs, toMs, widthPx }: Scale, apartPx: number): Ticks {
  const least = ((toMs - fromMs) / widthPx) * apartPx
  const stepMs = TICKS_MS.find((step) => step >= least) ?? Math.ceil(least / 604800e3) * 604800e3
  const offsetMs = new Date(fromMs).getTimezoneOffset() * 60e3
  const atMs: number[] = []
  for (let at = Math.ceil((fromMs - offsetMs) / stepMs) * stepMs + offsetMs; at < toMs; at += stepMs) atMs.push(at)
  return { stepMs, atMs }
}
