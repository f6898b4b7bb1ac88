// One kind of channel: how often it may be sent to, and the request that its vendor documents. Each
// file of this folder is one kind; kinds.ts is the table of all. How a kind is addressed, and which parts of that are
// secret, is declared in wire/channel-kinds.ts, so that no kind can return its secrets.
import type { Fault } from '../../problem.ts'
import type { ChannelMember } from '../../wire/channel-kinds.ts'
import type { Mailer } from '../delivery/mailer.ts'
import type { Rate } from '../delivery/tokens.ts'
import type { NotificationBody, StoredChannel } from '../notification.ts'

export interface Message {
  readonly channel: StoredChannel
  /** The same for every attempt. */
  readonly id: string
  /** At least one; several are a digest. */
  readonly bodies: readonly NotificationBody[]
  /** Do alerts of its watch fire that this channel was notified of? Only with `grouping: 'watch'`. */
  readonly isStillFiring: boolean
}

interface Ways {
  /** Resolves to the answer of a 2xx; rejects with DeliveryError otherwise. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string>
  /** Absent: no SMTP_URL is set. */
  readonly mailer: Mailer | undefined
  readonly nowUs: number
  readonly publicUrl: string
}

export interface ChannelKindSender {
  /** Messages: a burst, then one per number of seconds. */
  readonly rate: Rate
  /**
   * `each`: every notification is a message. `digest`: several waiting ones are one message. `watch`: all waiting
   * ones of a watch are one message, because the vendor keeps one incident per watch.
   */
  readonly grouping: 'each' | 'digest' | 'watch'
  /** So many messages are under way at once, each of another alert; absent: one. */
  readonly atOnce?: number
  /** What the schema of its members cannot express. */
  faults?(channel: StoredChannel): Fault[]
  /** Resolves to the receiver's answer, or rejects with DeliveryError. */
  send(message: Message, ways: Ways): Promise<string>
}

/** A member of the channel that its schema requires. */
export function memberOf({ settings }: StoredChannel, name: ChannelMember): string {
  const value = settings.members[name]
  return typeof value === 'string' ? value : ''
}

export const JSON_TYPE = { 'content-type': 'application/json' }
/** For people, who want no flood. */
export const PEOPLE = { rate: { burst: 10, everyS: 30 }, grouping: 'digest' } as const

export const isFiring = (bodies: readonly NotificationBody[]): boolean =>
  bodies.some(({ type }) => type === 'alert.firing' || type === 'alert.reminder')
