// The door to this room: builds watches, channels and alerts on watches.sqlite, evaluates and notifies.
//   start: liveness first, because it measures how long Stint was down; then evaluation and delivery.
//   stop:  evaluation → delivery (what is in flight ends) → liveness, whose last sign of life bounds the time that counts as down.
import type { Logger } from '../log.ts'
import { createDeliver } from './delivery/deliver.ts'
import { createMailer, type Mailer } from './delivery/mailer.ts'
import { createOutbox, type OutboxMeter } from './delivery/outbox.ts'
import type { Resolve } from './delivery/pinned-post.ts'
import { createEvaluator, type EvaluatorOptions } from './evaluate/evaluator.ts'
import { createLiveness } from './evaluate/liveness.ts'
import type { WatchSource } from './evaluate/watch-source.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createManageAlerts, type ManageAlerts } from './manage/manage-alerts.ts'
import { createManageChannels, type ManageChannels } from './manage/manage-channels.ts'
import { createManageWatches, type ManageWatches } from './manage/manage-watches.ts'
import { openSqliteWatchStore } from './storage/sqlite-store.ts'

export interface WatchesOptions {
  /** Where watches.sqlite is or shall be. */
  readonly path: string
  readonly source: WatchSource
  nowUs(): number
  /** Are events accepted now? */
  accepts(): boolean
  readonly oldestUnstoredUs: EvaluatorOptions['oldestUnstoredUs']
  readonly maxRunUs: number
  /** The address that people reach Stint at, without a slash at its end. */
  publicUrl(): string
  readonly smtp: { readonly url: string; readonly from: string } | undefined
  /** Notifications may go to private addresses. */
  readonly notifyPrivate: boolean
  readonly heartbeatUrl: string | undefined
  readonly resolve?: Resolve
  readonly log: Logger
  readonly meter: OutboxMeter & { round(seconds: number): void }
}

export interface WatchStats {
  readonly firing: number
  /** Accounts whose watches could not be judged lately. */
  readonly unknown: number
  readonly outbox: { readonly waiting: number; readonly oldestUs?: number }
  readonly lastRoundUs: number | undefined
}

export interface Watches {
  readonly watches: ManageWatches
  readonly channels: ManageChannels
  readonly alerts: ManageAlerts
  /** Absent without SMTP. */
  readonly mailer: Mailer | undefined
  /** Of an account, or of all. */
  stats(account?: string): Promise<WatchStats>
  /** An event of the past was accepted. */
  expectLate(account: string, atUs: number): void
  removeAccount(account: string): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
}

/** Throws an Error that tells the operator the fault of the file. */
export function openWatches(options: WatchesOptions): Watches {
  const { path, log, nowUs, maxRunUs, publicUrl, smtp, meter } = options
  const store = openSqliteWatchStore(path, log)
  const mailer = smtp && createMailer(smtp)
  const post = { allowPrivate: options.notifyPrivate, ...(options.resolve && { resolve: options.resolve }) }
  const deliver = createDeliver({ post, nowUs, ...(mailer && { mailer }) })
  const outbox = createOutbox({ store, deliver, nowUs, log, meter })
  const liveness = createLiveness({ store, nowUs, accepts: options.accepts, log })
  const evaluator = createEvaluator({
    store,
    source: options.source,
    liveness,
    nowUs,
    oldestUnstoredUs: options.oldestUnstoredUs,
    maxRunUs,
    publicUrl,
    log,
    onChanged: () => void outbox.step().catch(() => {}), // the outbox tries again every second
    onRound: meter.round,
  })
  const { heartbeatUrl } = options
  const heartbeat =
    heartbeatUrl === undefined
      ? undefined
      : createHeartbeat({
          url: heartbeatUrl,
          post: { ...post, allowPrivate: true }, // the operator chose it
          nowUs,
          lastRoundUs: evaluator.lastRoundUs,
          log,
        })

  return {
    watches: createManageWatches({
      store,
      nowUs,
      maxRunUs,
      isUnknown: (account) => evaluator.unknownSinceUs(account) !== undefined,
      onChanged: evaluator.hurry,
    }),
    channels: createManageChannels({
      store,
      deliver,
      mailer,
      publicUrl,
      nowUs,
      hash: (secret) => Bun.SHA256.hash(secret, 'hex'),
    }),
    alerts: createManageAlerts({ store, nowUs }),
    mailer,
    async stats(account) {
      const firing = await store.countFiring(account)
      return {
        firing: [...firing.values()].reduce((sum, n) => sum + n, 0),
        unknown:
          account === undefined ? evaluator.countUnknown() : Number(evaluator.unknownSinceUs(account) !== undefined),
        outbox: await store.outbox(),
        lastRoundUs: evaluator.lastRoundUs(),
      }
    },
    expectLate: evaluator.expectLate,
    removeAccount: store.removeAccount,
    async start() {
      await liveness.start()
      evaluator.start()
      outbox.start()
      heartbeat?.start()
    },
    async stop() {
      heartbeat?.stop()
      await evaluator.stop()
      await outbox.stop()
      await liveness.stop()
      mailer?.close()
    },
    close: store.close,
  }
}
