// What is due next, which rows changed, and what waits because of a downtime: shared by the judges of the conditions.
import { usualOf } from '../../process/usual.ts'
import type { Firing } from './firing.ts'
import { createHeap } from './heap.ts'
import type { Facts, StateRow, Waiting } from './judge-interface.ts'
import { toText } from './series-text.ts'
import type { Account, LateSubject, MetricSubject, Track } from './subjects.ts'

/** A place in the heap. A due time is computed again when it comes up, so it may only be planned too early. */
type Entry =
  | { readonly kind: 'runs'; readonly track: Track }
  | { readonly kind: 'late'; readonly subject: LateSubject }
  | { readonly kind: 'for'; readonly subject: MetricSubject }

export type Desk = ReturnType<typeof createDesk>

/** Names of rows. */
export const nameOfTrack = (process: string, meta: string): string => JSON.stringify([process, meta])
export const nameOfSubject = (condition: 'late' | 'metric', watch: string, process: string): string =>
  JSON.stringify({ [condition]: watch, process })

export function createDesk(maxRunUs: number, firing: Firing) {
  const heap = createHeap<Entry>()
  const tracks = new Set<Track>()
  const lates = new Set<LateSubject>()
  const metrics = new Set<MetricSubject>()
  const gone = new Map<string, StateRow>()
  const waits = new Map<string, Waiting>()
  return {
    maxRunUs,
    /** The stamps lead the wall clock by so much. */
    leadUs: 0,
    firing,
    heap,
    /** By subject: what became due but is judged later. */
    waits,
    planRuns(track: Track, us: number): void {
      if (us >= track.plannedUs) return
      track.plannedUs = us
      heap.push(us, { kind: 'runs', track })
    },
    /** Their rows are to be stored. */
    touchTrack: (track: Track): unknown => tracks.add(track),
    touchLate: (subject: LateSubject): unknown => lates.add(subject),
    touchMetric: (subject: MetricSubject): unknown => metrics.add(subject),
    dropRow(account: Account, name: string): void {
      gone.set(`${account.name} ${name}`, { account: account.name, name, state: null })
    },
    forget(account: Account): void {
      for (const set of [tracks, lates, metrics] as Set<{ account: Account }>[])
        for (const it of set) if (it.account === account) set.delete(it)
      for (const [name, row] of gone) if (row.account === account.name) gone.delete(name)
      for (const [name, it] of waits) if (it.account === account.name) waits.delete(name)
    },
    count: (): number => tracks.size + lates.size + metrics.size + gone.size,
    takeRows(): StateRow[] {
      const rows = new Map(gone)
      const put = (account: Account, name: string, state: string) =>
        rows.set(`${account.name} ${name}`, { account: account.name, name, state })
      for (const { account, process, meta, series, isKept } of tracks)
        if (isKept) put(account, nameOfTrack(process, meta), toText(series))
      for (const { account, watch, process, newestStartUs, restUs, held, wallUs } of lates)
        put(account, nameOfSubject('late', watch.id, process), JSON.stringify({ newestStartUs, restUs, held, wallUs }))
      for (const { account, watch, process, gauge } of metrics)
        put(account, nameOfSubject('metric', watch.id, process), JSON.stringify(gauge))
      for (const set of [tracks, lates, metrics, gone]) set.clear()
      return [...rows.values()]
    },
  }
}

/** What the texts of an alert about this process and meta may say. */
export function factsOf(account: Account, process: string, meta: string | null, exception?: string): Facts {
  const series = account.tracks.get(process)?.get(meta ?? '')?.series
  const usualUs = series && usualOf(series.settled, series.lastUs)
  return { ...(exception !== undefined && { exception }), ...(usualUs !== undefined && { usualUs }) }
}
