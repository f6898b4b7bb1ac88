// The words for states, actions and due times in the console, the command line, badges and reports; the API has its
// codes. Free of schemas: it is in the console's bundle.

/** States of a run; `exceptions`: it completed with one. */
export const RUN_STATE_TEXT = {
  completed: 'Completed',
  exceptions: 'Completed, with an exception',
  failed: 'Failed',
  running: 'Running',
  abandoned: 'Never finished',
  orphan: 'End without start',
} as const

/** States of a process: label, clause after a number of processes, sentence about one process and about many. */
export const PROCESS_STATE_TEXT = {
  failed: ['Failed', 'failed', 'failed', 'failed'],
  never_finished: ['Never finished', 'never finished', 'never finished', 'never finished'],
  silent: ['Silent', 'silent', 'is silent', 'are silent'],
  exceptions: ['With exceptions', 'with exceptions', 'has exceptions', 'have exceptions'],
  firing: ['Alert firing', 'with an alert', 'has an alert', 'have an alert'],
  overdue: ['Running long', 'running long', 'is running long', 'are running long'],
  running: ['Running', 'running', 'is running', 'are running'],
  completed: ['Fine', 'fine', 'is fine', 'are fine'],
  no_runs: ['No runs', 'without runs', 'has no runs', 'have no runs'],
} as const

export const ACTION_TEXT = { acknowledge: 'Acknowledge', maintenance: 'Plan maintenance' } as const

export const acknowledgedText = (by: string): string => `${by} has acknowledged it`

/** Said of a start that did not come. */
export const missedText = (due: string): string => `missed; was due ${due}`

/** Watches that could not be checked: a store or Stint itself was away when they were due. */
export const uncheckedText = (count: string, n: number): string =>
  `${count} ${n === 1 ? 'watch' : 'watches'} could not be checked`

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

const DAY_MS = 86_400_000

/** A group of which nothing is stored of so many days before is new. */
export const NEW_AFTER_DAYS = 90

/** `previousAt`: when it was raised before `at`; null: not in these days. Empty within a day. */
export function describeSeen(at: string, previousAt: string | null): string {
  if (previousAt === null) return 'new'
  const days = Math.floor((Date.parse(at) - Date.parse(previousAt)) / DAY_MS)
  return days < 1 ? '' : `again after ${days} ${days === 1 ? 'day' : 'days'}`
}
