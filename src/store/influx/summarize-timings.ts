// The summary of timings, by the rule of query/summarize-timings.ts. InfluxDB counts and sorts; a row comes as the lines of several small tables,
// one a figure, and is put together here.
import type { TimingSelection, TimingState, TimingSummaryRow } from '../source.ts'
import { type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { classifiedMarks } from './find-timings.ts'
import { overlapsRange, settledAt, settledInRange } from './pairing-flux.ts'
import { fluxNs } from './selection-flux.ts'

/** Marks that stand for no timing of the selection. Their figures are passed over here: a `filter` before them would take as long as pairing does. */
const OUTSIDE = 'outside'

export type SummaryQuestion = TimingSelection & { readonly byMeta: boolean; readonly everyNs?: bigint }

/** In no particular order. */
export async function summarizeTimings(
  client: InfluxClient,
  bucket: string,
  q: SummaryQuestion,
): Promise<TimingSummaryRow[]> {
  const rows = new Map<string, Draft>()
  await client.readRows(
    summarizeTimingsFlux(bucket, q),
    (get) => {
      if (get('state') === OUTSIDE) return undefined
      const key = JSON.stringify([get('process'), q.byMeta ? get('meta') : '', get('bucket')])
      const row = rows.get(key) ?? newDraft(get, q)
      rows.set(key, row)
      addFigure(row, get)
      return rows.size === q.maxRows ? 'enough' : undefined
    },
    q.signal,
  )
  return [...rows.values()].map((row) => ({ ...row, meanMs: row.meanMs === null ? null : row.meanMs / row.count }))
}

function summarizeTimingsFlux(bucket: string, q: SummaryQuestion): FluxText {
  const [from, to] = [fluxNs(q.fromNs), fluxNs(q.toNs)]
  const selected = q.everyNs === undefined ? overlapsRange(from, to, q.nowNs >= q.fromNs) : settledInRange(from, to)
  const key = ['process', ...(q.byMeta ? ['meta'] : []), ...(q.everyNs === undefined ? [] : ['bucket']), 'state']
  const quantile = (name: string, of: FluxText) => flux`
timings |> quantile(column: "ms", q: ${of}, method: "exact_mean") |> yield(name: ${name})`
  const inBucket = q.everyNs === undefined ? flux`` : flux`, bucket: if ${selected} then ${bucketOf(q.everyNs)} else 0`
  return flux`timings = ${classifiedMarks(bucket, q, false)}
  |> map(fn: (r) => ({r with state: if ${selected} then r.state else ${OUTSIDE}${inBucket}}))
  |> keep(columns: ${[...key, 'at', 'ns', 'ms']})
  |> group(columns: ${key})

timings |> count(column: "at") |> yield(name: "count")
timings |> sum(column: "ns") |> yield(name: "sum")
timings |> max(column: "ns") |> yield(name: "max")${quantile('p50', flux`0.5`)}${quantile('p95', flux`0.95`)}${quantile('p99', flux`0.99`)}`
}

/** The start of the bucket of the mark that settled the timing; buckets are aligned to the epoch. */
function bucketOf(everyNs: bigint): FluxText {
  const every = fluxNs(everyNs)
  return flux`${settledAt} / ${every} * ${every}`
}

/** A row whose figures are still coming in. */
type Draft = { -readonly [Key in keyof TimingSummaryRow]: TimingSummaryRow[Key] }

const newDraft = (get: GetColumn, { byMeta, everyNs }: SummaryQuestion): Draft => ({
  process: get('process'),
  ...(byMeta && { meta: get('meta') }),
  ...(everyNs !== undefined && { atNs: BigInt(get('bucket')) }),
  ...{
    count: 0,
    meanMs: null,
    p50Ms: null,
    p95Ms: null,
    p99Ms: null,
    maxMs: null,
    running: 0,
    abandoned: 0,
    orphan: 0,
  },
})

function addFigure(row: Draft, get: GetColumn): void {
  const state = get('state') as TimingState
  if (get('result') === 'count') row[state === 'completed' ? 'count' : state] = Number(get('at'))
  else if (state === 'completed') addDuration(row, get)
}

function addDuration(row: Draft, get: GetColumn): void {
  switch (get('result')) {
    case 'sum': // divided when the count is known
      row.meanMs = Number(get('ns')) / 1e6
      return
    case 'max':
      row.maxMs = Number(get('ns')) / 1e6
      return
    case 'p50':
      row.p50Ms = Number(get('ms'))
      return
    case 'p95':
      row.p95Ms = Number(get('ms'))
      return
    case 'p99':
      row.p99Ms = Number(get('ms'))
  }
}
