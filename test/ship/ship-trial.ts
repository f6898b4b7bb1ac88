// A shipper between the real spool, the real dead letters and a store in memory, in a directory of its own.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/clock.ts'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import type { Logger } from '../../src/log.ts'
import type { ShipMeter } from '../../src/ship/ship-meter.ts'
import { createShipper, type Next, type Shipper, type ShipperOptions } from '../../src/ship/shipper.ts'
import { openSpool, type Spool } from '../../src/spool/spool.ts'
import { type DeadLetter, type DeadLetters, openDeadLetters } from '../../src/state/dead-letters.ts'
import type { Sink } from '../../src/store/sink.ts'
import { createMemoryStore, type MemoryStore, type StoreFaults } from '../support/memory-sink.ts'
import { tempDir } from '../support/temp-dir.ts'

export const ACCOUNT = 'acc'
export const NOW_US = 1_800_000_000_000_000

export const markAt = (i: number, us = NOW_US + i): Event => ({
  kind: 'start',
  account: ACCOUNT,
  process: 'p',
  meta: '',
  uid: `u${i}`,
  stamp: { us, sub: 0 },
})

export const marks = (n: number, from = 0): Event[] => Array.from({ length: n }, (_, i) => markAt(from + i))

export interface Counts {
  delivered: number
  expired: number
  dead: number
  deliveries: number[]
  batches: Record<string, number>
}

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly state?: string
  readonly reason?: string
}

export interface ShipTrial extends AsyncDisposable {
  readonly store: MemoryStore
  readonly counts: Counts
  readonly log: Logger
  readonly logged: LogLine[]
  readonly spool: Spool
  readonly deadLetters: DeadLetters
  append(events: readonly Event[]): Promise<void>
  appendRecords(records: readonly string[]): Promise<void>
  /** A shipper on all of it; `change` replaces parts. */
  shipper(change?: Partial<ShipperOptions>): Shipper
  /** Everything in the dead letters of the account, oldest first. */
  dead(account?: string): DeadLetter[]
  /** Closes and reopens spool and dead letters, as a restart does. */
  reopen(): Promise<void>
  close(): Promise<void>
}

export interface ShipTrialOptions {
  readonly faults?: StoreFaults
  readonly maxDeadBytes?: number
  readonly segmentBytes?: number
}

export async function openShipTrial(options: ShipTrialOptions = {}): Promise<ShipTrial> {
  const dir = tempDir('ship')
  const logged: LogLine[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const store = createMemoryStore(options.faults)
  const sink: Sink = store.sink()
  const counts: Counts = { delivered: 0, expired: 0, dead: 0, deliveries: [], batches: {} }
  const meter: ShipMeter = {
    delivered(events) {
      counts.delivered += events
    },
    expired(points) {
      counts.expired += points
    },
    dead(events) {
      counts.dead += events
    },
    deliverySeconds(seconds) {
      counts.deliveries.push(seconds)
    },
    batch(outcome) {
      counts.batches[outcome] = (counts.batches[outcome] ?? 0) + 1
    },
  }

  const openParts = async () => ({
    spool: await openSpool({
      dir: join(dir, 'spool'),
      maxBytes: 2 ** 30,
      minFreeBytes: 0,
      ...(options.segmentBytes !== undefined && { segmentBytes: options.segmentBytes }),
      log,
    }),
    deadLetters: openDeadLetters({
      path: join(dir, 'dead.sqlite'),
      maxBytes: options.maxDeadBytes ?? 2 ** 30,
      clock: systemClock,
      log,
    }),
  })
  let parts = await openParts()

  const closeParts = async () => {
    await parts.spool.close()
    parts.deadLetters.close()
  }

  async function close(): Promise<void> {
    await closeParts()
    await rm(dir, { recursive: true, force: true })
  }

  const trial: ShipTrial = {
    store,
    counts,
    log,
    logged,
    get spool() {
      return parts.spool
    },
    get deadLetters() {
      return parts.deadLetters
    },
    append: (events) => trial.appendRecords(events.map(toRecord)),
    async appendRecords(records) {
      await Promise.all(records.map((record) => parts.spool.append(record, systemClock.wallUs())))
    },
    shipper: (change) =>
      createShipper({
        destination: 'points',
        spool: parts.spool,
        sink,
        deadLetters: parts.deadLetters,
        clock: systemClock,
        log,
        meter,
        ...change,
      }),
    dead(account = ACCOUNT) {
      const all: DeadLetter[] = []
      for (let page = parts.deadLetters.list(account, { limit: 500 }); page.length > 0; ) {
        all.push(...page)
        page = parts.deadLetters.list(account, { limit: 500, before: page.at(-1)!.id })
      }
      return all.reverse()
    },
    async reopen() {
      await closeParts()
      parts = await openParts()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return trial
}

/** Steps without ever pausing until the spool is empty; gives the answers of the steps. */
export async function drain(shipper: Shipper, maxSteps = 20_000): Promise<Next[]> {
  const answers: Next[] = []
  while (answers.length < maxSteps) {
    const next = await shipper.step()
    answers.push(next)
    if (next === 'idle') return answers
  }
  throw new Error(`not drained after ${maxSteps} steps: ${JSON.stringify(shipper.status())}`)
}

/** Steps until the shipper pauses; returns the pause it asks for. */
export async function stepUntilHeld(shipper: Shipper, maxSteps = 1000): Promise<number> {
  for (let i = 0; i < maxSteps; i++) {
    const next = await shipper.step()
    const { state } = shipper.status()
    if (typeof next === 'object' && (state === 'parked' || state === 'retrying')) return next.pauseMs
  }
  throw new Error('did not pause')
}
