// Pings with a `rid` that were accepted within the last minute. A client that got no answer sends its ping again, and
// that is the same event. Each node remembers its own, bounded, until it stops.

const SAME_US = 60_000_000
const PINGS_MAX = 10_000

/** `wallUs`: µs since the epoch. */
export function createRecentPings(wallUs: () => number) {
  const recent = new Map<string, { readonly atUs: number; readonly accepted: Promise<void> }>()

  return {
    /** Accepts a ping unless the same one is being accepted or was a moment ago. One that failed is forgotten. */
    once(key: string, accept: () => Promise<void>): Promise<void> {
      const atUs = wallUs()
      const known = recent.get(key)
      if (known !== undefined && Math.abs(atUs - known.atUs) < SAME_US) return known.accepted
      const accepted = accept()
      const entry = { atUs, accepted }
      recent.delete(key)
      recent.set(key, entry)
      if (recent.size > PINGS_MAX) recent.delete(recent.keys().next().value!)
      accepted.catch(() => {
        if (recent.get(key) === entry) recent.delete(key)
      })
      return accepted
    },
  }
}
