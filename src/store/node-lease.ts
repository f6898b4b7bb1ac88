// Leases of NODE_IDs: two DATA_DIRs with the same NODE_ID would give different events the same stamp, and the store would overwrite one of them.
// Every node renews its lease in each remote store once a minute, by the store's clock. Leases are read only at the start, and only fresh ones count;
// a store that is down does not delay the start. Of several nodes that start at once, each takes its lease before it looks for others, so at most one
// finds none.
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
  /** Takes the lease. Throws an Error for the operator while another DATA_DIR holds it in one of the stores; takes as long as they may need at a start. */
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
/** How long one of several that start at once waits until the others have given their leases back. */
const YIELD_WITHIN_MS = 1_000

export function createNodeLease(options: NodeLeaseOptions): NodeLease {
  const { leases, nodeId, dataDirId, log, renewEveryMs = RENEW_EVERY_MS } = options
  let timer: ReturnType<typeof setInterval> | undefined
  let renewing: Promise<unknown> = Promise.resolve()
  const silent = new Set<string>()

  const writeAll = async (isHeld: boolean): Promise<void> => {
    await Promise.all(
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
  }

  const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    Promise.race([work, Bun.sleep(ANSWER_WITHIN_MS).then(() => otherwise)])

  type Holder = Lease & { readonly store: string }
  const findOthers = async ({ store, read }: Leases): Promise<Holder[]> =>
    (await read(nodeId)).filter((lease) => lease.dataDirId !== dataDirId).map((lease) => ({ store, ...lease }))

  /** If several see each other, the one with the smallest id waits and the others give way. */
  async function take(one: Leases): Promise<Holder | undefined> {
    let other: Holder | undefined
    const taking = async () => {
      await one.write(nodeId, dataDirId, true)
      for (let waitedMs = 0; ; waitedMs += 50) {
        other = (await findOthers(one)).sort((a, b) => (a.dataDirId < b.dataDirId ? -1 : 1))[0]
        if (other === undefined || other.dataDirId < dataDirId || waitedMs >= YIELD_WITHIN_MS) return
        await Bun.sleep(50)
      }
    }
    await inTime(
      taking().catch(() => {}),
      undefined,
    )
    return other
  }

  async function findHolder(): Promise<Holder | undefined> {
    const answers = await Promise.all(
      leases.map((one) =>
        inTime<Holder[] | undefined>(
          findOthers(one).catch(() => []), // the table may not exist yet
          undefined,
        ),
      ),
    )
    const [holder] = answers.flatMap((found) => found ?? [])
    if (holder !== undefined) return holder
    // One store after the other: whoever gives way in the first has taken nothing in the next.
    for (const [i, one] of leases.entries()) {
      const other = answers[i] && (await take(one))
      if (other !== undefined) return other
    }
    return undefined
  }

  return {
    async check() {
      const other = await findHolder()
      if (other === undefined) return
      await inTime(writeAll(false), undefined)
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
        undefined,
      )
    },
  }
}
