// Manages an account's watches: create, change, show, delete, publish a badge.
import { Problem } from '../../problem.ts'
import { nextDueOf } from '../../process/cron.ts'
import { createMatch } from '../../process/process-pattern.ts'
import type { ChangeWatch, CreateWatch, Watch } from '../../wire/watches.ts'
import { CONDITION_NAMES, CONDITIONS } from '../conditions/conditions.ts'
import { iso } from '../conditions/wording.ts'
import { notificationsOf, toEnd } from '../engine/describe-alert.ts'
import { createId, createToken } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { AlertChange, StoredAlert } from '../storage/watch-store.ts'
import { pausedUntilUs, remindEveryUs, type StoredWatch, specFaults, toSpec, type WatchSpec } from '../watch.ts'
import { assertConditions } from './preview-watch.ts'

const WATCHES_MAX = 1000

interface ManageWatchesOptions {
  readonly store: WatchStore
  nowUs(): number
  readonly maxRunUs: number
  /** Could it not be judged recently? */
  isUnknown(watch: StoredWatch): boolean
  publicUrl(): string
  /** Called after the watches of an account changed. */
  onChanged(account: string): Promise<void>
}

/** Methods reject with Problem `not_found`, `fields_invalid`, `limit_reached`. */
export function createManageWatches({ store, nowUs, maxRunUs, isUnknown, publicUrl, onChanged }: ManageWatchesOptions) {
  async function find(account: string, id: string): Promise<StoredWatch> {
    const watch = await store.watch(account, id)
    if (watch === undefined) throw new Problem('not_found', 'The account has no watch with this id.')
    return watch
  }

  async function assertSpec(account: string, spec: WatchSpec): Promise<void> {
    const channels = new Set((await store.channels(account)).map(({ id }) => id))
    assertConditions(
      spec,
      specFaults(spec, maxRunUs, (id) => channels.has(id)),
    )
  }

  async function firingOf(account: string): Promise<Map<string, StoredAlert[]>> {
    const firing = await store.alerts(account, { state: 'firing', limit: FIRING_MAX })
    return Map.groupBy(firing, ({ watch }) => watch)
  }

  const stateOf = (watch: StoredWatch, firing: readonly StoredAlert[]): Watch['state'] => {
    if (pausedUntilUs(watch.spec) > nowUs()) return 'paused'
    if (firing.length > 0) return 'firing'
    return isUnknown(watch) ? 'unknown' : 'ok'
  }

  const answer = (watch: StoredWatch, firing: readonly StoredAlert[] = []): Watch => {
    const { id, spec, createdUs, badge } = watch
    const { channels, paused_until } = spec
    return {
      id,
      ...spec,
      channels: [...channels],
      paused_until: paused_until === null ? null : new Date(paused_until).toISOString(),
      created_at: iso(createdUs),
      next_due: nextDueOf(spec.late, nowUs()),
      state: stateOf(watch, firing),
      badge: badge === null ? null : `/badge/${badge}`,
    }
  }

  const show = async (watch: StoredWatch) => answer(watch, (await firingOf(watch.account)).get(watch.id))

  return {
    async list(account: string): Promise<Watch[]> {
      const firing = await firingOf(account)
      return (await store.watches(account)).map((watch) => answer(watch, firing.get(watch.id)))
    },
    show: async (account: string, id: string) => show(await find(account, id)),
    async create(account: string, body: CreateWatch): Promise<Watch> {
      const spec = toSpec(body)
      await assertSpec(account, spec)
      const now = nowUs()
      const watch = { id: createId('wat'), account, spec, createdUs: now, sinceUs: now, badge: null, changed: {} }
      if (!(await store.addWatch(watch, WATCHES_MAX)))
        throw new Problem('limit_reached', `An account has at most ${WATCHES_MAX} watches. Delete one first.`)
      await onChanged(account)
      return answer(watch)
    },
    /** Changes only the given members. Alerts that do not hold by the changed conditions end. */
    async change(account: string, id: string, body: ChangeWatch): Promise<Watch> {
      const watch = await find(account, id)
      const spec = toSpec({ ...asBody(watch.spec), ...body })
      await assertSpec(account, spec)
      const now = nowUs()
      const names = CONDITION_NAMES.filter((name) => differ(spec[name], watch.spec[name]))
      const isElsewhere = differ([spec.process, spec.meta], [watch.spec.process, watch.spec.meta])
      const isResumed = pausedUntilUs(watch.spec) > now && pausedUntilUs(spec) <= now
      const changed = {
        ...watch,
        spec,
        sinceUs: isElsewhere || isResumed ? now : watch.sinceUs,
        changed: { ...watch.changed, ...Object.fromEntries(names.map((name) => [name, now])) },
      }
      const isOver = (alert: StoredAlert) => !holds(alert, watch.spec, spec, now)
      const added = pausedUntilUs(spec) > now ? [] : spec.channels.filter((id) => !watch.spec.channels.includes(id))
      const notify = (alert: StoredAlert): AlertChange => {
        const context = { alert, watch: changed, summary: alert.summary, nowUs: now, publicUrl: publicUrl() }
        const notifications = notificationsOf(added, { ...context, type: 'alert.firing' })
        return { kind: 'notify', id: alert.id, notifications }
      }
      const [everyUs, beforeUs] = [remindEveryUs(spec), remindEveryUs(watch.spec)]
      /** A changed interval counts from the last notification. */
      const move = ({ id, remindUs }: StoredAlert): AlertChange[] => {
        if (everyUs === undefined || beforeUs === undefined || everyUs === beforeUs || remindUs === null) return []
        return [{ kind: 'remind', id, remindUs: Math.max(now, remindUs - beforeUs + everyUs), notifications: [] }]
      }
      await store.putWatch(changed, now, (firing) => [
        ...toEnds(firing.filter(isOver), changed, 'changed'),
        ...(added.length === 0 ? [] : firing.filter((alert) => !isOver(alert)).map(notify)),
        ...firing.flatMap(move),
      ])
      await onChanged(account)
      return show(changed)
    },
    async remove(account: string, id: string): Promise<{ readonly name: string }> {
      const watch = await find(account, id)
      await store.removeWatch(account, id, (firing) => toEnds(firing, watch, 'deleted'), nowUs())
      await onChanged(account)
      return watch.spec
    },
    async setBadge(account: string, id: string, isPublished: boolean): Promise<Watch> {
      await find(account, id)
      await store.setBadge(account, id, isPublished ? createToken() : null)
      return show(await find(account, id))
    },
    /** The watch of a badge's URL and its state; undefined for an unknown URL. */
    async badge(token: string) {
      const watch = await store.watchByBadge(token)
      if (watch === undefined) return undefined
      const firing = (await firingOf(watch.account)).get(watch.id) ?? []
      return { watch, state: stateOf(watch, firing), firing: firing.length }
    },
  }

  function toEnds(alerts: readonly StoredAlert[], watch: StoredWatch, endedBy: 'changed' | 'deleted'): AlertChange[] {
    const now = nowUs()
    return alerts.map((alert) =>
      toEnd({
        alert,
        watch,
        endedBy,
        atUs: now,
        nowUs: now,
        publicUrl: publicUrl(),
        summary: `${alert.summary}; the watch was ${endedBy}`,
      }),
    )
  }
}

const FIRING_MAX = 10_000

const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b)

/** Whether an alert fires by the changed watch as well. */
function holds(alert: StoredAlert, before: WatchSpec, after: WatchSpec, nowUs: number): boolean {
  const { condition, process } = alert
  if (after[condition] === null || !createMatch(after.process)(process)) return false
  if (after.meta !== null && after.meta !== before.meta && after.meta !== (alert.meta ?? '')) return false
  if (!differ(after[condition], before[condition])) return true
  const entry = CONDITIONS[condition]
  const ruleOf = (spec: WatchSpec) => entry.toRule(spec[condition]) as never
  return entry.stillHolds(ruleOf(after), alert, nowUs, ruleOf(before))
}

const asBody = (spec: WatchSpec): CreateWatch => ({ ...spec, channels: [...spec.channels] }) as CreateWatch
