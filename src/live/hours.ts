// Rings over hours: counts of the newest 25, and whether an hour of the newest 40 days held a start.

const HOUR_US = 3_600e6
/** A day, and the hour that is not over. */
export const HOURS = 25

export interface Hours {
  /** `width` counts per hour. */
  readonly counts: Uint32Array
  readonly width: number
  /** The newest hour, since the epoch. */
  newest: number
}

export const createHours = (width: number): Hours => ({ counts: new Uint32Array(HOURS * width), width, newest: 0 })

/** Hours of longer ago do not count. */
export function countHour(hours: Hours, atUs: number, figure: number, by: number): void {
  const hour = Math.floor(atUs / HOUR_US)
  turnTo(hours, hour)
  if (hour <= hours.newest - HOURS) return
  const at = (hour % HOURS) * hours.width + figure
  hours.counts[at] = Math.max(0, hours.counts[at]! + by)
}

function turnTo(hours: Hours, hour: number): void {
  const { counts, width, newest } = hours
  if (hour <= newest) return
  for (let empty = Math.max(newest + 1, hour - HOURS + 1); empty <= hour; empty++) {
    const at = (empty % HOURS) * width
    counts.fill(0, at, at + width)
  }
  hours.newest = hour
}

/** The sum of the last 24 full hours and the one that is not over. */
export function sumHours(hours: Hours | undefined, figure: number, nowUs: number): number {
  if (hours === undefined) return 0
  const now = Math.floor(nowUs / HOUR_US)
  let sum = 0
  for (let hour = Math.max(now - HOURS + 1, hours.newest - HOURS + 1); hour <= Math.min(now, hours.newest); hour++)
    sum += hours.counts[(hour % HOURS) * hours.width + figure]!
  return sum
}

/** Returns the newest hour. */
export function setHour(bits: Uint32Array, newest: number, hour: number): number {
  const size = bits.length * 32
  const place = (h: number) => h % size
  for (let empty = Math.max(newest + 1, hour - size + 1); empty <= hour; empty++)
    bits[place(empty) >> 5]! &= ~(1 << (place(empty) & 31))
  if (hour > newest - size) bits[place(hour) >> 5]! |= 1 << (place(hour) & 31)
  return Math.max(newest, hour)
}

export function hoursHeld(bits: Uint32Array, newest: number): number[] {
  const size = bits.length * 32
  const held: number[] = []
  for (let hour = newest; hour > newest - size && hour >= 0; hour--)
    if (bits[(hour % size) >> 5]! & (1 << ((hour % size) & 31))) held.push(hour)
  return held
}
