// Which DATA_DIR uses a NODE_ID before a store: two that use the same one give different events the same stamp, and the store overwrites one of them. Every node renews
// its lease in each remote store once a minute by the store's own clock. Leases are read at the start only, and only fresh ones count; a store that is down delays no start.
import type { Logger } from '../log.ts'

/** The leases in one store, kept where neither questions nor the erasure of an account see them. All methods reject when the store is away or does not permit it. */
export interface Leases {
  /** The name in messages: `InfluxDB` or `ClickHouse`. */
  readonly store: string
  /** Those of a NODE_ID that were renewed within FRESH_S and not given back. */
  read(nodeId: number): Promise<readonly Lease[]>
  /** Renews the lease, or gives it back. */
  write(nodeId: number, dataDirId: string, isHeld: boolean): Promise<void>
}

export interface Lease {
  readonly dataDirId: string
  readonly ageS: number
}

export interface NodeLeaseOptions {
  readonly leases: readonly Leases[]
  readonly nodeId: number
  readonly dataDirId: string
  readonly log: Logger
  readonly renewEveryMs?: number
}

export interface NodeLease {
  /** Throws an Error for the operator while another DATA_DIR holds the NODE_ID in one of the stores; takes as long as they may need at a start. */
  check(): Promise<void>
  /** Renews the lease until `stop`. */
  start(): void
  /** Gives the lease back, so that another DATA_DIR may use the NODE_ID at once. */
  stop(): Promise<void>
}

export const FRESH_S = 180
const RENEW_EVERY_MS = 60_000
/** The longest that a start or a stop waits for a store. */
const ANSWER_WITHIN_MS = 1_500

export function createNodeLease(options: NodeLeaseOptions): NodeLease {
  const { leases, nodeId, dataDirId, log, renewEveryMs = RENEW_EVERY_MS } = options
  let timer: ReturnType<typeof setInterval> | undefined
  let renewing: Promise<unknown> = Promise.resolve()
  const silent = new Set<string>()

  const writeAll = (isHeld: boolean) =>
    Promise.all(
      leases.map(async ({ store, write }) => {
        try {
          await write(nodeId, dataDirId, isHeld)
          silent.delete(store)
        } catch (err) {
          if (!silent.has(store)) log.info({ err, store }, 'the lease of NODE_ID cannot be renewed')
          silent.add(store)
        }
      }),
    )

  const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    Promise.race([work, Bun.sleep(ANSWER_WITHIN_MS).then(() => otherwise)])

  return {
    async check() {
      const found = leases.map(async ({ store, read }) => {
        const others = (await read(nodeId)).filter((lease) => lease.dataDirId !== dataDirId)
        return others.map((lease) => ({ store, ...lease }))
      })
      const none = found.map((reading) => inTime(reading, []).catch(() => []))
      const [other] = (await Promise.all(none)).flat()
      if (other === undefined) return
      throw new Error(
        `NODE_ID ${nodeId} is in use: another DATA_DIR renewed it in ${other.store} ${Math.round(other.ageS)} s ago, and this one was never part of it. ` +
          `Give each Stint before the same stores a NODE_ID of its own. If the other one is gone for good, start again in ${Math.ceil(FRESH_S / 60)} minutes`,
      )
    },
    start() {
      const renew = () => {
        renewing = renewing.then(() => writeAll(true))
      }
      renew()
      timer = setInterval(renew, renewEveryMs)
    },
    async stop() {
      if (timer === undefined) return
      clearInterval(timer)
      // behind a renewal that is under way: it would take the lease again
      await inTime(
        renewing.then(() => writeAll(false)),
        [],
      )
    },
  }
}
