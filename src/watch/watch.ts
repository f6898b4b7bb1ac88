// A watch as it is stored (its spec, as in the API) and as the rules use it.
import type { Fault } from '../problem.ts'
import { createMatch } from '../process/process-pattern.ts'
import { spanUs } from '../process/span.ts'
import type { Condition } from '../wire/conditions.ts'
import type { CreateWatch } from '../wire/watches.ts'
import {
  type ConditionRules,
  type ConditionSpecs,
  completeConditions,
  conditionFaults,
  toConditionRules,
} from './conditions/conditions.ts'
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

/** The input of the rules. */
export interface WatchRules extends ConditionRules {
  readonly remindUs?: number
  readonly pausedUntilUs?: number
  matches(process: string): boolean
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

/** Converts a valid spec to the numbers that the rules use. */
export function toRules(spec: WatchSpec): WatchRules {
  const { remind, paused_until } = spec
  const rules = toConditionRules(spec)
  return {
    ...rules,
    ...(remind !== null && { remindUs: spanUs(remind) }),
    ...(paused_until !== null && { pausedUntilUs: Date.parse(paused_until) * 1000 }),
    matches: createMatch(spec.process),
  }
}

/** The part of a watch that the judge sees. A condition counts from its last change, or the end of the watch's pause. */
export function toJudgedWatch({ id, spec, sinceUs, changed }: StoredWatch): JudgedWatch {
  const rules = toRules(spec)
  return {
    ...{ id, process: spec.process, meta: spec.meta, rules, matches: rules.matches },
    sinceUs: (condition) => Math.max(sinceUs, changed[condition] ?? 0, rules.pausedUntilUs ?? 0),
  }
}
