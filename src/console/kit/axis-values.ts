// The range of an axis of values, and round numbers on it.

/** An outlier beyond so many times the distance that holds most values is cut: the rest would be a flat line. */
const CUT_AT = 4
const MARGIN = 0.08

/**
 * Lowest and highest value on the axis, with some room. It begins at zero if it must, and if zero is near: between 20
 * and 30 there is more to see without it.
 */
export function valueRange(values: readonly number[], beginsAtZero = false): [number, number] {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  const least = sorted[0] ?? 0
  const most = cutOutliers(sorted)
  const isNearZero = beginsAtZero || (least >= 0 && least < most / 2)
  const room = MARGIN * most - MARGIN * (isNearZero ? 0 : least)
  const low = isNearZero ? Math.min(0, least) : least - room
  const high = most + room
  if (low < high) return [low, high]
  if (low === 0) return [0, 1]
  const around = [low - Math.abs(low) * MARGIN, high + Math.abs(high) * MARGIN] as const
  // the least numbers have nothing between them
  return around[0] < around[1] ? [...around] : [Math.min(0, 2 * low), Math.max(0, 2 * low)]
}

function cutOutliers(sorted: readonly number[]): number {
  const [least, most] = [sorted[0] ?? 0, sorted.at(-1) ?? 0]
  const usual = sorted[Math.floor(0.95 * (sorted.length - 1))] ?? 0
  return usual > least && most - least > CUT_AT * (usual - least) ? least + CUT_AT * (usual - least) : most
}

const TICKS_MAX = 4

/** At most five round numbers within the range; whole ones for counts that are small. */
export function linearTicks(low: number, high: number): number[] {
  const rough = (high - low) / TICKS_MAX
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999) ?? rough
  return ticksBy(step, low, high)
}

export const countTicks = (_: number, high: number): number[] =>
  high < TICKS_MAX ? ticksBy(1, 0, high) : linearTicks(0, high)

function ticksBy(step: number, low: number, high: number): number[] {
  if (!(step > 0) || !Number.isFinite(step)) return []
  const first = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - first + 1
  return Array.from({ length: Math.max(0, Math.min(20, count)) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

const S = 1_000
const M = 60_000
const H = 3_600_000
const D = 86_400_000
const DECADES = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const STEPS_MS = [
  ...DECADES.map((n) => n / 1000),
  ...DECADES,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * S),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * M),
  ...[1, 2, 3, 6, 12].map((n) => n * H),
  ...[1, 2, 5, 10, 30].map((n) => n * D),
]

/** From 0 on, at most `TICKS_MAX` steps; `topMs` is the greatest value. */
export function durationTicks(topMs: number): number[] {
  const step = STEPS_MS.find((ms) => topMs / ms <= TICKS_MAX) ?? topMs
  return Array.from({ length: Math.floor(topMs / step) + 1 }, (_, i) => i * step)
}
