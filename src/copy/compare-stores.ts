// Compares both sides of a copy by their counts per kind, and per day. A target that is in use holds more than the
// source, so a day is incomplete only if the target has fewer events of it.
import { type Event, type Family, markName } from '../event/event.ts'
import { COUNTED, type Counts, NO_COUNTS, type Scan, type ScanSelection, sumCounts } from '../store/scan.ts'

const EXAMPLES = 5

export interface Comparison {
  readonly source: Counts
  readonly target: Counts
  /** Events (metrics: one per name) that the target has fewer of than the source, over all days. */
  readonly missing: number
  /** The first days with fewer. */
  readonly examples: readonly string[]
}

interface Sides {
  readonly source: Scan
  readonly targetOf: (family: Family) => Scan
  readonly families: readonly Family[]
  readonly selection: ScanSelection
  readonly targetSelection: ScanSelection
}

export async function compareStores(sides: Sides): Promise<Comparison> {
  const { source, targetOf, families, selection, targetSelection } = sides
  let [sourceCounts, targetCounts, missing] = [NO_COUNTS, NO_COUNTS, 0]
  const examples: string[] = []
  for (const family of families) {
    const target = targetOf(family)
    sourceCounts = sumCounts(sourceCounts, await source.count([family], selection))
    targetCounts = sumCounts(targetCounts, await target.count([family], targetSelection))
    const theirs = await target.countDays(family, targetSelection)
    const ours = [...(await source.countDays(family, selection))].sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [dayNs, events] of ours) {
      const fewer = events - (theirs.get(dayNs) ?? 0)
      if (fewer <= 0) continue
      missing += fewer
      if (examples.length < EXAMPLES) examples.push(`${fewer.toLocaleString('en')} ${family} of ${dayOf(dayNs)}`)
    }
  }
  return { source: sourceCounts, target: targetCounts, missing, examples }
}

const dayOf = (dayNs: bigint) => new Date(Number(dayNs / 1_000_000n)).toISOString().slice(0, 10)

/** The lines of the report. */
export function describeComparison({ source, target, missing, examples }: Comparison): string[] {
  const extra = totalOf(target) - totalOf(source) + missing
  return [
    `Source: ${describeCounts(source)}`,
    `Target: ${describeCounts(target)}`,
    ...(extra > 0 ? [`The target also holds ${extra.toLocaleString('en')} events that the source does not.`] : []),
    ...(missing > 0 ? [`Missing in the target: ${examples.join(', ')}`] : []),
  ]
}

// Counts events as the stores count them: marks by name, metrics one per name, exceptions.
export function addCounts(counts: Counts, events: readonly Event[]): Counts {
  const sum: { -readonly [Name in keyof Counts]: number } = { ...counts }
  for (const event of events) {
    if (event.kind === 'start' || event.kind === 'end') sum[markName(event)]++
    else if (event.kind === 'metrics') sum.metric += event.items.length
    else sum[event.kind]++
  }
  return sum
}

export const totalOf = (counts: Counts): number => COUNTED.reduce((sum, name) => sum + counts[name], 0)

/** `1,200 starts, 1,180 ends, 20 failed ends, 0 metrics, 3 exceptions`. */
export function describeCounts(counts: Counts): string {
  const plural = (name: string) => (name === 'failed' ? 'failed ends' : `${name}s`)
  return COUNTED.map((name) => `${counts[name].toLocaleString('en')} ${plural(name)}`).join(', ')
}
