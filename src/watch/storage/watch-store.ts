// The durable state of this room, as an interface for both databases. Invariants:
// * The state of an alert and the notifications about it change in one transaction.
// * A notification leaves the outbox in the transaction that records its delivery; its fixed id reveals repetitions.
// Times are µs since the epoch. If the database fails, methods reject without an effect.
import type { EndedBy, WebhookBody } from '../../wire/alerts.ts'
import type { ChannelKind } from '../../wire/channel-kinds.ts'
import type { ChannelMembers } from '../../wire/channels.ts'
import type { Condition } from '../../wire/conditions.ts'
import type { Maintenance } from '../maintenance.ts'
import type { Blind, Episode, Rewind } from '../rules/episode.ts'
import type { StoredWatch } from '../watch.ts'

export interface Channel {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly kind: ChannelKind
  /** The URL, or the e-mail address. */
  readonly target: string
  /** Signs a webhook. */
  readonly secret: string | null
  readonly state: 'ok' | 'pending' | 'disabled'
  /** SHA-256 of the token that confirms it. */
  readonly confirm: string | null
  readonly last: LastAnswer | null
  readonly settings: ChannelSettings
  readonly createdUs: number
}

export interface ChannelSettings {
  /** Members of the request that belong to its kind, besides the target; credentials among them. */
  readonly members: ChannelMembers
  /** Only alerts of these conditions; null = all. */
  readonly conditions: readonly Condition[] | null
  /** Without the ends of alerts. */
  readonly only_firing: boolean
  /** Notified only of alerts that still fire after this span. */
  readonly delay: string | null
}

export interface LastAnswer {
  readonly atUs: number
  readonly ok: boolean
  readonly detail: string
}

export interface Alert {
  readonly id: string
  readonly account: string
  readonly watch: string
  /** The subject within the watch: two alerts of one instance never fire at the same time. */
  readonly instance: string
  readonly condition: Condition
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  /** The start of the run that it is about. */
  readonly startedUs: number | null
  readonly sinceUs: number
  readonly resolvedUs: number | null
  readonly notifiedUs: number | null
  /** When to remind next. */
  readonly remindUs: number | null
  readonly summary: string
  /** The subject, once per watch: instance with due time, run or failure. Null only for alerts of earlier versions. */
  readonly identity: string | null
  /** Null while it fires, and for alerts that an earlier version ended. */
  readonly endedBy: EndedBy | null
  /** As it was judged when it fired; null for alerts of earlier versions. */
  readonly episode: Episode | null
  /** The channels that its firing was sent to, which are notified of its end; null: unknown. */
  readonly channels: readonly string[] | null
  /** Who acknowledged it: an address or the name of a key. */
  readonly acked: { readonly by: string; readonly atUs: number } | null
}

/** The content of a notification: the body for webhooks, and more for people. */
export interface NotificationBody extends WebhookBody {
  readonly facts: readonly (readonly [label: string, value: string])[]
}

export interface NewNotification {
  readonly id: string
  readonly channel: string
  readonly body: NotificationBody
}

export interface Notification extends NewNotification {
  readonly seq: number
  readonly account: string
  readonly alert: string | null
  readonly createdUs: number
  readonly nextUs: number
  readonly attempts: number
  /** The delay of its channel, or a maintenance, was not over when it was read. */
  readonly isHeld: boolean
}

export type AlertChange = { readonly notifications: readonly NewNotification[] } & (
  | {
      readonly kind: 'open'
      readonly alert: Alert
      /** The version of the watch that was judged. */
      readonly watchSinceUs: number
      readonly watchChanged: StoredWatch['changed']
    }
  | {
      readonly kind: 'resolve'
      readonly id: string
      readonly resolvedUs: number
      readonly endedBy: EndedBy
      readonly summary: string
    }
  | { readonly kind: 'remind'; readonly id: string; readonly remindUs: number }
  /** Channels were added to the watch while it fires. */
  | { readonly kind: 'notify'; readonly id: string }
)

export interface AlertPage {
  readonly state?: 'firing' | 'resolved'
  readonly limit: number
  /** The id of the last alert of the previous page. */
  readonly before?: string
}

export interface Alive {
  readonly aliveUs: number
  readonly blind: readonly Blind[]
  /** The times that the clock was set back. */
  readonly rewinds: readonly Rewind[]
}

/** The watches of an account could not be judged for long. */
export interface UnjudgedNotice {
  readonly id: string
  readonly account: string
  readonly sinceUs: number
  /** What the channels were notified of, by their ids. */
  readonly channels: Readonly<Record<string, { readonly sinceUs: number; readonly watches: readonly string[] }>>
}

/** What became of notifications. `in incident`: delivered to a vendor that keeps one incident per watch. */
export type Outcome = 'delivered' | 'in incident' | 'dropped'

/** The changes of a watch's firing alerts, within the transaction that changes it. */
type ToChanges = (firing: readonly Alert[]) => readonly AlertChange[]

