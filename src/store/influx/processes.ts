// Lists the processes that have sent marks or metrics: the newest point of every series is pushed down, and the series of a process are put together here.
import { PROCESS_METAS, type ProcessRow, type ProcessSelection, type Selection } from '../source.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { fluxTime, parseFluxTime, timeNs, whereTags } from './selection.ts'

/** Processes, or processes and metas; the most recent first. */
export async function findProcesses(client: InfluxClient, bucket: string, q: ProcessSelection): Promise<ProcessRow[]> {
  const points = await collectRows(client, newestPointsFlux(bucket, q), toNewestPoint, q.signal)
  const keyOf = ({ process, meta }: (typeof points)[number]) => (q.byMeta ? `${process}\0${meta}` : process)
  const processes = [...Map.groupBy(points, keyOf).values()].map((own) => {
    own.sort(newestFirst)
    return {
      process: own[0]!.process,
      metas: [...new Set(own.map(({ meta }) => meta))].sort().slice(0, PROCESS_METAS),
      lastNs: own[0]!.ns,
      kinds: [...new Set(own.map(({ kind }) => kind))].sort(),
    }
  })
  return processes.sort((a, b) => newestFirst({ ns: a.lastNs }, { ns: b.lastNs })).slice(0, q.maxRows)
}

/** The newest point of every series; all are expressions, `where` one over `r`'s tags. */
export const readNewestPoints = (bucket: FluxText, start: FluxText, stop: FluxText, where: FluxText): FluxText =>
  flux`from(bucket: ${bucket})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => (r._measurement == "mark" and r._field == "at") or (r._measurement == "metric" and r._field == "value"))
  |> filter(fn: (r) => ${where})
  |> last()`

const newestPointsFlux = (bucket: string, q: Selection): FluxText =>
  readNewestPoints(flux`${bucket}`, fluxTime(q.fromNs), fluxTime(q.toNs), whereTags(q))

const toNewestPoint = (get: GetColumn) => ({
  kind: get('_measurement') as 'mark' | 'metric',
  process: get('process'),
  meta: get('meta'),
  ns: timeNs(parseFluxTime(get('_time'))),
})

const newestFirst = (a: { ns: bigint }, b: { ns: bigint }): number => (a.ns < b.ns ? 1 : a.ns > b.ns ? -1 : 0)
