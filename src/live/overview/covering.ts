// What the watches say about the processes of an account: it is current, whatever the stores do.
import type { Alert } from '../../wire/alerts.ts'
import type { Watch } from '../../wire/watches.ts'

/** What a watch says about the processes that it covers. */
export interface CoveringWatch {
  readonly shown: Watch
  covers(process: string): boolean
  /** '' = only without meta; null = any. */
  readonly meta: string | null
  /** Absent without `late`, and while it is paused. `next` is the time of the first start that is due after `ms`. */
  readonly late?: { readonly everyMs?: number; readonly graceMs: number; next(ms: number): number | undefined }
  readonly hearsLate: boolean
  readonly hearsFailed: boolean
  /** Names of its channels. */
  readonly channels: readonly string[]
}

/** What the watches say of an account. */
export interface Watched {
  /** Those that fire. */
  readonly alerts: readonly Alert[]
  readonly watches: readonly CoveringWatch[]
  readonly unjudged: number
  readonly failingChannels: number
}

/** When a start is due, and late. */
export interface ExpectedStart {
  readonly nextMs: number
  readonly lateMs: number
  readonly everyMs: number | undefined
}

interface Started {
  readonly meta: string | null
  readonly lastStartUs: number | undefined
}

/** When the next start is due by the watch; undefined without `late`, and before the first start. */
export function dueBy({ late, meta }: CoveringWatch, metas: readonly Started[]): ExpectedStart | undefined {
  const own = metas.filter((one) => meta === null || (one.meta ?? '') === meta)
  const lastMs = Math.max(...own.map(({ lastStartUs }) => (lastStartUs ?? Number.NEGATIVE_INFINITY) / 1000))
  if (late === undefined || !Number.isFinite(lastMs)) return undefined
  // a start within the grace before its time is that start
  const nextMs = late.everyMs === undefined ? late.next(lastMs + late.graceMs) : lastMs + late.everyMs
  return nextMs === undefined ? undefined : { nextMs, lateMs: nextMs + late.graceMs, everyMs: late.everyMs }
}
