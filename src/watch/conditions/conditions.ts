// The table of conditions. A new one is a file and a line here, its schema in wire/watches.ts, its label and summary in
// wire/conditions.ts, and what fires and ends it in ../log.
import type { Fault } from '../../problem.ts'
import { CONDITIONS as NAMES, type Condition as Name } from '../../wire/conditions.ts'
import type { CreateWatch } from '../../wire/watches.ts'
import type { ConditionOf } from './condition.ts'
import { failed } from './failed.ts'
import { late } from './late.ts'
import { long } from './long.ts'
import { metric } from './metric.ts'
import { slow } from './slow.ts'

type Given = { readonly [N in Name]: NonNullable<CreateWatch[N]> }

const TABLE = { late, long, failed, metric, slow } satisfies { readonly [N in Name]: ConditionOf<Given[N], unknown> }

export const CONDITIONS: { readonly [N in Name]: ConditionOf<unknown, unknown> } = TABLE
/** In the order in which they are shown. */
export const CONDITION_NAMES: readonly Name[] = NAMES

/** The conditions of a stored watch; null = absent. */
export type ConditionSpecs = { readonly [N in Name]: Given[N] | null }
/** The same in the numbers that are judged. */
export type ConditionRules = { readonly [N in Name]?: ReturnType<(typeof TABLE)[N]['toRule']> }

/** Fills in omitted members. */
export function completeConditions(body: { readonly [N in Name]?: Given[N] | null | undefined }): ConditionSpecs {
  const complete = (name: Name) => (body[name] == null ? null : (CONDITIONS[name].complete?.(body[name]) ?? body[name]))
  return Object.fromEntries(NAMES.map((name) => [name, complete(name)])) as unknown as ConditionSpecs
}

export const conditionFaults = (specs: ConditionSpecs, limits: { readonly maxRunUs: number }): Fault[] =>
  NAMES.flatMap((name) => (specs[name] === null ? [] : (CONDITIONS[name].faults?.(specs[name], limits) ?? [])))

export const toConditionRules = (specs: ConditionSpecs): ConditionRules =>
  Object.fromEntries(
    NAMES.filter((name) => specs[name] !== null).map((name) => [name, CONDITIONS[name].toRule(specs[name])]),
  )
