// A shipper between the real spool, the real dead letters and a store in memory, in a directory of its own.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/clock.ts'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import type { ShipMeter } from '../../src/ship/deliver-batch.ts'
import { createShipper, type Next, type Shipper, type ShipperOptions } from '../../src/ship/shipper.ts'
import { openSpool } from '../../src/spool/open-spool.ts'
import { type DeadLetter, openDeadLetters } from '../../src/state/dead-letters.ts'
import { createMemoryStore, type StoreFaults } from '../support/memory-sink.ts'
import { inMemoryDir } from '../support/temp-dir.ts'

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

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly state?: string
  readonly reason?: string
}

export interface ShipTrialOptions {
  readonly faults?: StoreFaults
  readonly maxDeadBytes?: number
  readonly segmentBytes?: number
}

export type ShipTrial = Awaited<ReturnType<typeof openShipTrial>>

export async function openShipTrial(options: ShipTrialOptions = {}) {
  const dir = inMemoryDir()
  const logged: LogLine[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const store = createMemoryStore(options.faults)
  const sink = store.sink()
  const counts = {
    delivered: 0,
    expired: 0,
    dead: 0,
    deliveries: [] as number[],
    batches: {} as Record<string, number>,
  }
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
    deliverySeconds: (seconds) => void counts.deliveries.push(seconds),
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

  const appendRecords = async (records: readonly string[]) => {
    await Promise.all(records.map((record) => parts.spool.append(record, systemClock.wallUs())))
  }
  return {
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
    append: (events: readonly Event[]) => appendRecords(events.map(toRecord)),
    appendRecords,
    /** A shipper on all of it; `change` replaces parts. */
    shipper(change?: Partial<ShipperOptions>): Shipper {
      const own = { destination: 'points', sink, clock: systemClock, log, meter } as const
      return createShipper({ ...own, ...parts, ...change })
    },
    /** Everything in the dead letters of the account, oldest first. */
    dead(account = ACCOUNT): DeadLetter[] {
      const all: DeadLetter[] = []
      for (let page = parts.deadLetters.list(account, { limit: 500 }); page.length > 0; ) {
        all.push(...page)
        page = parts.deadLetters.list(account, { limit: 500, before: page.at(-1)!.id })
      }
      return all.reverse()
    },
    /** Closes and reopens spool and dead letters, as a restart does. */
    async reopen(): Promise<void> {
      await closeParts()
      parts = await openParts()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
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
