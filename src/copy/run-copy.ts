// `stint copy`: opens both sides, copies, compares. What is open is closed again however it ends.
import { mkdirSync } from 'node:fs'
import { DESTINATIONS, type Destination, type Family, familiesIn } from '../event/event.ts'
import { lockDataDir, makeDataDir } from '../state/data-dir-lock.ts'
import { openClickHouseScan } from '../store/clickhouse/open.ts'
import { createInfluxScan } from '../store/influx/scan.ts'
import { openStores } from '../store/open-stores.ts'
import { type Counts, NO_COUNTS, type Scan, type ScanSelection, sumCounts } from '../store/scan.ts'
import { type Comparison, compareStores, describeComparison, describeCounts, totalOf } from './compare-stores.ts'
import { copyEvents, createProgressFile } from './copy-events.ts'
import { createDeliver, type Deliver, prepareSink } from './deliver-events.ts'
import { createEventFile, openFileScan } from './event-file.ts'
import { type CopyParts, type CopyPlan, describePlace, embeddedIn, type Place, placeId, targetOf } from './places.ts'
import { createProgressLine, type ProgressLine } from './show-progress.ts'

export interface CopySummary {
  readonly from: string
  readonly to: string
  /** Copied by this run. */
  readonly copied: Counts
  readonly seconds: number
  readonly refused: number
  readonly expired: number
  /** Why the first event was refused. */
  readonly refusal: string | undefined
  /** Absent for a file, which holds what was copied. */
  readonly comparison: Comparison | undefined
}

