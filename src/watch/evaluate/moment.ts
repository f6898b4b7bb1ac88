// The input of one evaluation: the watches with their alerts, and how much is known at that time.
import type { Blind } from '../rules/episode.ts'
import type { Alert } from '../storage/watch-store.ts'
import type { StoredWatch, WatchRules } from '../watch.ts'

export interface ReadyWatch {
  readonly watch: StoredWatch
  readonly rules: WatchRules
  readonly alerts: readonly Alert[]
}

export interface Moment {
  readonly nowUs: number
  /** Everything before it is stored. */
  readonly pointsKnownUs: number
  readonly exceptionsKnownUs: number
  readonly blind: readonly Blind[]
  readonly maxRunUs: number
  /** `knownUs` of an earlier evaluation; events that became known since then may start and end an alert at once. */
  readonly judgedUs: number | undefined
  readonly publicUrl: string
  /** Nodes that may hold undelivered starts, so `late` is unknown. */
  readonly silentNodes: readonly number[]
}
