// How often each process and meta starts. The last start of each hour is pushed down and has the exact times of what
// starts once an hour or less; of what starts more often the last six hours before its newest start are read whole.
import { compare } from '../order.ts'
import type { MarkSelection } from '../source.ts'
import type { StartTimes } from '../start-times.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { behindStamps, fluxTime, pointsIn, whereTags } from './selection.ts'

const HOUR_NS = 3_600_000_000_000n
/** Of what is read whole. */
const WHOLE_NS = 6n * HOUR_NS
/** Fewer say less than one of each hour. */
const FEWEST = 6

interface Moment {
  readonly process: string
  readonly meta: string
  readonly isEnd: boolean
  readonly ns: bigint
}

export async function findStartTimes(
  client: InfluxClient,
  q: MarkSelection & { readonly each: number },
): Promise<StartTimes[]> {
  if (q.process?.length === 0) return []
  const isWithin = ({ ns }: Moment) => ns >= q.fromNs && ns < q.toNs
  const read = async (fromNs: bigint, toNs: bigint, tail: FluxText) =>
    (await collectRows(client, momentsFlux(client, q, fromNs, toNs, tail), toMoment, q.signal)).filter(isWithin)
  const byHour = group(await read(q.fromNs, q.toNs, flux`|> aggregateWindow(every: 1h, fn: last, createEmpty: false)`))
  const frequent = [...byHour].filter(([, [last, before]]) => !before || last!.ns - before.ns < 2n * HOUR_NS)
  // most started lately: then this is one range
  const ranges = Map.groupBy(frequent, ([, [last]]) => last!.ns / WHOLE_NS)
  const whole = new Map<string, Moment[]>()
  for (const series of ranges.values()) {
    const newest = series.map(([, [last]]) => last!.ns).toSorted(compare)
    const found = group(await read(newest[0]! - WHOLE_NS, newest.at(-1)! + 1n, flux``))
    for (const [key] of series) whole.set(key, found.get(key) ?? [])
  }
  return [...byHour].map(([key, hourly]) => {
    const all = whole.get(key) ?? []
    const { process, meta, isEnd } = hourly[0]!
    const newest = (all.length < FEWEST ? hourly : all).slice(0, q.each).map(({ ns }) => ns)
    return { process, meta, isEnd, newest, hours: hourly.map(({ ns }) => Number(ns / HOUR_NS) * 3600) }
  })
}

/** Each newest first. */
function group(moments: readonly Moment[]): Map<string, Moment[]> {
  const newestFirst = moments.toSorted((a, b) => compare(b.ns, a.ns))
  return Map.groupBy(newestFirst, ({ process, meta, isEnd }) => JSON.stringify([process, meta, isEnd]))
}

/** A point may lie up to a second after its mark's time. */
const momentsFlux = (
  client: InfluxClient,
  q: MarkSelection,
  fromNs: bigint,
  toNs: bigint,
  tail: FluxText,
): FluxText => {
  const where = flux`r._measurement == "mark" and r._field == "at" and ${whereTags(q)}`
  return flux`${pointsIn(client, fluxTime(fromNs), fluxTime(behindStamps(toNs)), where)}
  ${tail}
  |> keep(columns: ["process", "meta", "mark", "_value"])
  |> group()`
}

const toMoment = (get: GetColumn): Moment => ({
  process: get('process'),
  meta: get('meta'),
  isEnd: get('mark') !== 'start',
  ns: BigInt(get('_value')),
})
