// The watches and the firing alerts of all accounts as the judging node knows them. What a person or the API changed is
// read again before anything more is judged of that account.

import type { EndedByHand } from '../log/judge-interface.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { Alert } from '../storage/watch-store.ts'
import { type StoredWatch, toRules } from '../watch.ts'
import type { RuledWatch } from './to-reminder.ts'

export interface AccountBook {
  readonly watches: readonly RuledWatch[]
  readonly firing: ReadonlyMap<string, Alert>
  readonly byHand: readonly EndedByHand[]
  /** Identities of alerts that are stored and could come again without a new event. */
  readonly known: ReadonlySet<string>
}

interface OwnBook extends AccountBook {
  readonly firing: Map<string, Alert>
  readonly known: Set<string>
}

const keyOf = ({ watch, instance }: Pick<Alert, 'watch' | 'instance'>): string => `${watch} ${instance}`

export function createAlertBook(store: Pick<WatchStore, 'watches' | 'openAlerts'>) {
  const accounts = new Map<string, OwnBook>()
  const byId = new Map<string, RuledWatch>()

  function put(account: string, watches: readonly StoredWatch[], alerts: readonly Alert[]): AccountBook | undefined {
    for (const { watch } of accounts.get(account)?.watches ?? []) byId.delete(watch.id)
    if (watches.length === 0) {
      accounts.delete(account)
      return undefined
    }
    const book = {
      watches: watches.map((watch) => ({ watch, rules: toRules(watch.spec) })),
      firing: new Map(alerts.filter(isFiring).map((alert) => [keyOf(alert), alert])),
      byHand: alerts.filter((alert) => !isFiring(alert)).map(toEndedByHand),
      known: new Set([...(accounts.get(account)?.known ?? []), ...alerts.flatMap(identityOf)]),
    }
    accounts.set(account, book)
    for (const one of book.watches) byId.set(one.watch.id, one)
    return book
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
    /** Undefined: the account has no watches any more. */
    async load(account: string): Promise<AccountBook | undefined> {
      return put(account, await store.watches(account), await store.openAlerts(account))
    },
    of: (account: string): AccountBook | undefined => accounts.get(account),
    watch: (id: string): RuledWatch | undefined => byId.get(id),
    accounts: (): Iterable<string> => accounts.keys(),
    /** Alerts that fire, with their watches. */
    *firing(): Generator<[RuledWatch, Alert]> {
      for (const { firing } of accounts.values())
        for (const alert of firing.values()) {
          const one = byId.get(alert.watch)
          if (one !== undefined) yield [one, alert]
        }
    },
    find: (account: string, watch: string, instance: string): Alert | undefined =>
      accounts.get(account)?.firing.get(keyOf({ watch, instance })),
    isKnown: (watch: string, identity: string): boolean =>
      accounts.get(byId.get(watch)?.watch.account ?? '')?.known.has(`${watch} ${identity}`) ?? false,
    /** The store has one with this identity. */
    noteKnown(alert: Alert): void {
      for (const identity of identityOf(alert)) accounts.get(alert.account)?.known.add(identity)
    },
    noteFiring(alert: Alert): void {
      accounts.get(alert.account)?.firing.set(keyOf(alert), alert)
    },
    noteEnded(alert: Alert): void {
      accounts.get(alert.account)?.firing.delete(keyOf(alert))
    },
  }
}

const isFiring = ({ resolvedUs }: Alert): boolean => resolvedUs === null

const identityOf = ({ watch, identity }: Alert): string[] => (identity === null ? [] : [`${watch} ${identity}`])

const toEndedByHand = ({ watch, instance, resolvedUs, sinceUs, endedBy }: Alert): EndedByHand => ({
  ...{ watch, instance, atUs: resolvedUs ?? sinceUs, isExpired: endedBy === 'expired' },
})
