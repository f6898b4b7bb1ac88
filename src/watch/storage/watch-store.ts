// Alerts as they are stored; channels and notifications are in notify/notification.ts. Times are µs since the epoch.
import type { LastAnswer, NewNotification } from '../../notify/notification.ts'
import type { EndedBy, WebhookBody } from '../../wire/alerts.ts'
import type { ChannelKind } from '../../wire/channel-kinds.ts'
import type { Condition } from '../../wire/conditions.ts'
import type { Episode } from '../log/episode.ts'
import type { StoredWatch } from '../watch.ts'

/** A row of the store. */
export interface StoredAlert {
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

/** The last attempt to send a notification about an alert; its channel as it was called then. */
export interface LastAttempt {
  readonly id: string
  readonly channel: { readonly id: string; readonly name: string; readonly kind: ChannelKind }
  readonly type: WebhookBody['type']
  readonly last: LastAnswer
}

export type AlertChange = { readonly notifications: readonly NewNotification[] } & (
  | {
      readonly kind: 'open'
      readonly alert: StoredAlert
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

/** Which alerts to list. */
export interface AlertSelection {
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
