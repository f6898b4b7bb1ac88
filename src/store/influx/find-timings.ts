// One page of timings. Every mark gets a `place`: the stamp it is ordered by when it stands for a timing of this page or a later one, else −1;
// then the places at the top are the page, and no filter has to look at every mark.
import { marksWindow } from '../marks-window.ts'
import type { Page, Timing, TimingSelection, TimingState } from '../source.ts'
import { type FluxText, flux, type GetColumn } from './client.ts'
import {
  classifyMarks,
  highestPlaces,
  highestPlacesOfEach,
  overlapsRange,
  pairNeighbours,
  readMarks,
} from './pairing-flux.ts'
import { pairOf } from './points.ts'
import { fluxNs, fluxTime, whereTags } from './selection-flux.ts'

/** The marks that decide the selection, classified. */
export function classifiedMarks(bucket: string, q: TimingSelection, withUid: boolean): FluxText {
  const window = marksWindow(q)
  const read = readMarks({
    bucket: flux`${bucket}`,
    start: fluxTime(window.fromNs),
    stop: fluxTime(window.toNs),
    where: whereTags(q),
    withUid,
  })
  const classify = classifyMarks(fluxNs(q.maxRunNs), fluxNs(q.nowNs - q.maxRunNs))
  return flux`${read}${keepArrived(q.asOfNs, window.toNs)}${keepUid(q.uid)}${pairNeighbours}${classify}`
}

/** Without the marks that came after the first page: those of a later stamp that is even (lane 0). */
function keepArrived(asOfNs: bigint | undefined, toNs: bigint): FluxText {
  if (asOfNs === undefined || asOfNs >= toNs) return flux``
  return flux`
  |> filter(fn: (r) => r.at <= ${fluxNs(asOfNs)} or r.at % 2 == 1)`
}

/** By the pair, for an empty uid cannot be read. */
function keepUid(uid: string | undefined): FluxText {
  if (uid === undefined) return flux``
  return flux`
  |> filter(fn: (r) => r.pair == ${fluxNs(pairOf(uid, 'start'))} or r.pair == ${fluxNs(pairOf(uid, 'end'))})`
}

export function findTimingsFlux(
  bucket: string,
  q: TimingSelection & { readonly state?: TimingState },
  { limit, after }: Page,
): FluxText {
  const beforeNs = after !== undefined && after.ns < q.toNs ? after.ns : q.toNs
  const selected = overlapsRange(fluxNs(q.fromNs), fluxNs(beforeNs), q.nowNs >= q.fromNs)
  const ofState = q.state === undefined ? flux`` : flux` and r.state == ${q.state}`
  return flux`${classifiedMarks(bucket, q, true)}
  |> map(fn: (r) => ({r with place: if ${selected}${ofState} then r.at else -1}))${highestPlaces(limit)}
  |> keep(columns: ["process", "meta", "uid", "state", "at", "ended"])`
}

/** The newest timings of each process. */
export function findLatestFlux(
  bucket: string,
  q: TimingSelection & { readonly each: number; readonly maxRows: number },
): FluxText {
  const selected = overlapsRange(fluxNs(q.fromNs), fluxNs(q.toNs), q.nowNs >= q.fromNs)
  return flux`${classifiedMarks(bucket, q, true)}
  |> map(fn: (r) => ({r with place: if ${selected} then r.at else -1}))${highestPlacesOfEach(q.each)}${highestPlaces(q.maxRows)}
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
