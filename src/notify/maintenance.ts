// A maintenance: a stretch of time, once or repeating, in which the notifications about some processes are held back.

import { createSchedule } from '../process/cron.ts'
import { createMatch } from '../process/process-pattern.ts'
import { spanUs } from '../process/span.ts'
import type { Maintenance } from '../wire/maintenance.ts'

/** As people set it; a repeating one may lack a limit on either side. */
export type MaintenanceSpec = Readonly<Pick<Maintenance, 'process' | 'from' | 'to' | 'repeat'>>

/** A maintenance without what follows from the clock, which wire's `Maintenance` has. */
export interface StoredMaintenance {
  readonly id: string
  readonly account: string
  readonly spec: MaintenanceSpec
  readonly createdUs: number
}

const timeUs = (text: string | null, without: number): number => (text === null ? without : Date.parse(text) * 1000)

/** A longer row of stretches without a break counts as endless. */
const STRETCHES_MAX = 100

/** When the maintenance that is under way at `nowUs` ends, with stretches that touch or overlap. */
export function maintenanceUntilUs({ from, to, repeat }: MaintenanceSpec, nowUs: number): number | undefined {
  const [fromUs, toUs] = [timeUs(from, Number.NEGATIVE_INFINITY), timeUs(to, Number.POSITIVE_INFINITY)]
  if (nowUs < fromUs || nowUs >= toUs) return undefined
  if (repeat === null) return toUs
  const lengthUs = spanUs(repeat.length)
  const { nextUs, previousUs } = createSchedule(repeat.cron, repeat.tz ?? 'UTC')
  // the first time whose stretch is not over
  const firstUs = nextUs(Math.max(nowUs - lengthUs, fromUs - 1))
  if (firstUs === undefined || firstUs > nowUs) return undefined
  const lastUntil = (us: number) => Math.max(firstUs, previousUs(us + 1) ?? firstUs)
  return Math.min(
    toUs,
    unite(firstUs + lengthUs, (us) => lastUntil(us) + lengthUs),
  )
}

/** The end of all maintenances without a break that hold back notifications about the process. */
export function heldUntilUs(all: readonly MaintenanceSpec[], process: string, nowUs: number): number | undefined {
  const own = all.filter((spec) => createMatch(spec.process)(process))
  const endUs = (us: number) => Math.max(us, ...own.flatMap((spec) => maintenanceUntilUs(spec, us) ?? []))
  const untilUs = unite(nowUs, endUs)
  return untilUs === nowUs ? undefined : untilUs
}

/** Follows stretches that begin before the one before has ended. */
function unite(fromUs: number, endUs: (us: number) => number): number {
  let us = fromUs
  for (let i = 0; i < STRETCHES_MAX && Number.isFinite(us); i++) {
    const next = endUs(us)
    if (next === us) return us
    us = next
  }
  return Number.POSITIVE_INFINITY
}