/** Throws CopyError, ConfigError, EngineUnavailableError, StoreError, or the signal's reason. */
export async function runCopy(plan: CopyPlan, parts: CopyParts): Promise<CopySummary> {
  const { config } = plan
  const closers: (() => unknown)[] = []
  try {
    if (needsLock(plan)) {
      makeDataDir(config.dataDir)
      const lock = lockDataDir(config.dataDir)
      closers.push(() => lock.release())
    }
    const scan = await openScan(plan.source, plan.asAccount)
    closers.push(() => scan.close())
    const copy = { plan, parts, scan, beganUs: parts.clock.monotonicUs() }
    return plan.toFile === undefined ? await copyToStores(copy, closers) : await copyToFile(copy, plan.toFile)
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

interface Copy {
  readonly plan: CopyPlan
  readonly parts: CopyParts
  readonly scan: Scan
  readonly beganUs: number
}

/** The engine's directory belongs to one process; two copies into DATA_DIR would share their progress. */
function needsLock({ config, source, toFile, families }: CopyPlan): boolean {
  const embedded = placeId(embeddedIn(config))
  const places = toFile === undefined ? families.map((family) => targetOf(config, family)) : []
  const sources = source.kind === 'stores' ? families.map((family) => targetOf(config, family)) : [source]
  return [...sources, ...places].some((place) => placeId(place) === embedded)
}

const selectionOf = ({ account }: Pick<CopyPlan, 'account'>): ScanSelection =>
  account === undefined ? {} : { account }

async function copyToStores(copy: Copy, closers: (() => unknown)[]): Promise<CopySummary> {
  const { plan, parts, scan } = copy
  const { config, families, asAccount } = plan
  const selection = selectionOf(plan)
  const { delivers, targets, line, progress, file } = await openTarget(copy, closers)
  const copied = await copyEvents({
    scan,
    families,
    selection,
    write: (family, events) => delivers[destinationOf(family)](events),
    progress,
    saveProgress: file.write,
    line,
    signal: parts.signal,
  }).finally(() => line.end())
  line.say('Comparing both sides.')
  const comparison = await compareStores({
    source: scan,
    targetOf: (family) => targets[destinationOf(family)],
    families,
    selection,
    targetSelection: asAccount === undefined ? selection : { account: asAccount },
  })
  file.remove() // complete, or to be begun again
  for (const text of describeComparison(comparison)) line.say(text)
  const tallies = DESTINATIONS.map((destination) => delivers[destination].tally())
  return {
    from: describePlace(plan.source),
    to: [...new Set(families.map((family) => describePlace(targetOf(config, family))))].join(' and '),
    copied,
    seconds: (parts.clock.monotonicUs() - copy.beganUs) / 1e6,
    refused: tallies.reduce((sum, { refused }) => sum + refused, 0),
    expired: tallies.reduce((sum, { expired }) => sum + expired, 0),
    refusal: tallies.find(({ reason }) => reason !== undefined)?.reason,
    comparison,
  }
}

async function openTarget({ plan, parts, scan }: Copy, closers: (() => unknown)[]) {
  const { config, source, families } = plan
  const { clock, log, signal, stderr } = parts
  const stores = await openStores({ ...config, embeddedPath: embeddedIn(config).path, log })
  closers.push(() => stores.close())
  const targets = {} as Record<Destination, Scan>
  const delivers = {} as Record<Destination, Deliver>
  const before = createProgressLine(stderr, clock, 0, undefined)
  let line: ProgressLine = before
  for (const destination of DESTINATIONS) {
    const options = {
      destination,
      sink: stores.sinks[destination],
      clock,
      log,
      signal,
      onPause: (reason: string | undefined) =>
        line.say(reason === undefined ? 'Delivery resumed.' : `Delivery paused: ${reason}`),
    }
    delivers[destination] = createDeliver(options)
    const family = families.find((name) => destinationOf(name) === destination)
    if (family === undefined) continue
    await prepareSink(options)
    const target = await openScan(targetOf(config, family))
    targets[destination] = target
    closers.push(() => target.close())
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const route = [
    placeId(source),
    ...families.map((name) => `${name} → ${placeId(targetOf(config, name))}`),
    plan.account ?? '',
    plan.asAccount ?? '',
  ]
  const file = createProgressFile(config.dataDir, route.join('; '))
  const progress = plan.restart ? undefined : file.read()
  const total = totalOf(await scan.count(families, selectionOf(plan)))
  if (progress !== undefined)
    before.say(`Continuing an interrupted copy behind ${progress.events.toLocaleString('en')} events.`)
  line = createProgressLine(stderr, clock, progress?.events ?? 0, total)
  return { delivers, targets, line, progress, file }
}

async function copyToFile({ plan, parts, scan, beganUs }: Copy, path: string): Promise<CopySummary> {
  const { families, source } = plan
  const total = totalOf(await scan.count(families, selectionOf(plan)))
  const file = await createEventFile(path, plan.account === undefined)
  const line = createProgressLine(parts.stderr, parts.clock, 0, total)
  try {
    const copied = await copyEvents({
      scan,
      families,
      selection: selectionOf(plan),
      write: (_, events) => file.write(events),
      progress: undefined,
      saveProgress() {},
      line,
      signal: parts.signal,
    })
    await file.finish()
    line.say(`Wrote ${describeCounts(copied)}.`)
    const seconds = (parts.clock.monotonicUs() - beganUs) / 1e6
    const nothingLost = { refused: 0, expired: 0, refusal: undefined, comparison: undefined }
    return { from: describePlace(source), to: path, copied, seconds, ...nothingLost }
  } catch (error) {
    await file.discard()
    throw error
  } finally {
    line.end()
  }
}

const destinationOf = (family: Family): Destination => (familiesIn('points').includes(family) ? 'points' : 'exceptions')

/**
 * Opens a scan of a place. With `account` every event of a file becomes that account's. Throws CopyError and
 * EngineUnavailableError.
 */
async function openScan(place: Place, account?: string): Promise<Scan> {
  switch (place.kind) {
    case 'embedded':
    case 'clickhouse':
      return openClickHouseScan(place)
    case 'influxdb':
      return createInfluxScan(place)
    case 'file':
      return openFileScan(place.path, account)
    case 'stores':
      return joinScans(
        await openScan(targetOf(place.config, 'marks')),
        await openScan(targetOf(place.config, 'exceptions')),
      )
    default:
      return place satisfies never
  }
}

/** Points from one, exceptions from the other. */
function joinScans(points: Scan, exceptions: Scan): Scan {
  const scanOf = (family: Family) => (destinationOf(family) === 'points' ? points : exceptions)
  return {
    read: (family, selection, after) => scanOf(family).read(family, selection, after),
    async count(families, selection) {
      const parts: Counts[] = []
      for (const family of families) parts.push(await scanOf(family).count([family], selection))
      return parts.reduce(sumCounts, NO_COUNTS)
    },
    countDays: (family, selection) => scanOf(family).countDays(family, selection),
    async close() {
      await points.close()
      await exceptions.close()
    },
  }
}
