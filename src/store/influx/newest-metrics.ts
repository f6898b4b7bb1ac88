// The newest point of each process, meta and name.
import { compare } from '../order.ts'
import type { MetricPoint, Selection } from '../source.ts'
import { flux, type GetColumn, type InfluxClient } from './client.ts'
import { isUnsure, readMetrics, readSeconds } from './metrics.ts'
import { ceilSecond, floorSecond, parseFluxTime, timeNs, toFloat } from './selection.ts'

type NewestMetric = Omit<MetricPoint, 'place' | 'uid'>

/** The newest point of each series is pushed down; where its time within its second is unsure, the second is read. */
export async function findNewestMetrics(client: InfluxClient, bucket: string, q: Selection): Promise<NewestMetric[]> {
  const newest = new Map<string, { point: NewestMetric; stampNs: bigint }>()
  const unsure = new Set<bigint>()
  const isFull = () => (newest.size === q.maxRows ? ('enough' as const) : undefined)
  const note = (get: GetColumn, stampNs: bigint) => {
    const [process, meta, name] = [get('process'), get('meta'), get('name')]
    const key = [process, meta, name].join('\0')
    const [known, atNs] = [newest.get(key), timeNs(stampNs)]
    const isNewer =
      known === undefined ||
      compare(known.point.atNs, atNs) < 0 ||
      (known.point.atNs === atNs && known.stampNs < stampNs)
    if (!isNewer) return isFull()
    const point = { atNs, process, meta, name, value: toFloat(get('_value')) }
    newest.set(key, { point, stampNs })
    return isFull()
  }
  const whole = { startNs: floorSecond(q.fromNs), stopNs: ceilSecond(q.toNs) }
  await client.readRows(
    flux`${readMetrics(bucket, q, whole)} |> last()`,
    (get) => {
      const stampNs = parseFluxTime(get('_time'))
      if (isUnsure(stampNs)) unsure.add(floorSecond(stampNs))
      return note(get, stampNs)
    },
    q.signal,
  )
  if (unsure.size > 0 && isFull() === undefined)
    await client.readRows(
      readSeconds(unsure, (second) => readMetrics(bucket, q, second)),
      (get) => note(get, parseFluxTime(get('_time'))),
      q.signal,
    )
  return [...newest.values()].map(({ point }) => point)
}
