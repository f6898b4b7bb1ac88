// `stint drain DIR`: delivers what the spools of a node hold that will not return, into the configured stores, and ends
// when they are empty. It is the node's own shipping without its intake, so events that the stores refuse go to the
// dead letters of DIR.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DESTINATIONS, type Destination } from '../event/event.ts'
import type { Config } from '../settings.ts'
import { pause } from '../ship/backoff.ts'
import { createShipper, type Next, type Shipper } from '../ship/shipper.ts'
import { openSpool } from '../spool/open-spool.ts'
import type { Spool } from '../spool/spool.ts'
import { lockDataDir, makeDataDir, readDataDirId, readNodeId } from '../state/data-dir-lock.ts'
import { type DeadLetters, openDeadLetters } from '../state/dead-letters.ts'
import { openPostgresLeases } from '../state/postgres-leases.ts'
import { FRESH_S, type Leases } from '../store/node-lease.ts'
import { openStores } from '../store/open-stores.ts'
import { type Sink, STORED } from '../store/sink.ts'
import { CopyError, type CopyParts, embeddedIn } from './places.ts'
import { createProgressLine } from './show-progress.ts'

export interface DrainSummary {
  readonly delivered: number
  readonly expired: number
  /** In the dead letters of DIR now. */
  readonly buried: number
  /** Records that could not be read from the disk. */
  readonly damaged: number
  /** Of deleted accounts: not delivered. */
  readonly deleted: number
}

/** Nothing is appended: the room for it does not matter. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER
/** A store that is away this long ends the command; what is left stays in the spool. */
const GIVE_UP_US = 600_000_000
const GIVE_BACK_WITHIN_MS = 1_500

/**
 * Without CLICKHOUSE_URL the engine of `config.dataDir` takes events. `readDeleted` returns the deleted accounts, once
 * the files of `dir` are locked. Throws CopyError, or the signal's reason; what was delivered until then stays
 * delivered.
 */
export async function drainSpools(
  dir: string,
  config: Config,
  parts: CopyParts,
  readDeleted: () => Promise<ReadonlySet<string>>,
): Promise<DrainSummary> {
  const { clock, log } = parts
  if (!existsSync(join(dir, 'spool'))) throw new CopyError(`${dir} holds no spools: name the DATA_DIR of a node`)
  const closers: (() => unknown)[] = []
  try {
    const lock = lockDataDir(dir)
    closers.push(() => lock.release())
    const { path } = embeddedIn(config)
    if (config.clickhouse === undefined && dir === config.dataDir && !existsSync(path))
      throw new CopyError(
        `${dir} has no embedded engine: set CLICKHOUSE_URL, or DATA_DIR to a directory whose engine takes the events`,
      )
    if (config.clickhouse === undefined && dir !== config.dataDir) {
      makeDataDir(config.dataDir)
      const ours = lockDataDir(config.dataDir) // its embedded engine is a target
      closers.push(() => ours.release())
    }
    const deadLetters = openDeadLetters({ path: join(dir, 'dead.sqlite'), maxBytes: config.deadMaxBytes, clock, log })
    closers.push(() => deadLetters.close())
    const stores = await openStores({ ...config, embeddedPath: path, log })
    closers.push(() => stores.close())
    const deleted = await readDeleted()
    const sum = { delivered: 0, expired: 0, buried: 0, damaged: 0, deleted: 0 }
    const lines: Lane[] = []
    for (const destination of DESTINATIONS) {
      const spool = await openSpool({ dir: join(dir, 'spool', destination), maxBytes: NO_LIMIT, minFreeBytes: 0, log })
      closers.push(() => spool.close())
      const sink = withoutAccounts(deleted, stores.sinks[destination], sum)
      lines.push({ destination, spool, shipper: shipperOf(destination, spool, sink, deadLetters, parts, sum) })
    }
    await deliverAll(lines, parts, sum)
    sum.damaged = lines.reduce((damaged, { spool }) => damaged + spool.stats().damaged, 0)
    const { databaseUrl: url } = config
    const shared = url ? [openPostgresLeases({ url, freshS: FRESH_S, isEmbedded: false, onSplit() {} })] : []
    for (const { close } of shared) closers.push(close)
    await giveLeaseBack(dir, [...stores.leases, ...shared])
    return sum
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** Another DATA_DIR may use the NODE_ID at once. Where a store is away the lease expires by itself. */
async function giveLeaseBack(dir: string, leases: readonly Leases[]): Promise<void> {
  const node = readNodeId(dir)
  if (node === undefined) return
  const given = leases.map((one) => one.write(Number(node), readDataDirId(dir), false))
  await Promise.race([Promise.allSettled(given), Bun.sleep(GIVE_BACK_WITHIN_MS)])
}

type Sum = { -readonly [Name in keyof DrainSummary]: DrainSummary[Name] }

interface Lane {
  readonly destination: Destination
  readonly spool: Spool
  readonly shipper: Shipper
}

/** Counts what is delivered itself: the shipper takes the events of deleted accounts as stored. */
const withoutAccounts = (deleted: ReadonlySet<string>, sink: Sink, sum: Sum): Sink => ({
  ...sink,
  async write(events) {
    const kept = events.filter(({ account }) => !deleted.has(account))
    const result = kept.length > 0 ? await sink.write(kept) : STORED
    if (result.kind === 'stored') {
      sum.deleted += events.length - kept.length
      sum.delivered += Math.max(0, kept.length - result.expired)
    }
    return result
  },
})

function shipperOf(
  destination: Destination,
  spool: Spool,
  sink: Sink,
  deadLetters: DeadLetters,
  { clock, log }: CopyParts,
  sum: Sum,
): Shipper {
  const meter = {
    delivered() {},
    expired(points: number) {
      sum.expired += points
    },
    dead(events: number) {
      sum.buried += events
    },
    deliverySeconds() {},
    batch() {},
  }
  return createShipper({ destination, spool, sink, deadLetters, clock, log, meter })
}

async function deliverAll(lanes: readonly Lane[], parts: CopyParts, sum: Sum): Promise<void> {
  const total = lanes.reduce((records, { spool }) => records + spool.stats().records, 0)
  const line = createProgressLine(parts.stderr, parts.clock, 0, total)
  try {
    for (const { destination, shipper, spool } of lanes) {
      let said: string | undefined
      let movedUs = parts.clock.monotonicUs()
      let left = spool.stats().records
      if (left === 0) continue // a store that is away has nothing to wait for
      for (let next: Next = 'again'; next !== 'idle'; ) {
        parts.signal.throwIfAborted()
        next = await shipper.step()
        line.show(sum.delivered + sum.deleted)
        const { reason } = shipper.status()
        if (reason !== undefined && reason !== said) line.say(`Delivery of ${destination} paused: ${reason}`)
        said = reason
        if (spool.stats().records !== left) {
          left = spool.stats().records
          movedUs = parts.clock.monotonicUs()
        }
        if (reason !== undefined && parts.clock.monotonicUs() - movedUs > GIVE_UP_US)
          throw new CopyError(`${left} events of ${destination} are left in the spool: ${reason}`)
        if (typeof next === 'object' && reason !== undefined) await pause(next.pauseMs, parts.signal)
      }
    }
  } finally {
    line.end()
  }
}
