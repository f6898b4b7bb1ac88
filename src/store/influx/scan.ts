// Reads whole measurements of InfluxDB for copies, in stretches of time that adapt to the number of points. Each is
// read field by field, without pivot: the field that every point has creates the event, `uid` completes it.
import type { Event, Family, Mark, Metrics } from '../../event/event.ts'
import { parseStampNs } from '../../event/stamp.ts'
import { FIRST_NS, LAST_NS } from '../order.ts'
import { type Chunk, type Counts, NO_COUNTS, type Scan, type ScanSelection } from '../scan.ts'
import { CHECK_ACCOUNT } from '../sink.ts'
import { StoreError } from '../source.ts'
import {
  collectRows,
  createInfluxClient,
  type FluxText,
  flux,
  type GetColumn,
  type InfluxAddress,
  type InfluxClient,
  InfluxFault,
} from './client.ts'
import { fluxText, fluxTime, parseFluxTime, pointsIn } from './selection.ts'

const TIMEOUT_MS = 120_000
const HOUR_NS = 3_600_000_000_000n
const DAY_NS = 24n * HOUR_NS
const MIN_STRETCH_NS = 1_000n
const MAX_STRETCH_NS = 400n * DAY_NS
/** Lines of an answer, two of a mark with uid. */
const MAX_LINES = 120_000
const FEW_LINES = 30_000

/** The measurement of a family, and the field that each of its points has. */
const READS = {
  marks: { measurement: 'mark', field: 'pair' },
  metrics: { measurement: 'metric', field: 'value' },
} as const

type PointFamily = 'marks' | 'metrics'
const isOfPoints = (family: Family): family is PointFamily => family === 'marks' || family === 'metrics'

interface Range {
  readonly fromNs: bigint
  readonly toNs: bigint
}

export function createInfluxScan(address: InfluxAddress): Scan {
  const client = createInfluxClient(address, TIMEOUT_MS)

  /** Undefined when the stretch holds too many lines. */
  async function readStretch(
    family: PointFamily,
    range: Range,
    account?: string,
  ): Promise<ReturnType<typeof createLines> | undefined> {
    const lines = createLines(family)
    const query = flux`${readPoints(client, family, range, account)}
  |> drop(columns: ["_start", "_stop", "_measurement"])`
    const canShrink = range.toNs - range.fromNs > MIN_STRETCH_NS
    let isTooLarge = false
    await ask(() =>
      client.readRows(query, (get) => {
        isTooLarge = canShrink && lines.count() >= MAX_LINES
        if (isTooLarge) return 'enough'
        lines.add(get)
        return undefined
      }),
    )
    return isTooLarge ? undefined : lines
  }

  /** The first and the last stamp of a measurement; undefined without points. */
  async function extent(family: PointFamily, { account }: ScanSelection): Promise<Range | undefined> {
    const edge = async (selector: 'first' | 'last') => {
      const query = flux`${readPoints(client, family, ALL, account, true)}
  |> ${selector === 'first' ? flux`first()` : flux`last()`}
  |> keep(columns: ["_time"])
  |> group()
  |> ${selector === 'first' ? flux`min(column: "_time")` : flux`max(column: "_time")`}`
      const [found] = await ask(() => collectRows(client, query, (get) => parseFluxTime(get('_time'))))
      return found
    }
    const [fromNs, lastNs] = [await edge('first'), await edge('last')]
    return fromNs === undefined || lastNs === undefined ? undefined : { fromNs, toNs: lastNs + 1n }
  }

  async function* read(family: Family, selection: ScanSelection, after?: string): AsyncGenerator<Chunk, void> {
    if (!isOfPoints(family)) return
    const whole = await extent(family, selection)
    if (whole === undefined) return
    let fromNs = after !== undefined && BigInt(after) > whole.fromNs ? BigInt(after) : whole.fromNs
    let lengthNs = HOUR_NS
    while (fromNs < whole.toNs) {
      let toNs = fromNs + lengthNs
      if (toNs > whole.toNs) toNs = whole.toNs
      const lines = await readStretch(family, { fromNs, toNs }, selection.account)
      if (lines === undefined) {
        lengthNs = (toNs - fromNs) / 2n
        continue
      }
      const events = lines.events()
      if (events.length > 0) yield { events, cursor: String(toNs) }
      fromNs = toNs
      if (lines.count() < FEW_LINES && lengthNs < MAX_STRETCH_NS) lengthNs *= 2n
    }
  }

  async function count(families: readonly Family[], { account }: ScanSelection): Promise<Counts> {
    const counts: Record<string, number> = { ...NO_COUNTS }
    for (const family of families) {
      if (!isOfPoints(family)) continue
      const by = family === 'marks' ? flux`["mark"]` : flux`["_measurement"]`
      const query = flux`${readPoints(client, family, ALL, account, true)}
  |> count()
  |> group(columns: ${by})
  |> sum()`
      const toCount = (get: GetColumn) => [get('mark') || 'metric', Number(get('_value'))] as const
      for (const [name, points] of await ask(() => collectRows(client, query, toCount))) counts[name] = points
    }
    return counts as Counts
  }

  return {
    read,
    count,
    async countDays(family, { account }) {
      const days = new Map<bigint, number>()
      if (!isOfPoints(family)) return days
      const query = flux`${readPoints(client, family, ALL, account, true)}
  |> aggregateWindow(every: 1d, fn: count, createEmpty: false, timeSrc: "_start")
  |> group(columns: ["_time"])
  |> sum()`
      const add = (get: GetColumn) => {
        const ns = parseFluxTime(get('_time'))
        days.set(ns - (ns % DAY_NS), Number(get('_value')))
      }
      await ask(() => collectRows(client, query, add))
      return days
    },
    async close() {
      client.close()
    },
  }
}

