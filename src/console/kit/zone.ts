// Whether times are shown in the browser's zone or in UTC. Every text with a time in it depends on this one choice, so it is the one value
// of the console that is not handed from function to function; the browser remembers it.

export type Zone = 'local' | 'UTC'

const STORED_AS = 'stint-zone'

let chosen: Zone | undefined

export function currentZone(): Zone {
  chosen ??= globalThis.localStorage?.getItem(STORED_AS) === 'UTC' ? 'UTC' : 'local'
  return chosen
}

export function chooseZone(zone: Zone): void {
  chosen = zone
  localStorage.setItem(STORED_AS, zone)
}

/** For Intl and uPlot; undefined stands for the browser's own. */
export const timeZone = (): 'UTC' | undefined => (currentZone() === 'UTC' ? 'UTC' : undefined)

/** What to add to UTC for the time shown, in ms, at a moment. */
export const zoneOffsetMs = (ms: number): number =>
  currentZone() === 'UTC' ? 0 : -new Date(ms).getTimezoneOffset() * 60_000

/** `UTC`, `GMT+2`, or as the browser's language names the zone. */
export function zoneName(ms: number): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZone: timeZone(), timeZoneName: 'short' }).formatToParts(ms)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'
}
