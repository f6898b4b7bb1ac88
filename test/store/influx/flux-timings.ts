// The Flux of Grafana's panels (flux-pairing.ts) as a source of timings, so that the contracts prove it equal to the rule. Every mark is classified; for a
// page it then gets a `top`: the time it is ordered by when it is that of a timing of this page or a later one, else -1.
import {
  collectRows,
  type FluxText,
  flux,
  type GetColumn,
  type InfluxClient,
} from '../../../src/store/influx/client.ts'
import { pairOf } from '../../../src/store/influx/encode-events.ts'
import { highestPlaces, readPage } from '../../../src/store/influx/find-metrics.ts'
import { behindStamps, fluxNs, fluxTime, parseFluxTime, whereTags } from '../../../src/store/influx/selection.ts'
import { marksWindow } from '../../../src/store/order.ts'
import type {
  Page,
  PointSource,
  TimingRow,
  TimingSelection,
  TimingState,
  TimingSummaryRow,
} from '../../../src/store/source.ts'
import {
  BOUNDARY,
  classifyMarks,
  nameStates,
  overlapsRange,
  pairNeighbours,
  readMarks,
  STATE_CODES,
  settledInRange,
} from './flux-pairing.ts'

type FindQuestion = Parameters<PointSource['findTimings']>[0]
type SummaryQuestion = Parameters<PointSource['summarizeTimings']>[0]

/** The marks that decide the selection, classified. */
function classifiedMarks(bucket: string, q: TimingSelection, withUid: boolean): FluxText {
  const window = marksWindow(q)
  const read = readMarks({
    bucket: flux`${bucket}`,
    start: fluxTime(window.fromNs),
    stop: fluxTime(behindStamps(window.toNs)),
    where: whereTags(q),
    withUid,
  })
  const classify = classifyMarks(fluxNs(q.maxRunNs), fluxNs(q.nowNs - q.maxRunNs))
  return flux`${read}${keepArrived(q.asOfNs, window.toNs)}${keepUid(q.uid)}${pairNeighbours(withUid)}${classify}`
}

/** Drops marks that came after the first page: those of a later time and an even stamp (lane 0). */
function keepArrived(asOfNs: bigint | undefined, toNs: bigint): FluxText {
  if (asOfNs === undefined || asOfNs >= toNs) return flux``
  return flux`
  |> filter(fn: (r) => r.pair == ${BOUNDARY} or r.at <= ${fluxNs(asOfNs)} or int(v: r._time) % 2 == 1)`
}

/** By the pair, for an empty uid cannot be read. */
function keepUid(uid: string | undefined): FluxText {
  if (uid === undefined) return flux``
  const is = (mark: Parameters<typeof pairOf>[1]) => flux`r.pair == ${fluxNs(pairOf(uid, mark))}`
  return flux`
  |> filter(fn: (r) => r.pair == ${BOUNDARY} or ${is('start')} or ${is('end')} or ${is('failed')})`
}

export const findTimings = (client: InfluxClient, bucket: string, q: FindQuestion, page: Page): Promise<TimingRow[]> =>
  readPage(page, (count) => collectRows(client, findTimingsFlux(bucket, q, count, page.after?.ns), toTiming, q.signal))

const TIMING_COLUMNS = ['process', 'meta', 'uid', 'state', 'm', 'at', 'stamp', 'ended']

function findTimingsFlux(bucket: string, q: FindQuestion, count: number, afterNs: bigint | undefined): FluxText {
  const beforeNs = afterNs !== undefined && afterNs < q.toNs ? afterNs + 1n : q.toNs
  const selected = overlapsRange(fluxNs(q.fromNs), fluxNs(beforeNs), q.nowNs >= q.fromNs)
  const [first, ...others] = (q.states ?? []).map((state) => flux`r.code == ${STATE_CODES[state]}`)
  const ofState =
    first === undefined ? flux`` : flux` and (${others.reduce((any, one) => flux`${any} or ${one}`, first)})`
  return flux`${classifiedMarks(bucket, q, true)}
  |> map(fn: (r) => ({r with place: if ${selected}${ofState} then r.at else -1}))${highestPlaces(count)}${nameStates}
  |> keep(columns: ${TIMING_COLUMNS})`
}

function toTiming(get: GetColumn): TimingRow {
  const [process, meta, uid, state] = [get('process'), get('meta'), get('uid'), get('state') as TimingState]
  const ns = BigInt(get('at'))
  const place = { ns, tie: [parseFluxTime(get('stamp')), get('m'), process, meta, uid].join('\0') }
  const timing = { process, meta, uid, state, place }
  if (state === 'orphan' || get('m') === '3') return { ...timing, endedNs: ns }
  if (state === 'completed' || state === 'failed') return { ...timing, startedNs: ns, endedNs: BigInt(get('ended')) }
  return { ...timing, startedNs: ns }
}

/** Marks of no timing of the selection. Their figures are passed over here: a `filter` before them would take as long as pairing does. */
const OUTSIDE = 'outside'

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
  const selected = settledInRange(from, to)
  const key = ['process', ...(q.byMeta ? ['meta'] : []), ...(q.everyNs === undefined ? [] : ['bucket']), 'state']
  const quantile = (name: string, of: FluxText) => flux`
timings |> quantile(column: "ms", q: ${of}, method: "exact_mean") |> yield(name: ${name})`
  const inBucket = q.everyNs === undefined ? flux`` : flux`, bucket: if ${selected} then ${bucketOf(q.everyNs)} else 0`
  return flux`timings = ${classifiedMarks(bucket, q, false)}
  |> map(fn: (r) => ({r with code: if ${selected} then r.code else -1${inBucket}}))${nameStates}
  |> keep(columns: ${[...key, 'at', 'ns', 'ms']})
  |> group(columns: ${key})

timings |> count(column: "at") |> yield(name: "count")
timings |> sum(column: "ns") |> yield(name: "sum")
timings |> max(column: "ns") |> yield(name: "max")${quantile('p50', flux`0.5`)}${quantile('p95', flux`0.95`)}${quantile('p99', flux`0.99`)}`
}

/** The start of the bucket of the mark that settled the timing; buckets are aligned to the epoch. */
function bucketOf(everyNs: bigint): FluxText {
  const every = fluxNs(everyNs)
  return flux`r.ended / ${every} * ${every}`
}

/** A row whose figures are still coming in. */
type Draft = { -readonly [Key in keyof TimingSummaryRow]: TimingSummaryRow[Key] }

const newDraft = (get: GetColumn, { byMeta, everyNs }: SummaryQuestion): Draft => ({
  process: get('process'),
  ...(byMeta && { meta: get('meta') }),
  ...(everyNs !== undefined && { atNs: BigInt(get('bucket')) }),
  ...{ count: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null, maxMs: null },
  ...{ failed: 0, running: 0, abandoned: 0, orphan: 0 },
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