const ALL: Range = { fromNs: FIRST_NS, toNs: LAST_NS }

async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (cause) {
    if (!(cause instanceof InfluxFault)) throw cause
    throw new StoreError(`InfluxDB did not answer: ${cause.message}`, { cause })
  }
}

/** Empty uids are never read: InfluxDB 2.7 loses an empty string that follows others and shifts the rows behind it. */
function readPoints(
  client: InfluxClient,
  family: PointFamily,
  { fromNs, toNs }: Range,
  account: string | undefined,
  withoutUid = false,
): FluxText {
  const { measurement, field } = READS[family]
  const who = account === undefined ? flux`r.account != ${CHECK_ACCOUNT}` : flux`r.account == ${fluxText(account)}`
  const fields = withoutUid
    ? flux`r._field == ${field}`
    : flux`r._field == ${field} or (r._field == "uid" and r._value != "")`
  return flux`${pointsIn(client, fluxTime(fromNs), fluxTime(toNs), flux`r._measurement == ${measurement} and ${who}`)}
  |> filter(fn: (r) => ${fields})`
}

interface Point {
  readonly account: string
  readonly process: string
  readonly meta: string
  /** The mark's or the metric's. */
  readonly name: string
  readonly stampNs: bigint
  readonly value: number
  uid: string
}

function createLines(family: PointFamily) {
  const points = new Map<string, Point>()
  const uids = new Map<string, string>()
  let count = 0
  return {
    count: () => count,
    add(get: GetColumn): void {
      count++
      const [account, process, meta, time] = [get('account'), get('process'), get('meta'), get('_time')]
      const name = family === 'marks' ? get('mark') : get('name')
      const place = [account, process, meta, name, time].join('\0')
      if (get('_field') === 'uid') uids.set(place, get('_value'))
      else {
        const value = family === 'marks' ? 0 : Number(get('_value'))
        points.set(place, { account, process, meta, name, stampNs: parseFluxTime(time), value, uid: '' })
      }
    },
    /** In the order of their stamps. */
    events(): Event[] {
      for (const [place, uid] of uids) {
        const point = points.get(place)
        if (point !== undefined) point.uid = uid
      }
      const sorted = [...points.values()].sort((a, b) => (a.stampNs < b.stampNs ? -1 : a.stampNs > b.stampNs ? 1 : 0))
      return family === 'marks' ? sorted.map(toMark) : groupMetrics(sorted)
    },
  }
}

function toMark({ account, process, meta, name, stampNs, uid }: Point): Mark {
  const mark = { account, process, meta, uid, stamp: parseStampNs(stampNs) }
  if (name === 'start') return { kind: 'start', ...mark }
  return name === 'end' ? { kind: 'end', ...mark } : { kind: 'end', ...mark, failed: true }
}

/** The metrics of one request share a stamp: together they have the content by which ClickHouse knows the event. */
function groupMetrics(points: readonly Point[]): Metrics[] {
  const requests = Map.groupBy(points, ({ account, process, meta, uid, stampNs }) =>
    [account, process, meta, uid, stampNs].join('\0'),
  )
  return [...requests.values()].map((items) => {
    const { account, process, meta, uid, stampNs } = items[0]!
    return {
      kind: 'metrics',
      account,
      process,
      meta,
      ...(uid !== '' && { uid }),
      items: items.map(({ name, value }) => [name, value] as const),
      stamp: parseStampNs(stampNs),
    }
  })
}
