// The faults of a cron expression and its time zone, which stand side by side in an object at `pointer`.
import type { Fault } from '../../problem.ts'
import { createSchedule } from '../../process/cron.ts'

export function cronFaults(pointer: string, cron: string, tz: string): Fault[] {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz })
  } catch {
    return [{ pointer: `${pointer}/tz`, detail: 'must be a time zone such as UTC or Europe/Berlin' }]
  }
  const at = `${pointer}/cron`
  try {
    if (createSchedule(cron, tz).nextUs(0) !== undefined) return []
    return [{ pointer: at, detail: 'is never due' }]
  } catch (err) {
    return [{ pointer: at, detail: reasonOf(err) }]
  }
}

/** Croner's messages begin with its own name. */
function reasonOf(err: unknown): string {
  const message = err instanceof Error ? err.message : undefined
  if (message !== undefined && !message.startsWith('CronPattern:')) return message
  const more = message === undefined ? '' : `; ${message.slice(13)}`
  return `must be a cron expression of five fields, or six with seconds first${more}`
}
