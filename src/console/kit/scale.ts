// Times and positions of a picture over time, and where its ticks are.
import { formatClock, formatDay, formatShortClock, zoneOffsetMs } from './format-time.ts'

export interface Scale {
  readonly fromMs: number
  readonly toMs: number
  readonly widthPx: number
}

export const toPx = ({ fromMs, toMs, widthPx }: Scale, ms: number): number =>
  ((ms - fromMs) / (toMs - fromMs)) * widthPx
export const toMs = ({ fromMs, toMs, widthPx }: Scale, px: number): number => fromMs + (px / widthPx) * (toMs - fromMs)

/** Within the picture. */
export const clampPx = (scale: Scale, ms: number): number => Math.max(0, Math.min(scale.widthPx, toPx(scale, ms)))

const TICKS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 10800e3, 21600e3, 43200e3, 86400e3, 172800e3, 604800e3,
]

interface Ticks {
  readonly stepMs: number
  readonly atMs: readonly number[]
}

const APART_PX = 90
const NARROW_PX = 500
const NARROW_APART_PX = 60

/** Round times in the browser's zone, far enough apart for their labels. */
export function placeTicks({ fromMs, toMs, widthPx }: Scale): Ticks {
  const apartPx = widthPx < NARROW_PX ? NARROW_APART_PX : APART_PX
  const least = ((toMs - fromMs) / Math.max(1, widthPx)) * apartPx
  const stepMs = TICKS_MS.find((step) => step >= least) ?? Math.ceil(least / 604800e3) * 604800e3
  const offsetMs = zoneOffsetMs(fromMs)
  const atMs: number[] = []
  for (let at = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs - offsetMs; at < toMs; at += stepMs) atMs.push(at)
  return { stepMs, atMs }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** In the detail that the distance of the ticks needs. */
export function labelOf(ms: number, stepMs: number): string {
  const isMidnight = (ms + zoneOffsetMs(ms)) % DAY_MS < HOUR_MS
  if (stepMs >= DAY_MS || (stepMs >= HOUR_MS && isMidnight)) return formatDay(ms)
  if (stepMs >= 60e3) return formatShortClock(ms)
  return stepMs >= 1000 ? formatClock(ms) : `${formatClock(ms)}.${String(Math.round(ms % 1000)).padStart(3, '0')}`
}
