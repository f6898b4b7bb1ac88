// The work that exactly one node does: it judges the log and delivers the notifications.
//   start: downtime first, because it measures how long no event was accepted; then judging and delivery.
//   stop:  judging → delivery (finishes those in flight) → downtime, whose last sign of life limits the next one.
import type { Logger } from '../../log.ts'
import { createOutbox, type OutboxOptions } from '../../notify/delivery/outbox.ts'
import { createDowntimeLog, type DowntimeOptions } from '../engine/downtime.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/engine-state.ts'
import { createSeed, type MarkSource } from '../engine/seed.ts'
import { type FedInputs, hearRefusals } from '../feed/refused-times.ts'
import type { Downtime } from '../log/episode.ts'
import { type Judged, type Omitted, WentBack } from '../storage/feed-statements.ts'
import type { KnownNode } from './presence.ts'
import { createSilentNodes } from './silent-nodes.ts'
import { createSuspendedAccounts, type Suspensions } from './suspended-accounts.ts'

/** Without anything new the time is judged this often. */
const TICK_MS = 250
/** Between two looks at the spools, however much they get. */
const LEAST_MS = 50
const ALIVE_MS = 1000
const PRUNE_EVERY_US = 3600e6
const RESOLVED_KEPT_US = 90 * 86_400e6
const RETRY_MS = 1000
const HOUR_US = 3600e6

export type DutyOptions = Omit<EngineOptions, 'inputs' | 'seed' | 'onChanged'> &
  Omit<OutboxOptions, 'log'> &
  Omit<DowntimeOptions, 'log' | 'nowUs' | 'onDowntime'> & {
    readonly inputs: FedInputs
    readonly source: MarkSource
    /** What is in memory is of a later state than the database: begin again from there. */
    onWentBack?(): void
    /** Accounts that the operator suspended; absent: none is. */
    readonly suspensions?: Suspensions
    /** The other nodes; absent for a single one. */
    nodes?(): readonly KnownNode[]
    /** Resolves when there is something to read, or the signal aborts; never resolves when absent. */
    waitForRecords?(signal: AbortSignal): Promise<void>
    readonly log: Logger
  }

export type Duty = ReturnType<typeof createDuty>

export function createDuty(options: DutyOptions) {
  const { store, nowUs, logUs, monotonicUs, log, waitForRecords } = options
  const onFault = options.onFault ?? ((err, message) => log.error({ err }, message))
  const outbox = createOutbox(options)
  const seed = createSeed({ source: options.source, nowUs: logUs, monotonicUs, log })
  const inputs = hearRefusals(options.inputs, (time) => engine.addDowntime(time))
  const engine: Engine = createEngine({
    ...options,
    store: { ...store, commitJudged },
    inputs,
    seed,
    onChanged: () => void outbox.step().catch(() => {}), // it retries
  })
  let recent: Downtime[] = []
  const downtime = createDowntimeLog({
    ...options,
    nowUs: logUs,
    onDowntime(it) {
      recent = [...downtimes(), it]
      engine.addDowntime(it)
    },
  })
  /** With the sign of life: each transaction costs the disk some 60 kB. */
  async function commitJudged(judged: Judged, atUs: number): Promise<readonly Omitted[]> {
    const aliveUs = downtime.toStoreUs()
    const omitted = await store.commitJudged({ ...judged, aliveUs }, atUs)
    if (aliveUs !== undefined) downtime.noteStored()
    return omitted
  }
  const downtimes = (): Downtime[] => recent.filter(({ toUs }) => toUs > logUs() - HOUR_US)
  const silentNodes = createSilentNodes(options.nodes ?? (() => []), logUs, engine)
  const suspended = createSuspendedAccounts(options.suspensions, engine)
  const stopping = new AbortController()
  let loop: Promise<void> | undefined
  let timer: Timer | undefined
  let prunedUs = monotonicUs()

  async function prune(): Promise<void> {
    if (monotonicUs() - prunedUs < PRUNE_EVERY_US) return
    prunedUs = monotonicUs()
    await store.prune(nowUs() - RESOLVED_KEPT_US)
  }

  async function pause(ms: number): Promise<void> {
    const waiting = new AbortController()
    const timeout = setTimeout(() => waiting.abort(), ms)
    const abort = () => waiting.abort()
    stopping.signal.addEventListener('abort', abort)
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.signal.addEventListener('abort', () => resolve())
    await Promise.race([promise, ...(waitForRecords ? [waitForRecords(waiting.signal)] : [])])
    waiting.abort()
    clearTimeout(timeout)
    stopping.signal.removeEventListener('abort', abort)
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        downtime.notice()
        const current = downtime.current()
        if (current !== undefined) engine.addDowntime(current)
        silentNodes.notice()
        suspended.notice()
        const isMore = await engine.step()
        await prune()
        if (isMore) await Bun.sleep(0)
        else {
          await Bun.sleep(LEAST_MS)
          await pause(TICK_MS)
        }
      } catch (err) {
        if (err instanceof WentBack) options.onWentBack?.()
        onFault(err, 'the watches could not be checked; trying again')
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  return {
    hurry: engine.hurry,
    addDowntime: engine.addDowntime,
    judgedUs: engine.judgedUs,
    waiting: engine.waiting,
    /** Of the last hour. */
    downtimes,
    /** Which watches wait for runs of before, because their store does not answer. */
    pending: seed.pending,
    /** Processes that are not judged, because the account has too many. */
    unjudged: engine.unjudged,
    accounts: engine.accounts,
    async start(): Promise<void> {
      await downtime.start()
      for (const time of await store.refused(0)) engine.addDowntime(time)
      timer = setInterval(() => {
        downtime
          .step()
          .catch((err: unknown) => log.warn({ err }, 'watches: the time of the last sign of life could not be saved'))
      }, ALIVE_MS)
      loop = run()
      outbox.start()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await loop
      await engine.save().catch((err: unknown) => onFault(err, 'what was judged last could not be saved'))
      await outbox.stop()
      clearInterval(timer)
      await downtime.stop()
    },
  }
}
