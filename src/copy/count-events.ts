// Counts events as the stores count them: marks by name, metrics one per name, exceptions.
import { type Event, markName } from '../event/event.ts'
import { COUNTED, type Counts } from '../store/scan.ts'

export function addCounts(counts: Counts, events: readonly Event[]): Counts {
  const sum: { -readonly [Name in keyof Counts]: number } = { ...counts }
  for (const event of events) {
    if (event.kind === 'metrics') sum.metric += event.items.length
    else if (event.kind === 'exception') sum.exception++
    else sum[markName(event)]++
  }
  return sum
}

export const totalOf = (counts: Counts): number => COUNTED.reduce((sum, name) => sum + counts[name], 0)

/** `1,200 starts, 1,180 ends, 20 failed ends, 0 metrics, 3 exceptions`. */
export function describeCounts(counts: Counts): string {
  const names = { start: 'starts', end: 'ends', failed: 'failed ends', metric: 'metrics', exception: 'exceptions' }
  return COUNTED.map((name) => `${counts[name].toLocaleString('en')} ${names[name]}`).join(', ')
}
