// The newest events of every kind, in a line each.
import type { Timing } from '../../wire/timings.ts'
import type { Get } from '../kit/ask.ts'
import { askPoints } from '../kit/ask-metrics.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'

export const SHOWN = 8

export interface Arrival {
  readonly at: string
  readonly text: string
}

/** Events since `from`, newest first. */
export async function askArrivals(get: Get, from: string): Promise<Arrival[]> {
  const query = { from, limit: SHOWN }
  const [{ timings }, points, { exceptions }] = await Promise.all([
    get('api/timings', query),
    askPoints(get, query),
    get('api/exceptions', query),
  ])
  const nameOf = ({ process, meta }: { process: string; meta: string | null }) =>
    meta === null ? process : `${process} · ${meta}`
  const arrivals = [
    ...timings.map((timing) => ({
      at: timing.ended_at ?? timing.started_at ?? '',
      text: `${nameOf(timing)}: ${describeTiming(timing)}`,
    })),
    ...points.map((point) => ({
      at: point.at,
      text: `${nameOf(point)}: metric ${point.name} = ${formatValue(point.value)}`,
    })),
    ...exceptions.map((found) => ({
      at: found.at,
      text: `${nameOf(found)}: exception ${found.exception.split('\n', 1)[0]?.slice(0, 200)}`,
    })),
  ]
  return arrivals.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, SHOWN)
}

function describeTiming({ state, duration_ms }: Timing): string {
  if (state === 'completed') return `took ${formatDuration(duration_ms)}`
  return {
    failed: `failed after ${formatDuration(duration_ms)}`,
    running: 'started',
    abandoned: 'started',
    orphan: 'ended without a start',
  }[state]
}
