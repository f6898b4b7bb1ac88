// The conditions of a watch, in the order in which they are shown: their names, and what people read about them. Free of
// schemas: it is in the console's bundle. A member of a watch is called like its condition; judging is in
// watch/conditions, and the fields are in watch-fields.ts.
import { describeNextDue } from './next-due.ts'
import { spellSpan } from './span-text.ts'
import type { Watch } from './watches.ts'

type Conditions = Pick<Watch, 'late' | 'long' | 'failed' | 'metric' | 'slow' | 'next_due'>

interface ConditionEntry {
  readonly label: string
  /** What this watch notifies of: `is late (every 1 h)`; falsy if it has no such condition. */
  says(watch: Conditions): readonly (string | false | null | undefined)[]
}

export const CONDITION_TABLE = {
  late: {
    label: 'late',
    says({ late, next_due }) {
      if (late === null) return []
      const due = describeNextDue(late, next_due)
      return [
        `is late (${late.every === undefined ? late.cron : `every ${spellSpan(late.every)}`}${due ? `, ${due}` : ''})`,
      ]
    },
  },
  long: {
    label: 'too long',
    says: ({ long }) => [long && `runs longer than ${spellSpan(long)}`],
  },
  failed: {
    label: 'failed',
    says: ({ failed }) => [
      failed && ((failed.after ?? 1) > 1 ? `fails ${failed.after} times in a row` : 'fails'),
      failed?.exceptions && 'raises an exception',
    ],
  },
  metric: {
    label: 'metric',
    says: ({ metric }) => [
      metric && `has ${metric.name} ${metric.above === undefined ? `below ${metric.below}` : `above ${metric.above}`}`,
    ],
  },
  slow: {
    label: 'slow',
    says: ({ slow }) => [slow !== null && `takes ${slow}× the usual time`],
  },
} as const satisfies Record<string, ConditionEntry>

export type Condition = keyof typeof CONDITION_TABLE
export const CONDITIONS = Object.keys(CONDITION_TABLE) as [Condition, ...Condition[]]

const SAID: readonly Condition[] = ['late', 'long', 'failed', 'slow', 'metric']

/** `runs longer than 1 min, or fails`, after "when it". */
export function describeConditions(watch: Conditions): string {
  const parts = SAID.flatMap((condition) => CONDITION_TABLE[condition].says(watch)).filter(Boolean)
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, or ${parts.at(-1)}`
}
