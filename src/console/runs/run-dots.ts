// Runs → dots of a chart: completed, failed and, where asked for, those of a week earlier, over the band in which eight of ten runs are.
import type { ChartData, Line } from '../kit/line-chart.ts'
import type { Run } from '../timeline/run.ts'
import { quantile } from '../timeline/usual.ts'
import type { Past } from './compare-weeks.ts'

export interface Dots {
  readonly data: Omit<ChartData, 'fromMs' | 'toMs'>
  /** The run of each moment of the data; undefined for one of a week earlier. */
  readonly runs: readonly (Run | undefined)[]
}

export function dotsOf(runs: readonly Run[], past: Past | undefined): Dots {
  const points = [
    ...runs.flatMap((run) => {
      const ms = run.timing.duration_ms
      return ms === null || run.state === 'orphan' ? [] : [{ atMs: run.startMs, ms, run, kind: run.state }]
    }),
    ...(past?.runs ?? []).map(({ atMs, ms }) => ({ atMs, ms, run: undefined, kind: 'past' as const })),
  ].toSorted((a, b) => a.atMs - b.atMs)
  const line = (label: string, kind: string, colour: string): Line => ({
    label,
    values: points.map((point) => (point.kind === kind ? point.ms : null)),
    look: 'dots',
    colour,
  })
  const lengths = points.flatMap(({ kind, ms }) => (kind === 'completed' ? [ms] : []))
  return {
    runs: points.map(({ run }) => run),
    data: {
      atMs: points.map(({ atMs }) => atMs),
      lines: [
        line('Completed', 'completed', '--run-completed'),
        line('Failed', 'failed', '--run-failed'),
        ...(past === undefined ? [] : [line('Earlier', 'past', '--muted')]),
      ],
      ...(lengths.length >= 5 && { band: { low: quantile(lengths, 0.1), high: quantile(lengths, 0.9) } }),
    },
  }
}
