// The conditions of a watch, in the order in which they are shown, and how lists name them. Free of schemas: it is in
// the console's bundle. A member of a watch is called like its condition; judging is in watch/conditions.
import type { Watch } from './watches.ts'

interface ConditionEntry {
  readonly label: string
  /** The condition of this watch in a few words; falsy if it has none. */
  summary(watch: Watch): string | null | 0
}

export const CONDITION_TABLE = {
  late: { label: 'late', summary: ({ late }) => late && `late ${late.every ?? late.cron}` },
  long: { label: 'too long', summary: ({ long }) => long && `long ${long}` },
  failed: {
    label: 'failed',
    summary: ({ failed }) => failed && `failed ${failed.after ?? 1}${failed.exceptions ? ' or exceptions' : ''}`,
  },
  metric: {
    label: 'metric',
    summary: ({ metric }) =>
      metric && `${metric.name} ${metric.above === undefined ? '<' : '>'} ${metric.above ?? metric.below}`,
  },
  slow: { label: 'slow', summary: ({ slow }) => slow && `slow ${slow}×` },
} as const satisfies Record<string, ConditionEntry>

export type Condition = keyof typeof CONDITION_TABLE
export const CONDITIONS = Object.keys(CONDITION_TABLE) as [Condition, ...Condition[]]
