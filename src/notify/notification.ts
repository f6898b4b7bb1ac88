// Channels, and the notifications that wait for them in the outbox. Times are µs since the epoch.
import type { WebhookBody } from '../wire/alerts.ts'
import type { ChannelKind } from '../wire/channel-kinds.ts'
import type { ChannelMembers } from '../wire/channels.ts'
import type { Condition } from '../wire/conditions.ts'

/** A channel with its address and secrets; wire's `Channel` is the part that people see. */
export interface StoredChannel {
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

/** What became of notifications. `in incident`: delivered to a vendor that keeps one incident per watch. */
export type Outcome = 'delivered' | 'in incident' | 'dropped'
