// Two runs that were loaded for the panel, as the comparison of an alert's page takes them.
import type { AlertRun } from '../../wire/alert-detail.ts'
import { exitOf } from '../../wire/exit-of.ts'
import type { Compared } from '../compare/compare-runs.ts'
import type { RunContext } from './ask-run.ts'

export function compareContexts(run: RunContext, other: RunContext): Compared {
  const [mine, theirs] = [lastValues(run), lastValues(other)]
  const names = [...new Set([...mine.keys(), ...theirs.keys()])]
  return {
    run: toAlertRun(run),
    good_run: toAlertRun(other),
    unavailable: [],
    metrics: names.map((name) => ({ name, value: mine.get(name) ?? null, good_value: theirs.get(name) ?? null })),
    output: outputOf(run),
    good_output: outputOf(other),
    exceptions: run.exceptions,
    goodExceptions: other.exceptions,
  }
}

function toAlertRun({ run: { timing }, exceptions }: RunContext): AlertRun {
  const { process, meta, uid, state, started_at, ended_at, duration_ms } = timing
  return { process, meta, uid, state, started_at, ended_at, duration_ms, exit: exitOf(exceptions) }
}

/** Metrics are newest first. */
const lastValues = ({ metrics }: RunContext): ReadonlyMap<string, number> =>
  new Map(metrics.toReversed().map(({ name, value }) => [name, value]))

/** Newest first, too. */
const outputOf = ({ outputs }: RunContext): string | null =>
  outputs.length === 0
    ? null
    : outputs
        .toReversed()
        .map(({ output }) => output)
        .join('\n')
