// Cron expressions by croner: five fields, or six with seconds first, and `@daily` etc. Croner applies daylight saving.
import { Cron } from 'croner'

export interface Schedule {
  /** The first due time after `us`, in µs; undefined after the last one. */
  nextUs(us: number): number | undefined
  /** The last due time before `us`, in µs. */
  previousUs(us: number): number | undefined
}

const REMEMBERED = 16

/** Throws an Error when the expression or the time zone is invalid. */
export function createSchedule(expression: string, timeZone: string): Schedule {
  new Intl.DateTimeFormat('en', { timeZone }) // croner reports an invalid zone only when it computes a time
  const cron = new Cron(expression, { timezone: timeZone, mode: '5-or-6-parts', paused: true })
  const toUs = (date: Date | null | undefined) => (date ? date.getTime() * 1000 : undefined)
  // croner takes 0.1 ms per answer, and evaluations ask for the same times repeatedly.
  const stretches: { fromUs: number; nextUs: number }[] = []
  const previous = new Map<number, number | undefined>()
  return {
    nextUs(us) {
      const known = stretches.find(({ fromUs, nextUs }) => fromUs <= us && us < nextUs)
      if (known !== undefined) return known.nextUs
      // In whole seconds; croner never returns the given time itself.
      const nextUs = toUs(cron.nextRun(new Date(Math.floor(us / 1e6) * 1000)))
      if (nextUs !== undefined) stretches.unshift({ fromUs: us, nextUs })
      stretches.splice(REMEMBERED)
      return nextUs
    },
    previousUs(us) {
      if (previous.has(us)) return previous.get(us)
      const previousUs = toUs(cron.previousRuns(1, new Date(Math.ceil(us / 1e6) * 1000))[0])
      if (previous.size >= REMEMBERED) previous.clear()
      previous.set(us, previousUs)
      return previousUs
    },
  }
}
