// The input of one evaluation: the watches with their alerts, and how much is known at that time.
import type { Blind, Rewind } from '../rules/episode.ts'
import type { Alert } from '../storage/watch-store.ts'
import type { StoredWatch, WatchRules } from '../watch.ts'

export interface ReadyWatch {
  readonly watch: StoredWatch
  readonly rules: WatchRules
  readonly alerts: readonly Alert[]
}

/** What is from before the clock was set back. */
export interface Former {
  /** When its alerts had been resolved, by id. */
  readonly alerts: ReadonlyMap<string, number | null>
  /** When its watches and conditions were created and changed. */
  readonly times: ReadonlySet<number>
}

export interface Moment {
  readonly nowUs: number
  /** Everything before it is stored. */
  readonly pointsKnownUs: number
  readonly exceptionsKnownUs: number
  /** No accepted mark waits to be stored. */
  readonly isStored?: boolean
  readonly blind: readonly Blind[]
  readonly rewind: Rewind | undefined
  /** Nothing counts before it: the last times that came twice are over. */
  readonly clearUs: number
  readonly former: Former
  readonly maxRunUs: number
  /** `knownUs` of an earlier evaluation; events that became known since then may start and end an alert at once. */
  readonly judgedUs: number | undefined
  readonly publicUrl: string
  /** Nodes that may hold undelivered starts, so `late` is unknown. */
  readonly silentNodes: readonly number[]
}

export const NOTHING_FORMER: Former = { alerts: new Map(), times: new Set() }

export const toFormer = (watches: readonly ReadyWatch[]): Former => ({
  alerts: new Map(watches.flatMap(({ alerts }) => alerts.map(({ id, resolvedUs }) => [id, resolvedUs]))),
  times: new Set(watches.flatMap(({ watch }) => [watch.sinceUs, ...Object.values(watch.changed)])),
})
