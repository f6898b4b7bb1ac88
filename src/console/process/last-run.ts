// The newest start of a process or meta, with the length and the meta of that run and of no other.
import type { OverviewRow, OverviewRun } from '../../wire/overview.ts'

interface LastRun {
  /** Null without any start. */
  readonly at: string | null
  readonly run: OverviewRun | undefined
  /** ms; null while it runs, and of one whose length is not known. */
  readonly took: number | null
}

export function lastRun({ last_start_at: at, runs }: Pick<OverviewRow, 'last_start_at' | 'runs'>): LastRun {
  const run = runs.find(([time]) => time === at)
  return { at, run, took: run?.[2] ?? null }
}
