// The interface of this room: watches, channels and alerts. With watches.sqlite this node judges and notifies from
// start to stop; with PostgreSQL the node that holds the lease does, and all others hand their events over.

import { existsSync } from 'node:fs'
import { type CompleteBodyDeps, createCompleteBody } from '../notify/delivery/complete-body.ts'
import { createDeliver } from '../notify/delivery/deliver.ts'
import { createMailer } from '../notify/delivery/mailer.ts'
import type { OutboxMeter } from '../notify/delivery/outbox.ts'
import type { Resolve } from '../notify/delivery/pinned-post.ts'
import { createRepeatMails } from '../notify/delivery/repeat-mails.ts'
import { Problem } from '../problem.ts'
import type { Secret } from '../secret.ts'
import { openPostgres } from '../state/postgres.ts'
import { createHeartbeat } from './heartbeat.ts'
import { applyRecord, type IsIgnored } from './log/apply-record.ts'
import { createConfirmationMails } from './manage/confirmation-mails.ts'
import { findUnjudged, isBehind, isUnknown } from './manage/find-unjudged.ts'
import { createManageAlerts } from './manage/manage-alerts.ts'
import { createManageChannels, type StrangerMails } from './manage/manage-channels.ts'
import { createManageMaintenance } from './manage/manage-maintenance.ts'
import { createManageWatches } from './manage/manage-watches.ts'
import { createPreviewWatch, type WatchHistory } from './manage/preview-watch.ts'
import { createShowAlert } from './manage/show-alert.ts'
import { LeaseLost } from './nodes/node-table.ts'
import type { Suspensions } from './nodes/suspended-accounts.ts'
import { createOnlyNode, createSharedNode, type NodeOptions, type WatchNode } from './nodes/watch-node.ts'
import { createWatchStore } from './storage/create-watch-store.ts'
import { openSqliteWatchStore } from './storage/sqlite-store.ts'

interface WatchesOptions
  extends CompleteBodyDeps,
    Pick<
      NodeOptions,
      | 'source'
      | 'spools'
      | 'refusedTimes'
      | 'receivingUs'
      | 'nowUs'
      | 'logUs'
      | 'leadUs'
      | 'monotonicUs'
      | 'maxRunUs'
      | 'accepts'
      | 'lastArrivalUs'
      | 'log'
    > {
  /** Path of watches.sqlite; unused with `shared`. */
  readonly path: string
  /** Several nodes on one PostgreSQL. */
  readonly shared?: { readonly url: Secret; readonly node: number; readonly dataDir: string }
  /** Remembers elsewhere how many watches there are; not with `shared`. */
  readonly count?:
    | {
        note(watches: number): Promise<void>
        noteMissing(nowUs: number): Promise<void>
        /** What is to be said about watches that are gone. */
        lost(): string | undefined
      }
    | undefined
  readonly isIgnored: IsIgnored
  readonly history: WatchHistory
  /** The public URL of Stint, without a trailing slash. */
  publicUrl(): string
  readonly smtp: { readonly url: Secret; readonly from: string } | undefined
  /** Notifications may go to private addresses. */
  readonly notifyPrivate: boolean
  readonly heartbeatUrl: string | undefined
  readonly suspensions: Suspensions
  /** Nothing of this account is notified: it is suspended, or whose it is has not been chosen. */
  isHeld(account: string): boolean
  /** Limits e-mails to addresses that did not ask for them. */
  readonly strangerMails: StrangerMails
  readonly resolve?: Resolve
  readonly meter: OutboxMeter
}

/** The figures that operators see. */
interface WatchStats {
  /** Of all accounts. `firing` and `outbox` are zero on nodes that do not judge; only the sum over nodes counts. */
  readonly firing: number
  /** The watches could not be judged for a minute. */
  readonly unknown: boolean
  readonly outbox: { readonly waiting: number; readonly oldestUs?: number }
  /** Everything that arrived before it is judged. */
  readonly judgedUs: number
}

export type Watches = ReturnType<typeof openWatches>

