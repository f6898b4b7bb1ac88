// Compares both sides of a copy event by event, a day or less at a time. A target that is in use holds more than the
// source, so what counts is that nothing of the source is missing; equal counts would hide a missing event behind one
// that only the target has.
import { type Event, type Family, markName, ownValue } from '../event/event.ts'
import { formatNs, formatStampNs } from '../event/stamp.ts'
import { COUNTED, type Counts, NO_COUNTS, type Scan, type ScanSelection, sumCounts } from '../store/scan.ts'

const DAY_S = 86_400n
const NS_PER_S = 1_000_000_000n
/** Events of a slice that are compared at a time; each takes some 50 bytes. */
const SLICE_EVENTS = 500_000
const EXAMPLES = 5

export interface Comparison {
  readonly source: Counts
  readonly target: Counts
  /** Events of the source that are not in the target (metrics: one per name). */
  readonly missing: number
  /** The part of `missing` whose series has another event with their stamp in the target, which keeps only one. */
  readonly collided: number
  readonly examples: readonly string[]
}

export interface Sides {
  readonly source: Scan
  readonly targetOf: (family: Family) => Scan
  readonly families: readonly Family[]
  readonly selection: ScanSelection
  readonly targetSelection: ScanSelection
}

export async function compareStores(sides: Sides): Promise<Comparison> {
  const { source, targetOf, families, selection, targetSelection } = sides
  let [sourceCounts, targetCounts] = [NO_COUNTS, NO_COUNTS]
  const found = { missing: 0, collided: 0, examples: [] as string[] }
  for (const family of families) {
    const [ours, theirs] = [
      await source.count([family], selection),
      await targetOf(family).count([family], targetSelection),
    ]
    sourceCounts = sumCounts(sourceCounts, ours)
    targetCounts = sumCounts(targetCounts, theirs)
    await compareDays(sides, family, found)
  }
  return { source: sourceCounts, target: targetCounts, ...found }
}

interface Found {
  missing: number
  collided: number
  readonly examples: string[]
}

async function compareDays(sides: Sides, family: Family, found: Found): Promise<void> {
  const target = sides.targetOf(family)
  const [ours, theirs] = [
    await sides.source.countDays(family, sides.selection),
    await target.countDays(family, sides.targetSelection),
  ]
  for (const [dayNs, events] of ours) {
    const slices = BigInt(Math.ceil(Math.max(events, theirs.get(dayNs) ?? 0) / SLICE_EVENTS))
    const lengthNs = (DAY_S / slices + 1n) * NS_PER_S
    for (let fromNs = dayNs; fromNs < dayNs + DAY_S * NS_PER_S; fromNs += lengthNs)
      await compareRange(sides, family, { fromNs, toNs: fromNs + lengthNs }, found)
  }
}

async function compareRange(
  { source, targetOf, selection, targetSelection }: Sides,
  family: Family,
  range: { fromNs: bigint; toNs: bigint },
  found: Found,
): Promise<void> {
  const stored = new Set<bigint>()
  const taken = new Set<bigint>()
  for await (const { events } of targetOf(family).read(family, { ...targetSelection, range }))
    for (const event of events)
      for (const { whole, place } of identitiesOf(event)) {
        stored.add(whole)
        taken.add(place)
      }
  for await (const { events } of source.read(family, { ...selection, range }))
    for (const event of events)
      for (const { whole, place, name } of identitiesOf(event)) {
        // the account may have changed on the way: identities are compared without it
        if (stored.has(whole)) continue
        found.missing++
        if (taken.has(place)) found.collided++
        if (found.examples.length < EXAMPLES) found.examples.push(`${name} of ${event.process} at ${atOf(event)}`)
      }
}

const atOf = ({ stamp }: Event) => formatNs(BigInt(formatStampNs(stamp)))

/**
 * Each point or row of an event: all that a store holds of it, and its place, which only one event of an InfluxDB
 * series can have.
 */
function* identitiesOf(event: Event) {
  const { account, process, meta, uid = '', stamp } = event
  const series = [account, process, meta, formatStampNs(stamp)]
  const toHash = (members: readonly unknown[]) => Bun.hash.xxHash64(JSON.stringify(members))
  const identify = (name: string, content: unknown) => ({
    name,
    place: toHash([...series, name]),
    whole: toHash([...series, name, uid, content]),
  })
  if (event.kind === 'start' || event.kind === 'end') yield identify(markName(event), '')
  else if (event.kind === 'metrics') for (const [name, value] of event.items) yield identify(name, value)
  else yield identify(event.kind, ownValue(event))
}

/** The lines of the report. */
export function describeComparison({ source, target, missing, collided, examples }: Comparison): string[] {
  const extra = totalOf(target) - totalOf(source) + missing
  return [
    `Source: ${describeCounts(source)}`,
    `Target: ${describeCounts(target)}`,
    ...(extra > 0 ? [`The target also holds ${extra.toLocaleString('en')} events that the source does not.`] : []),
    ...(missing > 0
      ? [`Missing in the target: ${missing.toLocaleString('en')} events, such as ${examples.join('; ')}`]
      : []),
    ...(collided > 0
      ? [
          `${collided.toLocaleString('en')} of them share a stamp with another event of their series; InfluxDB ` +
            'keeps one.',
        ]
      : []),
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
