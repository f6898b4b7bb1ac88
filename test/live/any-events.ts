// Any events of half a day, and all that is answered about them but the medians of days, which are read once an hour.
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import type { MetaFigures } from '../../src/query/prometheus.ts'
import { type Cast, endAt, MINUTE, raiseAt, startAt, T0 } from './live-cast.ts'

const PROCESSES = ['import', 'backup']
const METAS = ['', 'eu']
const UIDS = ['', 'a', 'b']

/** Minutes ago, in the open hour and in closed ones. */
const agoMinutes = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 200 }))
export const eventOf = fc
  .record({
    kind: fc.constantFrom('start', 'end', 'failed', 'exception', 'metrics'),
    agoMinutes,
    seconds: fc.nat({ max: 59 }),
    process: fc.constantFrom(...PROCESSES),
    meta: fc.constantFrom(...METAS),
    uid: fc.constantFrom(...UIDS),
  })
  .map(({ kind, agoMinutes, seconds, ...of }): Event => {
    const ms = T0 + 30 * MINUTE - agoMinutes * MINUTE - seconds * 1000
    if (kind === 'start') return startAt(ms, of)
    if (kind === 'exception') return raiseAt(ms, `Error: ${of.uid}\n  at x`, of)
    if (kind !== 'metrics') return endAt(ms, { ...of, failed: kind === 'failed' })
    return { ...startAt(ms, of), kind: 'metrics', items: [['x', 1]] } as Event
  })

/** Metas come in the order in which they were met. */
const sortFigures = (figures: readonly MetaFigures[]): string[] => figures.map((one) => JSON.stringify(one)).toSorted()

export async function answersOf(cast: Cast) {
  const all = await cast.ask()
  const rows = await Promise.all(all.processes.map(({ process }) => cast.ask(`process=${process}`)))
  // medians of days are read once an hour
  const { figures } = await cast.overview.known('ada')
  const text = JSON.stringify({ all, details: rows.map(({ processes }) => processes), figures: sortFigures(figures) })
  return JSON.parse(text.replaceAll(/"median_(24h|7d)_ms":[^,}]*/g, '"median":0'))
}
