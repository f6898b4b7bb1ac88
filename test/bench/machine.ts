// Where and when a figure was measured: without that it says nothing.
import { cpus, loadavg } from 'node:os'
import { systemClock } from '../../src/clock.ts'

export interface Surroundings {
  readonly machine: string
  readonly bun: string
  /** UTC. */
  readonly date: string
  /** Processes that wanted a core in the last minute; what the benchmark itself wants is in it once it runs. */
  readonly load: number
}

export const surroundings = (): Surroundings => ({
  machine: `${cpus().length} × ${cpus()[0]?.model}`,
  bun: Bun.version,
  date: new Date(systemClock.wallUs() / 1000).toISOString().slice(0, 10),
  load: Math.round(loadavg()[0]! * 10) / 10,
})

export const inWords = (before: Surroundings, after: Surroundings): string =>
  `${before.machine} · Bun ${before.bun} · ${before.date} · load ${before.load} before, ${after.load} after`

/** The upper one of two. */
export const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
