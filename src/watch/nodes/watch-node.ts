// This node's part in evaluation and delivery: a single node is always on duty, otherwise the one with the lease is.

import { createOutbox, type OutboxOptions } from '../../notify/delivery/outbox.ts'
import type { SqlDatabase } from '../../state/database.ts'
import type { DelayedEvent } from '../evaluate/delayed-events.ts'
import type { UnjudgedCheck } from '../evaluate/evaluate-account.ts'
import { createEvaluator, type EvaluatorOptions } from '../evaluate/evaluator.ts'
import type { Gap, SilentNode } from '../evaluate/gaps.ts'
import type { EventHint } from '../evaluate/hint-book.ts'
import { createLiveness, type LivenessOptions } from '../evaluate/liveness.ts'
import { createWatchStore } from '../storage/create-watch-store.ts'
import { fenced } from './node-table.ts'
import { createPresence, type PresenceOptions } from './presence.ts'

export type DutyOptions = Omit<EvaluatorOptions, 'liveness' | 'onChanged'> &
  Omit<OutboxOptions, 'log'> &
  Omit<LivenessOptions, 'log'>

export type Duty = ReturnType<typeof createDuty>

/**
 * The work that exactly one node does: it evaluates the watches and delivers the notifications.
 *   start: liveness first, because it measures how long no event was accepted; then evaluation and delivery.
 *   stop:  evaluation → delivery (finishes those in flight) → liveness, whose last heartbeat limits the downtime.
 */
export function createDuty(options: DutyOptions) {
  const outbox = createOutbox(options)
  const liveness = createLiveness(options)
  const evaluator = createEvaluator({
    ...options,
    liveness,
    onChanged: () => void outbox.step().catch(() => {}), // the outbox retries every second
  })
  return {
    ...evaluator,
    async start() {
      await liveness.start()
      evaluator.start()
      outbox.start()
    },
    async stop() {
      await evaluator.stop()
      await outbox.stop()
      await liveness.stop()
    },
  }
}

export type WatchNode = ReturnType<typeof createSharedNode>

export const createOnlyNode = (duty: Duty): WatchNode => ({
  ...duty,
  isOnDuty: () => true,
  silent: () => [],
  leave: async () => {},
})

const NOBODY = { missing: 'all', reason: 'no node evaluates the watches at present' } as const
/** More than this is not reported to other nodes. */
const UNJUDGED_MAX = 200

export interface SharedNodeOptions
  extends Pick<PresenceOptions, 'node' | 'nowUs' | 'monotonicUs' | 'accepts' | 'oldestUnstoredUs' | 'log'> {
  readonly database: SqlDatabase
  createDuty(parts: Pick<DutyOptions, 'store'> & Partial<DutyOptions>): Duty
}

export function createSharedNode({ createDuty, ...options }: SharedNodeOptions) {
  const { database } = options
  let duty: Duty | undefined

  const presence = createPresence({
    ...options,
    round() {
      const lastUs = duty?.lastRoundUs()
      return (
        duty && {
          ...(lastUs !== undefined && { lastUs }),
          unknown: duty.unknown(),
          gaps: duty.gaps().slice(0, UNJUDGED_MAX),
          unjudged: duty.unjudged().slice(0, UNJUDGED_MAX),
        }
      )
    },
    async takeDuty(token) {
      const { accepts, coveredSinceUs, oldestUnstoredUs, silent, isOnDuty } = presence
      const store = createWatchStore(fenced(database, token))
      const mine = createDuty({ store, accepts, coveredSinceUs, oldestUnstoredUs, silent, mayDeliver: isOnDuty })
      await mine.start()
      duty = mine
      return async () => {
        duty = undefined
        await mine.stop()
      }
    },
    onReports(reports) {
      for (const { late, changed, hints } of reports) {
        if (hints === undefined || hints === 'all') duty?.hintAll()
        else
          for (const [account, processes] of Object.entries(hints))
            if (processes === null) duty?.hint({ account })
            else for (const process of processes) duty?.hint({ account, process, kind: 'mark' })
        for (const { fromUs, toUs, ...subject } of late)
          for (const atUs of [fromUs, toUs]) duty?.expectDelayed({ ...subject, atUs })
        for (const account of changed) duty?.hurry(account)
      }
    },
  })

  return {
    isOnDuty: presence.isOnDuty,
    /** Accounts whose watches could not be judged recently; undefined if no node evaluates. */
    unknown: (): readonly string[] | undefined => presence.round()?.unknown,
    /** What cannot be judged at present. */
    gaps(): readonly Gap[] {
      const round = presence.round()
      return round?.gaps ?? (round === undefined ? [{ ...NOBODY, sinceUs: presence.roundUs() }] : [])
    },
    /** Checks that are not judged at present. */
    unjudged: (): readonly UnjudgedCheck[] => presence.round()?.unjudged ?? [],
    /** Other nodes without a recent heartbeat. */
    silent: (): readonly SilentNode[] => presence.silent(),
    /** The end of the last round in which every store answered, if this node is on duty. */
    lastRoundUs: (): number | undefined => (presence.isOnDuty() ? duty?.lastRoundUs() : undefined),
    /** Notes an event that this node is accepting. */
    hint: (hint: EventHint): void => (duty === undefined ? presence.noteHint(hint) : duty.hint(hint)),
    /** Notes an event of the past that this node is accepting. */
    expectDelayed: (event: DelayedEvent): void =>
      duty === undefined ? presence.noteDelayed(event) : duty.expectDelayed(event),
    /** Call it when the watches of an account were changed on this node. */
    hurry: (account: string): void => (duty === undefined ? presence.noteChanged(account) : duty.hurry(account)),
    start: presence.start,
    stop: presence.stop,
    /** Called after the last event was shipped. */
    leave: presence.leave,
  }
}
