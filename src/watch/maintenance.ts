// A maintenance: a stretch of time, once or repeating, in which the notifications about some processes are held back.
import { spanUs } from './conditions/span.ts'
import { createMatch } from './process-pattern.ts'
import { createSchedule } from './rules/cron.ts'

export interface MaintenanceSpec {
  /** Exact, or with `*`. */
  readonly process: string
  /** RFC 3339; null = without a limit on that side, which only a repeating one has. */
  readonly from: string | null
  readonly to: string | null
  /** It begins at each moment of a cron expression, and lasts so long. */
  readonly repeat: { readonly cron: string; readonly tz?: string; readonly length: string } | null
}

export interface Maintenance {
  readonly id: string
  readonly account: string
  readonly spec: MaintenanceSpec
  readonly createdUs: number
}

const timeUs = (text: string | null, without: number): number => (text === null ? without : Date.parse(text) * 1000)

/** When the maintenance that is under way at `nowUs` ends; undefined while none is. */
export function maintenanceUntilUs({ from, to, repeat }: MaintenanceSpec, nowUs: number): number | undefined {
  const [fromUs, toUs] = [timeUs(from, Number.NEGATIVE_INFINITY), timeUs(to, Number.POSITIVE_INFINITY)]
  if (nowUs < fromUs || nowUs >= toUs) return undefined
  if (repeat === null) return toUs
  const lengthUs = spanUs(repeat.length)
  // the first moment whose stretch is not over
  const beganUs = createSchedule(repeat.cron, repeat.tz ?? 'UTC').nextUs(Math.max(nowUs - lengthUs, fromUs - 1))
  return beganUs === undefined || beganUs > nowUs ? undefined : Math.min(beganUs + lengthUs, toUs)
}

/** The latest end of those under way that hold back notifications about the process. */
export function heldUntilUs(all: readonly MaintenanceSpec[], process: string, nowUs: number): number | undefined {
  const ends = all
    .filter((spec) => createMatch(spec.process)(process))
    .flatMap((spec) => maintenanceUntilUs(spec, nowUs) ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}
