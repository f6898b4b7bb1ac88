// Delivers notifications from the outbox: at least once, with the same id at each attempt, for 24 hours. Invariants:
// * One delivery per channel at a time, of a webhook up to eight of different alerts; a slow receiver does not delay
//   other channels: the channels take turns.
// * The notifications of one alert reach a channel in order: "firing" is never the last one after "resolved".
// * A notification leaves the outbox only after its receiver accepted it, after 24 hours, or when its channel is
//   deleted, disabled or to be confirmed again.
// * People get one digest if more than 5 wait or the channel's rate limit is exhausted; webhooks get everything.
import type { Logger } from '../../log.ts'
import { KINDS } from '../channels/kinds.ts'
import type { LastAnswer, Notification, Outcome, StoredChannel } from '../notification.ts'
import type { CompleteBody } from './complete-body.ts'
import type { Deliver } from './deliver.ts'
import { DeliveryError } from './delivery-error.ts'
import { createTokens } from './tokens.ts'

const STEP_MS = 1000
const DUE_ROWS = 2000
const CHANNELS_AT_ONCE = 16
/** After this time a channel begins no further message in its turn. */
const TURN_US = 10e6
const DIGEST_OVER = 5
const GIVE_UP_AFTER_US = 24 * 3_600e6
const BACKOFF_S = [5, 15, 30, 60, 120, 300, 600, 1800, 3600]
const MAX_WAIT_S = 3600

/** E-mails per account, over all of its channels: all accounts share the mail server's reputation. */
const ACCOUNT_EMAILS = { burst: 60, everyS: 60 }

/** The outbox, which is in the store of the watches: an alert and its notifications are one transaction. */
interface OutboxStore {
  /** The channels that something is due for. */
  dueChannels(nowUs: number): Promise<string[]>
  channel(id: string): Promise<StoredChannel | undefined>
  /** The oldest due for a channel, in order of creation, without those that wait for the retry of an earlier one. */
  due(channel: string, nowUs: number, limit: number): Promise<Notification[]>
  /** Those of them, held back, that may be sent now. */
  release(channel: StoredChannel, rows: readonly Notification[], nowUs: number): Promise<Notification[]>
  /** Does an alert of the watch fire of which an incident, or one of these notifications, told the channel? */
  isStillFiring(channel: string, watch: string, rows: readonly Notification[]): Promise<boolean>
  /** Removes notifications that were delivered or given up, and records the channel's last answer and state. */
  settle(
    done: readonly Notification[],
    changed: Pick<StoredChannel, 'id'> & Partial<StoredChannel>,
    nowUs: number,
    outcome: Outcome,
  ): Promise<void>
  /** Later notifications of their alerts do not wait for refused ones. */
  postpone(
    rows: readonly Notification[],
    nextUs: number,
    last: LastAnswer | undefined,
    isRefused: boolean,
  ): Promise<void>
}

export interface OutboxMeter {
  delivered(kind: StoredChannel['kind'], account: string): void
  failed(kind: StoredChannel['kind']): void
  /** From the creation of a notification to its delivery. */
  seconds(s: number): void
  /** From the time since which an alert fires to the delivery of its first notification. */
  alertSeconds(s: number): void
}

export interface OutboxOptions {
  readonly store: OutboxStore
  readonly deliver: Deliver
  /** Adds what is looked up when it is sent. Absent: nothing. */
  readonly complete?: CompleteBody
  nowUs(): number
  /** Its notifications wait: it is suspended, or whose it is has not been chosen yet. Absent = of none. */
  isHeld?(account: string): boolean
  /** Checked before each message: false if another node may be delivering. Absent = always true. */
  mayDeliver?(): boolean
  readonly log: Logger
  /** Called when the database fails. */
  onFault?(err: unknown, message: string): void
  readonly meter: OutboxMeter
}

