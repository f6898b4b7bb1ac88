// When a cron expression is due, for people: in UTC, and in the zone of the reader if the expression has none of its own.
// Free of schemas: it is in the console's bundle.

interface Due {
  readonly cron?: string
  readonly tz?: string
}

/** `next due 2026-11-26 03:00 UTC, 04:00 here`; undefined for one with a zone, and for one that is not due again. */
export function describeNextDue(schedule: Due | null | undefined, nextDue: string | null): string | undefined {
  if (schedule?.cron === undefined || schedule.tz !== undefined || nextDue === null) return undefined
  const date = new Date(nextDue)
  const utc = date.toISOString().slice(0, 16).replace('T', ' ')
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const here = `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
  if (here === utc) return `next due ${utc} UTC`
  return `next due ${utc} UTC, ${here.slice(0, 10) === utc.slice(0, 10) ? here.slice(11) : here} here`
}
