// Marks as they are stored: for the evaluation of watches, which pairs them itself.
import type { MarkName } from '../../event/event.ts'
import type { MarkRow, MarkSelection } from '../source.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { behindStamps, fluxNs, fluxText, fluxTime, whereTags } from './selection.ts'

function read(bucket: string, q: MarkSelection, condition: FluxText): FluxText {
  const among = q.processes?.reduce<FluxText | undefined>((list, process) => {
    const one = flux`r.process == ${fluxText(process)}`
    return list === undefined ? one : flux`${list} or ${one}`
  }, undefined)
  return flux`from(bucket: ${bucket})
  |> range(start: ${fluxTime(q.fromNs)}, stop: ${fluxTime(behindStamps(q.toNs))})
  |> filter(fn: (r) => r._measurement == "mark" and ${whereTags(q)}${among === undefined ? flux`` : flux` and (${among})`})
  |> filter(fn: (r) => ${condition})`
}

/** A uid that is not read is null; see `WITH_UID` in pairing.ts. */
export async function findMarks(
  client: InfluxClient,
  bucket: string,
  q: MarkSelection & { readonly perSeries?: number; readonly maxRows: number },
): Promise<MarkRow[]> {
  if (q.processes?.length === 0) return []
  const condition = flux`r._field == "at" or (r._field == "uid" and r._value != "")`
  // The series of a process and meta are three, one for each kind of mark.
  const each = q.perSeries === undefined ? flux`` : flux`\n  |> tail(n: ${fluxNs(BigInt(q.perSeries))})`
  const query = flux`${read(bucket, q, condition)}
  |> drop(columns: ["_start", "_stop", "_measurement", "account"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")${each}
  |> group()
  |> sort(columns: ["at"], desc: true)
  |> limit(n: ${fluxNs(BigInt(q.maxRows))})`
  const rows = await collectRows(client, query, toMark, q.signal)
  return rows.filter(({ ns }) => ns >= q.fromNs && ns < q.toNs)
}

export async function findNewestStarts(client: InfluxClient, bucket: string, q: MarkSelection) {
  if (q.processes?.length === 0) return []
  const query = flux`${read(bucket, q, flux`r._field == "at" and r.mark == "start"`)}
  |> last()
  |> keep(columns: ["process", "meta", "_value"])
  |> group()`
  const toStart = (get: GetColumn) => ({ process: get('process'), meta: get('meta'), ns: BigInt(get('_value')) })
  return collectRows(client, query, toStart, q.signal)
}

const toMark = (get: GetColumn): MarkRow => ({
  process: get('process'),
  meta: get('meta'),
  uid: get('uid'),
  mark: get('mark') as MarkName,
  ns: BigInt(get('at')),
})
