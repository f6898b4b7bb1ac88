// A watch as it is stored (its spec, as in the API), and the part of it that is judged.
import type { Fault } from '../problem.ts'
import { createMatch } from '../process/process-pattern.ts'
import { spanUs } from '../process/span.ts'
import type { Condition } from '../wire/conditions.ts'
import type { CreateWatch } from '../wire/watches.ts'
import { type ConditionSpecs, completeConditions, conditionFaults, toConditionRules } from './conditions/conditions.ts'
import { spanFaults } from './conditions/span-faults.ts'
import type { JudgedWatch } from './log/judge-interface.ts'

/** The requested spec, with every member present; null = absent. */
export type WatchSpec = ConditionSpecs &
  Readonly<Pick<CreateWatch, 'name' | 'process' | 'channels'>> & {
    readonly [K in 'meta' | 'remind' | 'paused_until']: string | null
  }

/** A row of the store. Times are µs since the epoch. */
export interface StoredWatch {
  readonly id: string
  readonly account: string
  readonly spec: WatchSpec
  readonly createdUs: number
  /** The conditions apply from this time on: when the watch was created, resumed, or given another process or meta. */
  readonly sinceUs: number
  /** When single conditions were changed. */
  readonly changed: { readonly [N in Condition]?: number }
  /** The random part of its badge's URL. */
  readonly badge: string | null
}

/** Fills in omitted members. */
export function toSpec(body: CreateWatch): WatchSpec {
  const { name, process, channels, meta = null, remind = null, paused_until = null } = body
  return { name: name.trim(), process, channels, meta, ...completeConditions(body), remind, paused_until }
}

/** Checks what the schema cannot express. Returns all faults; none if the watch is valid. */
export function specFaults(spec: WatchSpec, maxRunUs: number, isChannel: (id: string) => boolean): Fault[] {
  const faults = [...conditionFaults(spec, { maxRunUs }), ...spanFaults('/remind', spec.remind)]
  if (spec.paused_until !== null && Number.isNaN(Date.parse(spec.paused_until)))
    faults.push({ pointer: '/paused_until', detail: 'must be an RFC 3339 time' })
  for (const [i, id] of spec.channels.entries())
    if (!isChannel(id)) faults.push({ pointer: `/channels/${i}`, detail: 'is not a channel of this account' })
  return faults
}

/** The interval of its reminders; undefined without any. */
export const remindEveryUs = ({ remind }: WatchSpec): number | undefined =>
  remind === null ? undefined : spanUs(remind)

/** The end of its pause; 0 without one. */
export const pausedUntilUs = ({ paused_until }: WatchSpec): number =>
  paused_until === null ? 0 : Date.parse(paused_until) * 1000

/** The part that the judge sees. A condition counts from its last change, or the end of the watch's pause. */
export function toJudgedWatch({ id, spec, sinceUs, changed }: StoredWatch): JudgedWatch {
  const untilUs = pausedUntilUs(spec)
  return {
    id,
    process: spec.process,
    meta: spec.meta,
    rules: toConditionRules(spec),
    matches: createMatch(spec.process),
    sinceUs: (condition) => Math.max(sinceUs, changed[condition] ?? 0, untilUs),
  }
}
