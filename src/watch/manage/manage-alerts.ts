// Lists and dismisses an account's alerts.
import { Problem } from '../../problem.ts'
import type { Alert as AlertAnswer, AlertPage } from '../../wire/alerts.ts'
import type { Alert, WatchStore } from '../storage/watch-store.ts'

export interface ManageAlertsOptions {
  readonly store: WatchStore
  nowUs(): number
}

export type ManageAlerts = ReturnType<typeof createManageAlerts>

const time = (us: number): string => new Date(us / 1000).toISOString()
const maybeTime = (us: number | null): string | null => (us === null ? null : time(us))

export function createManageAlerts({ store, nowUs }: ManageAlertsOptions) {
  async function answer(account: string, alerts: readonly Alert[]): Promise<AlertAnswer[]> {
    const names = new Map((await store.watches(account)).map(({ id, spec }) => [id, spec.name]))
    return alerts.map(({ id, watch, condition, process, meta, uid, sinceUs, resolvedUs, notifiedUs, summary }) => ({
      id,
      watch: { id: watch, name: names.get(watch) ?? '' },
      condition,
      state: resolvedUs === null ? 'firing' : 'resolved',
      process,
      meta,
      uid,
      since: time(sinceUs),
      resolved_at: maybeTime(resolvedUs),
      notified_at: maybeTime(notifiedUs),
      summary,
    }))
  }

  return {
    /** Newest first. */
    async list(
      account: string,
      { state, limit, cursor }: { state?: 'firing' | 'resolved'; limit: number; cursor?: string },
    ): Promise<AlertPage> {
      const page = { limit: limit + 1, ...(state && { state }), ...(cursor !== undefined && { before: cursor }) }
      const found = await store.alerts(account, page)
      const alerts = await answer(account, found.slice(0, limit))
      return { alerts, next: found.length > limit ? alerts.at(-1)!.id : null }
    },
    /** The alert does not fire again for the same run or silence. Rejects with Problem `not_found`. */
    async dismiss(account: string, id: string): Promise<AlertAnswer> {
      const alert = await store.alert(account, id)
      if (alert === undefined) throw new Problem('not_found', 'The account has no alert with this id.')
      const now = nowUs()
      await store.dismiss(id, Math.max(now, alert.sinceUs + 1))
      const [dismissed] = await answer(account, [(await store.alert(account, id)) ?? alert])
      return dismissed!
    },
  }
}
