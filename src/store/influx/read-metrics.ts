// How points of metrics are read from InfluxDB: as tables, or joined to their uids here.
import type { MetricSelection } from '../source.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { ceilSecond, fluxText, fluxTime, isOneOf, pointsIn, whereTags } from './selection.ts'

export interface Stretch {
  readonly startNs: bigint
  readonly stopNs: bigint
}

export type MetricField = 'value' | 'uid'

/** Pushed down, whatever the question's uid. */
function readWhere(client: InfluxClient, q: MetricSelection, { startNs, stopNs }: Stretch, where?: FluxText): FluxText {
  const ofName = q.name === undefined ? flux`` : flux` and ${isOneOf('name', q.name)}`
  const all = flux`r._measurement == "metric" and ${whereTags(q)}${ofName}${where ? flux` and ${where}` : flux``}`
  return pointsIn(client, fluxTime(startNs), fluxTime(stopNs), all)
}

/** The points as tables with a `_value`, one per series. A uid in the question must be joined to its value first. */
export function readMetrics(
  client: InfluxClient,
  q: MetricSelection,
  stretch: Stretch,
  field: MetricField = 'value',
): FluxText {
  if (q.uid === undefined) return readWhere(client, q, stretch, flux`r._field == ${field}`)
  return flux`${readWhere(client, q, stretch)}
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => ${q.uid === '' ? flux`not exists r.uid` : flux`exists r.uid and r.uid == ${fluxText(q.uid)}`})
  |> rename(columns: {value: "_value"})`
}

/** Points that are held at once, unless more are in one second: each takes some 100 bytes here. */
const HELD_AT_ONCE = 200_000
const KEYS = ['_time', 'name', 'process', 'meta']
const COLUMNS = [...KEYS, '_value']
const HAS_VALUE = flux`r._field == "value"`

type Visit = (get: GetColumn) => 'enough' | undefined

/**
 * Shows the points of the question's uid, or those without one, until `visit` has had enough. Uids and values are
 * joined here: InfluxDB takes ten times as long for a pivot, and pushes nothing behind it down. What is read first is
 * held, so a point that arrives between both reads is not shown.
 */
export async function visitOfUid(
  client: InfluxClient,
  q: MetricSelection,
  whole: Stretch,
  visit: Visit,
): Promise<void> {
  const hasUid = q.uid ? flux`r._field == "uid" and r._value == ${fluxText(q.uid)}` : flux`r._field == "uid"`
  for await (const stretch of partsOf(client, q, whole, q.uid ? hasUid : HAS_VALUE)) {
    const read = (where: FluxText, take: Visit) =>
      client.readRows(flux`${readWhere(client, q, stretch, where)} |> keep(columns: ${COLUMNS})`, take, q.signal)
    const held = new Map<string, string>()
    let isEnough = false
    const show = (get: GetColumn) => {
      isEnough = visit(get) === 'enough'
      return isEnough ? 'enough' : undefined
    }
    if (q.uid) {
      await read(hasUid, (get) => void held.set(keyOf(get), ''))
      await read(HAS_VALUE, (get) => (held.has(keyOf(get)) ? show(get) : undefined))
    } else {
      await read(HAS_VALUE, (get) => void held.set(keyOf(get), get('_value')))
      await read(hasUid, (get) => void held.delete(keyOf(get)))
      held.entries().some(([key, value]) => {
        const row = [...key.split('\0'), value]
        return show((label) => row[COLUMNS.indexOf(label)] ?? '')
      })
    }
    if (isEnough) return
  }
}

/** No text that an event has holds a NUL. */
const keyOf = (get: GetColumn): string => KEYS.map(get).join('\0')

/** The parts of a stretch that have so many of these points, however they are spread; without those that have none. */
async function* partsOf(
  client: InfluxClient,
  q: MetricSelection,
  stretch: Stretch,
  where: FluxText,
): AsyncGenerator<Stretch> {
  const { startNs, stopNs } = stretch
  const count = flux`${readWhere(client, q, stretch, where)}
  |> count()
  |> group()
  |> sum()`
  const [points = 0] = await collectRows(client, count, (get) => Number(get('_value')), q.signal)
  const parts = BigInt(Math.ceil((2 * points) / HELD_AT_ONCE) || 1)
  const lengthNs = ceilSecond((stopNs - startNs) / parts)
  if (points > HELD_AT_ONCE && lengthNs < stopNs - startNs) {
    for (let fromNs = startNs; fromNs < stopNs; fromNs += lengthNs) {
      const isLast = fromNs + lengthNs >= stopNs
      yield* partsOf(client, q, { startNs: fromNs, stopNs: isLast ? stopNs : fromNs + lengthNs }, where)
    }
  } else if (points > 0) yield stretch
}
