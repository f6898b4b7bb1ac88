// One page of timings. Every mark gets a `place`: the stamp it is ordered by when it stands for a timing of this page or a later one, else −1;
// then the places at the top are the page, and no filter has to look at every mark.
import { marksWindow } from '../marks-window.ts'
import type { Page, Timing, TimingSelection, TimingState } from '../source.ts'
import { type FluxText, flux, type GetColumn } from './client.ts'
import { classifyMarks, overlapsRange, pairNeighbours, readMarks } from './pairing-flux.ts'
import { fluxNs, fluxTime, whereTags } from './selection-flux.ts'

/** The marks that decide the selection, classified. */
export function classifiedMarks(bucket: string, q: TimingSelection, withUid: boolean): FluxText {
  const window = marksWindow(q)
  const read = readMarks({
    bucket: flux`${bucket}`,
    start: fluxTime(window.fromNs),
    stop: fluxTime(window.toNs),
    where: whereTags(q),
    withUid: withUid || q.uid !== undefined,
  })
  // A mark that came after the first page: a later stamp, even (lane 0). Only such marks can be in what lies after that moment.
  const asOf =
    q.asOfNs === undefined || q.asOfNs >= window.toNs
      ? flux``
      : flux`
  |> filter(fn: (r) => r.at <= ${fluxNs(q.asOfNs)} or r.at % 2 == 1)`
  const ofUid =
    q.uid === undefined
      ? flux``
      : flux`
  |> filter(fn: (r) => r.uid == ${q.uid})`
  return flux`${read}${asOf}${ofUid}${pairNeighbours}${classifyMarks(fluxNs(q.maxRunNs), fluxNs(q.nowNs - q.maxRunNs))}`
}

export function findTimingsFlux(
  bucket: string,
  q: TimingSelection & { readonly state?: TimingState },
  { limit, after }: Page,
): FluxText {
  const beforeNs = after !== undefined && after.ns < q.toNs ? after.ns : q.toNs
  const selected = overlapsRange(fluxNs(q.fromNs), fluxNs(beforeNs), q.nowNs >= q.fromNs)
  const ofState = q.state === undefined ? flux`` : flux` and r.state == ${q.state}`
  const newest = flux`
  |> sort(columns: ["place"], desc: true)
  |> limit(n: ${limit})`
  return flux`${classifiedMarks(bucket, q, true)}
  |> map(fn: (r) => ({r with place: if ${selected}${ofState} then r.at else -1}))${newest}
  |> group()${newest}
  |> filter(fn: (r) => r.place >= 0)
  |> keep(columns: ["process", "meta", "uid", "state", "at", "ended"])`
}

export function toTiming(get: GetColumn): Timing {
  const state = get('state') as TimingState
  const at = BigInt(get('at'))
  const subject = { process: get('process'), meta: get('meta'), uid: get('uid'), state }
  if (state === 'orphan') return { ...subject, endedNs: at }
  if (state === 'completed') return { ...subject, startedNs: at, endedNs: BigInt(get('ended')) }
  return { ...subject, startedNs: at }
}
