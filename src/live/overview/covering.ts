// What the watches say about the processes of an account: it is current, whatever the stores do.
import type { Alert } from '../../wire/alerts.ts'
import type { Watch } from '../../wire/watches.ts'

/** What a watch says about the processes that it covers. */
export interface CoveringWatch {
  readonly shown: Watch
  covers(process: string): boolean
  /** '' = only without meta; null = any. */
  readonly meta: string | null
  /** Absent without `late`, and while it is paused. `next`: when a start is due after one at `ms`. */
  readonly late?: { readonly isSchedule: boolean; readonly graceMs: number; next(ms: number): number | undefined }
  /** Names of its channels that are notified of a late start, of a failure, of anything. */
  readonly hears: Readonly<Record<'late' | 'failed' | 'any', readonly string[]>>
}

/** What the watches say of an account. */
export interface Watched {
  /** The firing ones. */
  readonly alerts: readonly Alert[]
  readonly watches: readonly CoveringWatch[]
  readonly unjudged: number
  readonly failingChannels: number
}

interface ExpectedStart {
  readonly nextMs: number
  readonly lateMs: number
  /** By a cron expression. */
  readonly isSchedule: boolean
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
  const { isSchedule, graceMs } = late
  const nextMs = late.next(lastMs)
  return nextMs === undefined ? undefined : { nextMs, lateMs: nextMs + graceMs, isSchedule }
}
