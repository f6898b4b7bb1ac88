// The watches and the firing alerts of all accounts as the judging node knows them: it turns what the judge found, and
// reminders that are due, into what is stored. What a person or the API changed is read again before anything more is
// judged of that account.

import type { Change, EndedByHand } from '../log/judge-interface.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { AlertChange, StoredAlert } from '../storage/watch-store.ts'
import { pausedUntilUs, type StoredWatch } from '../watch.ts'
import { type Moment, toEndOf, toOpen } from './describe-alert.ts'
import { toReminder } from './to-reminder.ts'

interface AccountBook {
  readonly watches: readonly StoredWatch[]
  readonly firing: ReadonlyMap<string, StoredAlert>
  readonly byHand: readonly EndedByHand[]
  /** Identities of alerts that are stored and could come again without a new event. */
  readonly known: ReadonlySet<string>
}

interface OwnBook extends AccountBook {
  readonly firing: Map<string, StoredAlert>
  readonly known: Set<string>
}

const keyOf = ({ watch, instance }: Pick<StoredAlert, 'watch' | 'instance'>): string => `${watch} ${instance}`

export function createAlertBook(store: Pick<WatchStore, 'watches' | 'openAlerts'>) {
  const accounts = new Map<string, OwnBook>()
  const byId = new Map<string, StoredWatch>()

  function put(account: string, watches: readonly StoredWatch[], alerts: readonly StoredAlert[]): void {
    for (const { id } of accounts.get(account)?.watches ?? []) byId.delete(id)
    if (watches.length === 0) {
      accounts.delete(account)
      return
    }
    accounts.set(account, {
      watches,
      firing: new Map(alerts.filter(isFiring).map((alert) => [keyOf(alert), alert])),
      byHand: alerts.filter((alert) => !isFiring(alert)).map(toEndedByHand),
      known: new Set([...(accounts.get(account)?.known ?? []), ...alerts.flatMap(identityOf)]),
    })
    for (const watch of watches) byId.set(watch.id, watch)
  }

  return {
    /** Reads every account; returns those with watches. */
    async loadAll(): Promise<string[]> {
      const [watches, alerts] = [await store.watches(), await store.openAlerts()]
      const alertsOf = Map.groupBy(alerts, ({ account }) => account)
      const listed = Map.groupBy(watches, ({ account }) => account)
      for (const [account, own] of listed) put(account, own, alertsOf.get(account) ?? [])
      return [...listed.keys()]
    },
    async load(account: string): Promise<void> {
      put(account, await store.watches(account), await store.openAlerts(account))
    },
    /** Undefined: it has no watches. */
    of: (account: string): AccountBook | undefined => accounts.get(account),
    accounts: (): Iterable<string> => accounts.keys(),
    isKnown: (watch: string, identity: string): boolean =>
      accounts.get(byId.get(watch)?.account ?? '')?.known.has(`${watch} ${identity}`) ?? false,
    /** The store has one with this identity. */
    noteKnown(alert: StoredAlert): void {
      for (const identity of identityOf(alert)) accounts.get(alert.account)?.known.add(identity)
    },
    /** What the judge found, as it is stored; nothing if its watch or alert is gone. */
    apply(change: Change, moment: Moment): AlertChange[] {
      const { account, alert: judged, facts } = change
      const watch = byId.get(judged.watch)
      if (watch === undefined) return []
      const firing = accounts.get(account)?.firing
      if (change.kind === 'open') {
        const opened = toOpen(change, watch, moment)
        if (isFiring(opened.alert)) firing?.set(keyOf(opened.alert), opened.alert)
        return [opened]
      }
      const alert = firing?.get(keyOf(judged))
      if (alert === undefined) return []
      if (change.kind === 'end') {
        firing?.delete(keyOf(alert))
        return [toEndOf(change, alert, watch, moment)]
      }
      const { exception } = facts
      return exception === undefined ? [] : [{ kind: 'explain', id: alert.id, exception, notifications: [] }]
    },
    /** The reminders that are due. `isHeld`: nobody is reminded of the account's alerts. */
    remind(moment: Moment, isHeld: (account: string) => boolean): AlertChange[] {
      const reminders: AlertChange[] = []
      for (const { firing } of accounts.values())
        for (const [key, alert] of firing) {
          const watch = byId.get(alert.watch)
          if (watch === undefined || pausedUntilUs(watch.spec) > moment.nowUs || isHeld(alert.account)) continue
          const reminder = toReminder(watch, alert, moment)
          if (reminder === undefined) continue
          firing.set(key, { ...alert, remindUs: reminder.remindUs })
          reminders.push(reminder)
        }
      return reminders
    },
  }
}

const isFiring = ({ resolvedUs }: StoredAlert): boolean => resolvedUs === null

const identityOf = ({ watch, identity }: StoredAlert): string[] => (identity === null ? [] : [`${watch} ${identity}`])

const toEndedByHand = ({ watch, instance, resolvedUs, sinceUs, endedBy }: StoredAlert): EndedByHand => ({
  watch,
  instance,
  atUs: resolvedUs ?? sinceUs,
  isExpired: endedBy === 'expired',
})
