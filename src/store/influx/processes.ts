// Lists the processes that have sent marks or metrics. InfluxDB finds the newest point of every series; the series of a
// process are combined here. A point may lie up to a second after its event's time: where a range ends within a second,
// or the newest point is of a whole second or ms, all points of that second are read.
import { groupInTurns, rest, sortInTurns, spend } from '../../turns.ts'
import { PROCESS_METAS, type ProcessRow } from '../process-row.ts'
import type { ProcessSelection, Selection } from '../source.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { edgesOf, isUnsure, readSeconds } from './metrics.ts'
import type { Stretch } from './read-metrics.ts'
import { ceilSecond, floorSecond, fluxTime, parseFluxTime, pointsIn, timeNs, whereTags } from './selection.ts'

/** Processes, or processes and metas; the most recent first. */
export async function findProcesses(client: InfluxClient, q: ProcessSelection): Promise<ProcessRow[]> {
  const whole = { startNs: ceilSecond(q.fromNs), stopNs: floorSecond(q.toNs) }
  const reads = edgesOf(q).map((edge) => pointsFlux(client, q, edge))
  if (whole.startNs < whole.stopNs) reads.push(flux`${pointsFlux(client, q, whole)} |> last()`)
  const read = async (texts: readonly FluxText[]) =>
    (await Promise.all(texts.map((text) => collectRows(client, text, toPoint, q.signal)))).flat()
  const found = await read(reads)
  const unsure = new Set<bigint>()
  for (const { ns, stampNs } of found) {
    if (isUnsure(stampNs)) unsure.add(floorSecond(ns))
    if (spend()) await rest()
  }
  if (unsure.size > 0) found.push(...(await read([readSeconds(unsure, (second) => pointsFlux(client, q, second))])))
  const keyOf = ({ process, meta }: (typeof found)[number]) => (q.byMeta ? `${process}\0${meta}` : process)
  const groups = await groupInTurns(found, keyOf)
  const processes: ProcessRow[] = []
  for (const all of groups.values()) {
    const own = all.filter(({ ns }) => ns >= q.fromNs && ns < q.toNs).sort(newestFirst)
    if (own.length > 0)
      processes.push({
        process: own[0]!.process,
        metas: [...new Set(own.map(({ meta }) => meta))].sort().slice(0, PROCESS_METAS),
        lastNs: own[0]!.ns,
        kinds: [...new Set(own.map(({ kind }) => kind))].sort(),
      })
    if (spend(8 + 4 * all.length)) await rest()
  }
  const sorted = await sortInTurns(processes, (a, b) => newestFirst({ ns: a.lastNs }, { ns: b.lastNs }))
  return sorted.slice(0, q.maxRows)
}

/** The points of every series, one for a mark or a metric. */
const pointsFlux = (client: InfluxClient, q: Selection, { startNs, stopNs }: Stretch): FluxText => flux`${pointsIn(
  client,
  fluxTime(startNs),
  fluxTime(stopNs),
  flux`(r._measurement == "mark" and r._field == "at") or (r._measurement == "metric" and r._field == "value")`,
)}
  |> filter(fn: (r) => ${whereTags(q)})`

function toPoint(get: GetColumn) {
  const stampNs = parseFluxTime(get('_time'))
  const kind = get('_measurement') as 'mark' | 'metric'
  return { kind, process: get('process'), meta: get('meta'), ns: timeNs(stampNs), stampNs }
}

const newestFirst = (a: { ns: bigint }, b: { ns: bigint }): number => (a.ns < b.ns ? 1 : a.ns > b.ns ? -1 : 0)