export function createOutbox(options: OutboxOptions) {
  const { store, deliver, nowUs, log, meter } = options
  const { complete = async (_, body) => body } = options
  const onFault = options.onFault ?? ((err, message) => log.error({ err }, message))
  const inFlight = new Map<string, Promise<void>>()
  /** Per channel with due notifications the number of its last turn; it advances when a delivery starts or ends. */
  const turns = new Map<string, number>()
  let turn = 0
  const tokens = createTokens(nowUs)
  let timer: Timer | undefined
  let isStopping = false

  async function send(channel: StoredChannel, rows: readonly Notification[]): Promise<boolean> {
    const [first] = rows
    const isIncident = KINDS[channel.kind].grouping === 'watch'
    const watch = first!.body.data.watch.id
    try {
      const isWebhook = channel.kind === 'webhook'
      const bodies = await Promise.all(
        rows.map(({ body }) => (rows.length > 1 ? body : complete(channel.account, body, isWebhook))),
      )
      const isStillFiring = isIncident && (await store.isStillFiring(channel.id, watch, rows))
      const detail = await deliver({ channel, id: first!.id, bodies, isStillFiring })
      const now = nowUs()
      const last = { atUs: now, ok: true, detail }
      await store.settle(rows, { id: channel.id, last }, now, isIncident ? 'in incident' : 'delivered')
      meter.delivered(channel.kind, channel.account)
      for (const { createdUs, body } of rows) {
        meter.seconds((now - createdUs) / 1e6)
        if (body.type === 'alert.firing') meter.alertSeconds(now / 1e6 - Date.parse(body.data.since) / 1e3)
      }
      return true
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      meter.failed(channel.kind)
      const last = { atUs: nowUs(), ok: false, detail: error.message }
      const { isGone, isPermanent, isRefused = false, retryAfterS = 0 } = error.reason
      if (isGone || isPermanent) {
        if (isGone) log.warn({ channel: channel.id }, 'channel disabled: its receiver answered 410')
        else log.warn({ channel: channel.id, notifications: rows.length }, 'notifications dropped: refused for good')
        const changed = { id: channel.id, last, ...(isGone && { state: 'disabled' as const }) }
        await store.settle(rows, changed, last.atUs, 'dropped')
        return false
      }
      const waitS = BACKOFF_S[Math.min(first!.attempts, BACKOFF_S.length - 1)]!
      await store.postpone(rows, nowUs() + Math.max(waitS, Math.min(retryAfterS, MAX_WAIT_S)) * 1e6, last, isRefused)
      return false
    }
  }

  async function giveUp(channel: StoredChannel, rows: readonly Notification[]): Promise<void> {
    log.warn({ channel: channel.id, notifications: rows.length }, 'notifications dropped: not delivered within 24 h')
    const detail = `Given up after 24 h. ${channel.last?.detail ?? ''}`.trim()
    await store.settle(rows, { id: channel.id, last: { atUs: nowUs(), ok: false, detail } }, nowUs(), 'dropped')
  }

  const mayEmail = (channel: StoredChannel) =>
    channel.kind !== 'email' || tokens.take(`account ${channel.account}`, ACCOUNT_EMAILS)

  /** Groups the waiting notifications: each list is one message. */
  function toMessages(channel: StoredChannel, rows: readonly Notification[]): Notification[][] {
    const { rate, grouping } = KINDS[channel.kind]
    if (grouping === 'watch') return [...Map.groupBy(rows, ({ body: { data } }) => data.watch.id).values()]
    const isMany = rows.length > DIGEST_OVER || tokens.left(channel.id, rate) < rows.length
    return grouping === 'digest' && isMany ? [[...rows]] : rows.map((row) => [row])
  }

  async function released(channel: StoredChannel, rows: readonly Notification[]): Promise<Notification[]> {
    const held = rows.filter(({ isHeld }) => isHeld)
    const ready = held.length === 0 ? [] : await store.release(channel, held, nowUs())
    return rows.flatMap((row) => (row.isHeld ? (ready.find(({ seq }) => seq === row.seq) ?? []) : row))
  }

  /** What the channel may be sent now: a backlog of thousands is not read again and again. */
  async function dueFor({ id, kind }: StoredChannel): Promise<Notification[]> {
    const { rate, grouping } = KINDS[kind]
    const left = tokens.left(id, rate)
    return left === 0 ? [] : store.due(id, nowUs(), grouping === 'each' ? left : DUE_ROWS)
  }

  async function deliverTo(id: string): Promise<void> {
    const channel = await store.channel(id)
    if (channel === undefined || options.isHeld?.(channel.account)) return
    const rows = await dueFor(channel)
    const untilUs = nowUs() + TURN_US
    const old = rows.filter(({ createdUs, isHeld }) => !isHeld && nowUs() - createdUs > GIVE_UP_AFTER_US)
    if (old.length > 0) await giveUp(channel, old)
    const ready = await released(
      channel,
      rows.filter((row) => !old.includes(row)),
    )
    const { rate, atOnce = 1 } = KINDS[channel.kind]
    const messages = toMessages(channel, ready)
    const waiting = atOnce === 1 ? [messages] : byAlert(messages)
    let isOver = false
    const sendOne = async (message: Notification[]) => {
      isOver ||= isStopping || nowUs() > untilUs || options.mayDeliver?.() === false
      isOver ||= !tokens.take(id, rate) || !mayEmail(channel)
      // when one fails, the others would probably fail, too: they wait for the next step
      isOver ||= !(await send(channel, message))
    }
    const sendNext = async () => {
      for (let own = waiting.shift(); own !== undefined && !isOver; own = waiting.shift())
        for (const message of own) if (!isOver) await sendOne(message)
    }
    // a receiver whose last answer was no 2xx is asked with one
    const [first] = waiting[0] ?? []
    if (first !== undefined && channel.last?.ok !== true) {
      await sendOne(first)
      waiting[0]!.shift()
    }
    await Promise.all(Array.from({ length: atOnce }, sendNext))
  }

  /** Those of one alert stay in order. */
  const byAlert = (messages: readonly Notification[][]): Notification[][][] => [
    ...Map.groupBy(messages, ([first]) => first!.alert ?? first!.id).values(),
  ]

  async function step(): Promise<void> {
    const due = await store.dueChannels(nowUs())
    for (const channel of turns.keys()) if (!due.includes(channel) && !inFlight.has(channel)) turns.delete(channel)
    const lastTurn = (channel: string) => turns.get(channel) ?? 0
    for (const channel of due.sort((a, b) => lastTurn(a) - lastTurn(b))) {
      if (inFlight.has(channel) || inFlight.size >= CHANNELS_AT_ONCE) continue
      turns.set(channel, ++turn)
      const delivery = deliverTo(channel)
        .catch((err: unknown) => onFault(err, `notifications to ${channel} could not be delivered; retrying`))
        .finally(() => {
          inFlight.delete(channel)
          turns.set(channel, ++turn)
        })
      inFlight.set(channel, delivery)
    }
    await Promise.all(inFlight.values())
  }

  const safeStep = () =>
    void step().catch((err: unknown) => onFault(err, 'the outbox of notifications could not be read; retrying'))

  return {
    /** Delivers what is due; resolves when these deliveries have ended. */
    step,
    start(): void {
      timer = setInterval(safeStep, STEP_MS)
    },
    /** Resolves when nothing is in flight. */
    async stop(): Promise<void> {
      isStopping = true
      clearInterval(timer)
      await Promise.all(inFlight.values())
    },
  }
}
