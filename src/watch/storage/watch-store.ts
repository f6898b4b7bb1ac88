// Channels, alerts and notifications as they are stored. Times are µs since the epoch.
import type { EndedBy, WebhookBody } from '../../wire/alerts.ts'
import type { ChannelKind } from '../../wire/channel-kinds.ts'
import type { ChannelMembers } from '../../wire/channels.ts'
import type { Condition } from '../../wire/conditions.ts'
import type { Episode } from '../log/episode.ts'
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
  /** What signed a webhook before its secret was replaced, and until then still does. */
  readonly former?: { readonly secret: string; readonly untilUs: number }
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

/** The last attempt to send a notification about an alert; its channel as it was called then. */
export interface SentNotification {
  readonly id: string
  readonly channel: { readonly id: string; readonly name: string; readonly kind: ChannelKind }
  readonly type: WebhookBody['type']
  readonly last: LastAnswer
}

export type AlertChange = { readonly notifications: readonly NewNotification[] } & (
  | {
      readonly kind: 'open'
      readonly alert: Alert
      /** The version of the watch that was judged. */
      readonly watchSinceUs: number
      readonly watchChanged: StoredWatch['changed']
      /** Its notifications wait so long for what `explain` brings. */
      readonly waitUs?: number
    }
  | {
      readonly kind: 'resolve'
      readonly id: string
      readonly resolvedUs: number
      readonly endedBy: EndedBy
      readonly summary: string
    }
  | { readonly kind: 'remind'; readonly id: string; readonly remindUs: number }
  /** The exception of its run arrived. */
  | { readonly kind: 'explain'; readonly id: string; readonly exception: string }
  /** Channels were added to the watch while it fires. */
  | { readonly kind: 'notify'; readonly id: string }
)

export interface AlertPage {
  readonly state?: 'firing' | 'resolved'
  readonly process?: string
  readonly limit: number
  /** The id of the last alert of the previous page. */
  readonly before?: string
}

export interface Alive {
  readonly aliveUs: number
  /** Downtimes. */
  readonly blind: readonly { readonly fromUs: number; readonly toUs: number }[]
}

/** What became of notifications. `in incident`: delivered to a vendor that keeps one incident per watch. */
export type Outcome = 'delivered' | 'in incident' | 'dropped'
