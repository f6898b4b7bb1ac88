// Lists an account's alerts and the checks that cannot be judged; acknowledges alerts and resolves them by hand.
import { Problem } from '../../problem.ts'
import type { Alert, AlertPage, Unjudged } from '../../wire/alerts.ts'
import { iso } from '../conditions/wording.ts'
import { pathOf, toEnd } from '../engine/describe-alert.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { StoredAlert } from '../storage/watch-store.ts'

interface ManageAlertsOptions {
  readonly store: WatchStore
  nowUs(): number
  publicUrl(): string
  /** `process`: only of this one. */
  unjudged(account: string, process?: string): Promise<Unjudged[]>
  /** Called after alerts of an account changed. */
  onChanged(account: string): void
}

interface ListAlerts {
  readonly state?: 'firing' | 'resolved'
  readonly process?: string
  readonly limit: number
  readonly cursor?: string
}

const maybeTime = (us: number | null): string | null => (us === null ? null : iso(us))

const ended = () => new Problem('alert_ended', 'Only an alert that still fires can be acknowledged.')

/** Of one that is deleted nothing is kept that could tell it from an unknown one. */
const NO_ALERT = 'The account has no alert with this id, or the alert ended more than 90 days ago and was deleted.'

/** Methods that name an alert reject with Problem `not_found`, `acknowledge` also with `alert_ended`. */
export function createManageAlerts({ store, nowUs, publicUrl, unjudged, onChanged }: ManageAlertsOptions) {
  async function answer(account: string, alerts: readonly StoredAlert[]): Promise<Alert[]> {
    const names = await store.watchNames(account)
    return alerts.map((alert) => ({
      id: alert.id,
      watch: { id: alert.watch, name: names.get(alert.watch) ?? '' },
      condition: alert.condition,
      state: alert.resolvedUs === null ? 'firing' : 'resolved',
      process: alert.process,
      meta: alert.meta,
      uid: alert.uid,
      started_at: maybeTime(alert.startedUs),
      since: iso(alert.sinceUs),
      resolved_at: maybeTime(alert.resolvedUs),
      ended_by: alert.endedBy,
      notified_at: maybeTime(alert.notifiedUs),
      acknowledged: alert.acked && { by: alert.acked.by, at: iso(alert.acked.atUs) },
      summary: alert.summary,
      path: pathOf(alert),
    }))
  }

  async function find(account: string, id: string): Promise<StoredAlert> {
    const alert = await store.alert(account, id)
    if (alert === undefined) throw new Problem('not_found', NO_ALERT)
    return alert
  }

  async function show(account: string, id: string): Promise<Alert> {
    const [shown] = await answer(account, [await find(account, id)])
    return shown!
  }

  async function acknowledge(account: string, id: string, by: string | null): Promise<Alert> {
    const { resolvedUs } = await find(account, id)
    if (by !== null && resolvedUs !== null) throw ended()
    const now = nowUs()
    await store.acknowledge(account, id, by === null ? null : { by, atUs: now }, now)
    onChanged(account)
    const shown = await show(account, id)
    if (by !== null && shown.acknowledged === null && shown.state === 'resolved') throw ended() // meanwhile
    return shown
  }

  return {
    find,
    answer,
    /** Newest first. */
    async list(account: string, { limit, cursor, ...filter }: ListAlerts): Promise<AlertPage> {
      const page = { ...filter, limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
      const found = await store.alerts(account, page)
      const alerts = await answer(account, found.slice(0, limit))
      const next = found.length > limit ? alerts.at(-1)!.id : null
      return { alerts, next, unjudged: cursor === undefined ? await unjudged(account, filter.process) : [] }
    },
    /** `by`: the person or key. Reminders and delayed channels are silent from then on. */
    acknowledge: (account: string, id: string, by: string) => acknowledge(account, id, by),
    undoAcknowledge: (account: string, id: string) => acknowledge(account, id, null),
    /** It does not fire again for the same due time, run or failure. */
    async resolve(account: string, id: string, by: string): Promise<Alert> {
      const alert = await find(account, id)
      const watch = await store.watch(account, alert.watch)
      if (alert.resolvedUs === null && watch !== undefined) {
        const now = nowUs()
        const context = { alert, watch, nowUs: now, publicUrl: publicUrl() }
        const summary = `${alert.summary}; resolved by ${by}`
        const atUs = Math.max(now, alert.sinceUs + 1)
        await store.commit([toEnd({ ...context, endedBy: 'person', atUs, summary })], now)
        onChanged(account)
      }
      return show(account, id)
    },
  }
}