/** Throws an Error that describes the fault of the file to the operator. */
export function openWatches(options: WatchesOptions) {
  const { path, shared, log, nowUs, maxRunUs, publicUrl, smtp } = options
  const database = shared && openPostgres(shared.url, 'watches')
  if (shared && existsSync(path))
    log.warn({ path }, 'watches: this file is not used with DATABASE_URL; `stint accounts copy` copies it')
  const isMissing = !shared && !existsSync(path)
  let fileFault: string | undefined
  const noteWrite = (fault?: string) => {
    fileFault = fault
  }
  const store = database ? createWatchStore(database) : openSqliteWatchStore(path, log, noteWrite)
  const noteCount = async () => options.count?.note(await store.countWatches())
  const mailer = smtp && createMailer(smtp)
  const onFault = (err: unknown, message: string) => {
    if (isExpected(err)) log.debug({ err }, message)
    else log.error({ err }, message)
  }
  const repeat = mailer && createRepeatMails({ mailer, nowUs, onFault })
  const mails = repeat && createConfirmationMails({ store, repeat, nowUs })
  const post = { allowPrivate: options.notifyPrivate, ...(options.resolve && { resolve: options.resolve }) }
  const deliver = createDeliver({ post, nowUs, publicUrl, ...(mailer && { mailer }) })
  const nodeOptions: NodeOptions = {
    ...options,
    deliver,
    onFault,
    complete: createCompleteBody(options),
    apply: (judge, record, arrivedUs) => applyRecord(judge, record, arrivedUs, options.isIgnored),
  }
  const feedDatabase = shared && openPostgres(shared.url, 'feed')
  const node: WatchNode =
    shared && database && feedDatabase
      ? createSharedNode({ ...nodeOptions, database, feedDatabase, node: shared.node, dataDir: shared.dataDir })
      : createOnlyNode({ ...nodeOptions, store })
  const { heartbeatUrl } = options
  const heartbeat =
    heartbeatUrl === undefined
      ? undefined
      : createHeartbeat({
          url: heartbeatUrl,
          post: { ...post, allowPrivate: true }, // the operator chose it
          nowUs,
          judgedUs: () => (node.isOnDuty() ? node.judgedUs() : undefined),
          log,
        })

  const watches = createManageWatches({
    store,
    nowUs,
    maxRunUs,
    publicUrl,
    async onChanged(account) {
      node.hurry(account)
      await noteCount()
    },
    isUnknown: (watch) => options.suspensions.sinceUs(watch.account) !== undefined || isUnknown(node, watch, nowUs()),
  })
  const alerts = createManageAlerts({
    store,
    nowUs,
    publicUrl,
    unjudged: (account, process) =>
      findUnjudged({ account, process, store, node, suspendedUs: options.suspensions.sinceUs(account), nowUs }),
    onChanged: node.hurry,
  })

  return {
    watches,
    preview: createPreviewWatch({ history: options.history, nowUs: options.logUs, maxRunUs }),
    channels: createManageChannels({
      store,
      deliver,
      mails,
      strangerMails: options.strangerMails,
      publicUrl,
      nowUs,
      hash: (secret) => Bun.SHA256.hash(secret, 'hex'),
    }),
    alerts,
    /** One alert as far as no store is needed. */
    showAlert: createShowAlert({ store, alerts, watches, nowUs }),
    maintenance: createManageMaintenance({ store, nowUs }),
    /** Grows with each change of what answers show, of any account. */
    changes: store.changes,
    /** Absent without SMTP. */
    mails: repeat,
    /** Of an account, or of all. */
    async stats(account?: string): Promise<WatchStats> {
      const state = { unknown: isBehind(node, nowUs()), judgedUs: node.judgedUs() }
      if (account === undefined && !node.isOnDuty()) return { firing: 0, outbox: { waiting: 0 }, ...state }
      try {
        const firing = await store.countFiring(account)
        return { firing: [...firing.values()].reduce((sum, n) => sum + n, 0), outbox: await store.outbox(), ...state }
      } catch (err) {
        if (!isExpected(err)) throw err
        return { firing: 0, outbox: { waiting: 0 }, ...state, unknown: true }
      }
    },
    /** The other nodes that were heard of within an hour. */
    nodes: node.nodes,
    isAway: node.isAway,
    downtimes: node.downtimes,
    /** Why the last change was not written to watches.sqlite. */
    fileFault: () => fileFault,
    /** What the other nodes say about what they stored; absent alone. */
    others: node.others,
    async removeAccount(account: string): Promise<void> {
      await store.removeAccount(account)
      node.hurry(account)
      await noteCount()
    },
    async start(): Promise<void> {
      if (isMissing) await options.count?.noteMissing(nowUs())
      await noteCount()
      const lost = options.count?.lost()
      if (lost !== undefined) log.error(lost)
      await node.start()
      heartbeat?.start()
      repeat?.start()
    },
    async stop(): Promise<void> {
      heartbeat?.stop()
      repeat?.stop()
      await node.stop()
      mailer?.close()
    },
    async close(): Promise<void> {
      await store.close()
      await feedDatabase?.close()
    },
  }
}

/** PostgreSQL is down, or another node took over: presence.ts logs it once. */
const isExpected = (err: unknown): boolean =>
  err instanceof LeaseLost || (err instanceof Problem && err.code === 'store_unavailable')