export interface WatchStore {
  watches(account?: string): Promise<StoredWatch[]>
  watch(account: string, id: string): Promise<StoredWatch | undefined>
  watchByBadge(badge: string): Promise<StoredWatch | undefined>
  /** False when the account has `max` watches. */
  addWatch(watch: StoredWatch, max: number): Promise<boolean>
  /** All but its badge. */
  putWatch(watch: StoredWatch, nowUs: number, toChanges?: ToChanges): Promise<void>
  setBadge(account: string, id: string, badge: string | null): Promise<void>
  /** Ends those of its alerts that fire. Its alerts stay in the list until they are pruned. */
  removeWatch(account: string, id: string, toEnds: ToChanges, nowUs: number): Promise<boolean>
  /** The names of an account's watches, of deleted ones too. */
  watchNames(account: string): Promise<ReadonlyMap<string, string>>

  channels(account: string): Promise<Channel[]>
  channel(id: string): Promise<Channel | undefined>
  addChannel(channel: Channel, max: number): Promise<boolean>
  /** What waits for it is dropped unless its state is `ok`. */
  putChannel(channel: Channel): Promise<void>
  /** Removes it from the watches that use it, too. */
  removeChannel(account: string, id: string): Promise<boolean>
  /** The pending channel with this hash. */
  channelToConfirm(confirm: string): Promise<Channel | undefined>
  /** Returns the confirmed channel; it is notified of alerts that already fire. */
  confirmChannel(
    confirm: string,
    nowUs: number,
    toBody: (watch: StoredWatch, alert: Alert) => NotificationBody,
  ): Promise<Channel | undefined>

  /** Newest first. */
  alerts(account: string, page: AlertPage): Promise<Alert[]>
  alert(account: string, id: string): Promise<Alert | undefined>
  /** Null undoes it. No effect on an alert that does not fire, or is acknowledged already. */
  acknowledge(account: string, id: string, acked: Alert['acked'], nowUs: number): Promise<void>
  /** Alerts that fire, resolved after `resolvedSinceUs`, or ended without their own event; the newest if very many. */
  recentAlerts(account: string, resolvedSinceUs: number): Promise<Alert[]>
  countFiring(account?: string): Promise<Map<string, number>>
  /** Omits outdated changes: their watch was changed, or their alert is resolved. */
  commit(changes: readonly AlertChange[], judged: ReadonlyMap<string, number>, nowUs: number): Promise<void>
  judged(): Promise<Map<string, number>>

  /**
   * By channel and order of creation, at most `limit`, with a fair share per channel. A notification that waits for its
   * retry holds back the later ones of its alert and channel.
   */
  due(nowUs: number, limit: number): Promise<Notification[]>
  /** Removes notifications that were delivered or given up, and records the channel's last answer and state. */
  /** Those of them, all of one channel and held back, that may be sent now; the others wait on. */
  release(channel: Channel, rows: readonly Notification[], nowUs: number): Promise<Notification[]>
  settle(
    done: readonly Notification[],
    channel: Pick<Channel, 'id'> & Partial<Channel>,
    nowUs: number,
    outcome: Outcome,
  ): Promise<void>
  /** Later notifications of their alerts do not wait for refused ones. */
  postpone(
    waiting: readonly Notification[],
    nextUs: number,
    last: LastAnswer | undefined,
    isRefused: boolean,
  ): Promise<void>
  /** Does an alert of the watch fire that the channel was notified of by an incident, or is by these notifications? */
  isStillFiring(channel: string, watch: string, rows: readonly Notification[]): Promise<boolean>
  outbox(): Promise<{ readonly waiting: number; readonly oldestUs?: number }>

  /** Accounts with watches that are not judged: all, or one. */
  unjudged(account?: string): Promise<UnjudgedNotice[]>
  /** Begins a notice unless the account has one, and notifies those channels that do not know of it yet. */
  noteUnjudged(
    notice: Omit<UnjudgedNotice, 'channels'>,
    notifications: readonly NewNotification[],
    nowUs: number,
  ): Promise<UnjudgedNotice>
  /** Ends the account's notice; only channels that know of it are notified. */
  noteJudged(account: string, notifications: readonly NewNotification[], nowUs: number): Promise<void>

  maintenances(account: string): Promise<Maintenance[]>
  /** False when the account has `max` of them. */
  addMaintenance(maintenance: Maintenance, max: number): Promise<boolean>
  /** False if it does not exist. What it held back may be sent from `nowUs` on. */
  putMaintenance(maintenance: Maintenance, nowUs: number): Promise<boolean>
  removeMaintenance(account: string, id: string, nowUs: number): Promise<boolean>

  alive(): Promise<Alive>
  noteAlive(alive: Alive): Promise<void>
  removeAccount(account: string): Promise<void>
  /** Deletes alerts that resolved before that time, and other rows that are no longer needed. */
  prune(beforeUs: number): Promise<void>
  close(): Promise<void>
}
