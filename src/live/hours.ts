// Counts of the newest 25 hours, and whether an hour of the newest 40 days held a start.

export const HOUR_US = 3_600e6
/** A day, and the hour that is not over yet. */
export const HOURS = 25

/** The hour since the epoch, then its `width` counts; oldest first, and only hours that have any. */
export type Hours = Uint32Array

export const NO_HOURS: Hours = new Uint32Array(0)

/** Returns the counts with one changed; an event before the oldest hour changes none. */
export function countHour(hours: Hours, width: number, atUs: number, figure: number, by: number): Hours {
  const hour = Math.floor(atUs / HOUR_US)
  const size = 1 + width
  let at = hours.length
  while (at > 0 && hours[at - size]! > hour) at -= size
  if (at > 0 && hours[at - size] === hour) {
    const place = at - size + 1 + figure
    hours[place] = Math.max(0, hours[place]! + by)
    return hours
  }
  const newest = Math.max(hour, hours.length === 0 ? hour : hours[hours.length - size]!)
  if (by <= 0 || hour <= newest - HOURS) return hours
  let from = 0
  while (from < at && hours[from]! <= newest - HOURS) from += size
  const grown = new Uint32Array(hours.length - from + size)
  grown.set(hours.subarray(from, at))
  grown[at - from] = hour
  grown[at - from + 1 + figure] = by
  grown.set(hours.subarray(at), at - from + size)
  return grown
}

/** The beginning of 24 full hours and the one that is not over. */
export const countedFromUs = (nowUs: number): number => (Math.floor(nowUs / HOUR_US) - HOURS + 1) * HOUR_US

/** The sum of the last 24 full hours and the one that is not over. */
export function sumHours(hours: Hours, width: number, figure: number, nowUs: number): number {
  const now = Math.floor(nowUs / HOUR_US)
  let sum = 0
  for (let at = 0; at < hours.length; at += 1 + width)
    if (hours[at]! > now - HOURS && hours[at]! <= now) sum += hours[at + 1 + figure]!
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
