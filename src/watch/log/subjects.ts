// What the judge holds in memory of an account: its watches, and by process and meta what they are about.
import type { Condition } from '../../wire/conditions.ts'
import type { Downtime, Episode } from './episode.ts'
import type { Gauge } from './gauge.ts'
import type { EndedByHand, JudgedAlert, JudgedWatch } from './judge-interface.ts'
import { createSeries, type Series } from './series.ts'

/** One process and meta. */
export interface Track {
  readonly account: Account
  readonly process: string
  readonly meta: string
  series: Series
  /** Something is remembered of it: it counts for the limit, and has a row. */
  isKept: boolean
  /** Those that are about it. */
  watches: readonly JudgedWatch[]
  /** The subjects of `late` that it belongs to. */
  late: readonly LateSubject[]
  /** Alerts of `long` that fire, by watch and instance. */
  readonly longs: Map<string, JudgedAlert>
  /** Its place in the heap; infinite without one. */
  plannedUs: number
  /** What was due then or before is judged, but not by the fresh watches. */
  judgedUs: number
  /** The same of `long`, if it is to be judged again for what was due since then. */
  longJudgedUs: number | undefined
  readonly fresh: Set<string>
  /** The failure whose exception may follow. */
  awaiting: Awaiting | undefined
}

interface Awaiting {
  readonly untilUs: number
  readonly failure: Failure
  readonly alerts: readonly JudgedAlert[]
}

/** A failed run, or what else counts as one. */
export interface Failure {
  /** Of its run; absent if it is not known. */
  readonly uid?: string
  readonly startedUs?: number
  readonly atUs: number
  readonly arrivedUs: number
  readonly cause: NonNullable<Episode['cause']>
  /** Abandoned: see Episode. */
  readonly followedUs?: number
  readonly lost?: Downtime
}

/** A process, as a watch expects its starts. */
export interface LateSubject {
  watch: JudgedWatch
  readonly account: Account
  readonly process: string
  newestStartUs: number
  /** The same by the wall clock, see `wallOf`. */
  wallUs: number
  restUs: number
  /** The soonest of its places in the heap. */
  plannedUs: number
  /** It has a row, because not all of its series are kept. */
  isKept: boolean
  /** It is not judged any more. */
  isGone: boolean
  /** Due times that passed without a start while a silent node was waited for, and a later start came. */
  held: HeldLate[]
}

export interface HeldLate {
  readonly dueUs: number
  readonly overUs: number
  readonly fromUs: number
  readonly silentUs: number
  /** The last start that was known; 0 = none. */
  readonly lastUs: number
  readonly restUs: number
  /** The start that came. */
  readonly startUs: number
}

/** A metric of a process, as a watch expects it. */
export interface MetricSubject {
  watch: JudgedWatch
  readonly account: Account
  readonly process: string
  readonly gauge: Gauge
  /** Its place in the heap; infinite without one. */
  plannedUs: number
  isGone: boolean
}

/** Rows of 2.0 have neither `held` nor `wallUs`. */
export type LateState = Pick<LateSubject, 'newestStartUs' | 'restUs'> & Partial<Pick<LateSubject, 'held' | 'wallUs'>>

/** A subject as its row has it. */
type LoadedSubject = { readonly watch: string; readonly process: string } & (
  | { readonly condition: 'late'; readonly state: LateState }
  | { readonly condition: 'metric'; readonly state: Gauge }
)

export interface Account {
  readonly name: string
  watches: readonly JudgedWatch[]
  /** By process and meta. */
  readonly tracks: Map<string, Map<string, Track>>
  /** How many of them have a row, and how many there are. */
  kept: number
  count: number
  /** By watch and process. */
  readonly late: Map<string, LateSubject>
  readonly metrics: Map<string, MetricSubject>
  /** Rows that were loaded before the watches were known. */
  loaded: LoadedSubject[]
  byHand: ReadonlyMap<string, EndedByHand>
  downtimes: readonly Downtime[]
  /** See `setUnread` of the judge. */
  unread: { readonly watches: ReadonlySet<string>; readonly sinceUs: number } | undefined
  /** Something waits for a silent node until then. */
  heldUntilUs: number
  /** Processes that are not judged, because it has MAX_SERIES series. */
  readonly dropped: Set<string>
}

export const createAccount = (name: string): Account => ({
  name,
  watches: [],
  kept: 0,
  count: 0,
  byHand: new Map(),
  downtimes: [],
  unread: undefined,
  heldUntilUs: 0,
  tracks: new Map(),
  late: new Map(),
  metrics: new Map(),
  loaded: [],
  dropped: new Set(),
})

export const createTrack = (account: Account, process: string, meta: string): Track => ({
  account,
  process,
  meta,
  series: createSeries(),
  isKept: false,
  watches: [],
  late: [],
  longs: new Map(),
  plannedUs: Number.POSITIVE_INFINITY,
  judgedUs: 0,
  longJudgedUs: undefined,
  fresh: new Set(),
  awaiting: undefined,
})

/** By watch and instance, or watch and process. */
export const nameOf = (watch: string, subject: string): string => `${watch} ${subject}`

/** The condition counts since then for this instance. */
export function sinceOf({ byHand }: Account, watch: JudgedWatch, condition: Condition, instance: string): number {
  return Math.max(watch.sinceUs(condition), byHand.get(nameOf(watch.id, instance))?.atUs ?? 0)
}
