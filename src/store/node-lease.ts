// Leases of NODE_IDs: two DATA_DIRs with the same NODE_ID would give different events the same stamp, and the store
// would overwrite one of them. Invariants:
// * Every node reads and renews its lease in each remote store, by the store's clock. Only fresh leases count. A store
//   that is down does not delay the start: the lease is then taken when the store is back.
// * A node that finds another one's lease while it has none of its own takes none, and is not ready. If both have one,
//   the smaller id keeps it. So of two nodes that see the same store, exactly one is ready.
// * Of several nodes that start at once, each takes its lease before it looks for others, so at most one finds none.
import type { Logger } from '../log.ts'

/**
 * The leases in one store, kept where neither questions nor the erasure of an account see them. All methods reject when
 * the store is away or does not permit it.
 */
export interface Leases {
  /** The name in messages: `InfluxDB`, `ClickHouse` or `PostgreSQL`. */
  readonly store: string
  /** Those of a NODE_ID that were renewed within FRESH_S and not given back. */
  read(nodeId: number): Promise<readonly Lease[]>
  /** Renews the lease, or gives it back. */
  write(nodeId: number, dataDirId: string, isHeld: boolean): Promise<void>
}

interface Lease {
  readonly dataDirId: string
  readonly ageS: number
}

interface NodeLeaseOptions {
  readonly leases: readonly Leases[]
  readonly nodeId: number
  readonly dataDirId: string
  readonly log: Logger
  readonly renewEveryMs?: number
  readonly retryEveryMs?: number
}

type Holder = Lease & { readonly store: string }

export interface NodeLease {
  /**
   * Takes the lease. Throws an Error for the operator while another DATA_DIR holds it in one of the stores; takes as
   * long as they may need at a start.
   */
  check(): Promise<void>
  /** The other DATA_DIR that uses this NODE_ID; `isOurs`: this one was there first. */
  rival(): { readonly holder: Holder; readonly isOurs: boolean } | undefined
  /** Renews the lease until `stop`. */
  start(): void
  /** Gives the lease back, so that another DATA_DIR may use the NODE_ID at once. */
  stop(): Promise<void>
}

export const FRESH_S = 180
const RENEW_EVERY_MS = 30_000
/** While the lease is not held, and once after it was taken: another node may have taken it at the same moment. */
const RETRY_EVERY_MS = 5_000
const byId = (a: Lease, b: Lease) => (a.dataDirId < b.dataDirId ? -1 : 1)
/** The longest that a start or a stop waits for a store. */
const ANSWER_WITHIN_MS = 1_500
/** How long one of several that start at once waits until the others have given their leases back. */
const YIELD_WITHIN_MS = 1_000

export function createNodeLease(options: NodeLeaseOptions): NodeLease {
  const { leases, nodeId, dataDirId, log, renewEveryMs = RENEW_EVERY_MS, retryEveryMs = RETRY_EVERY_MS } = options
  let timer: ReturnType<typeof setTimeout> | undefined
  let renewing: Promise<void> | undefined
  let isStopped = false
  const silent = new Set<string>()
  const rivals = new Map<string, { readonly holder: Holder; readonly isOurs: boolean }>()

  /** What a store permits is done; the first failure of a row is logged. */
  const onEach = (work: (one: Leases) => Promise<boolean>): Promise<boolean[]> =>
    Promise.all(
      leases.map(async (one) => {
        try {
          const done = await work(one)
          silent.delete(one.store)
          return done
        } catch (err) {
          if (!silent.has(one.store)) log.info({ err, store: one.store }, 'the lease of NODE_ID cannot be renewed')
          silent.add(one.store)
          return false
        }
      }),
    )

  const giveBack = () => onEach((one) => one.write(nodeId, dataDirId, false).then(() => true))

  /** True when the lease is held and was held before. */
  async function renewIn(one: Leases): Promise<boolean> {
    const { store } = one
    const found = await one.read(nodeId)
    const wasHeld = found.some((lease) => lease.dataDirId === dataDirId)
    const [other] = found.filter((lease) => lease.dataDirId !== dataDirId).sort(byId)
    const isOurs = other === undefined || (wasHeld && dataDirId < other.dataDirId)
    if (isOurs || wasHeld) await one.write(nodeId, dataDirId, isOurs)
    noteRival(store, other && { holder: { store, ...other }, isOurs })
    return isOurs && wasHeld
  }

  function noteRival(store: string, rival: ReturnType<NodeLease['rival']>): void {
    const known = rivals.get(store)
    if (rival === undefined) rivals.delete(store)
    else rivals.set(store, rival)
    if (rival?.isOurs === known?.isOurs) return
    const about = { node: nodeId, store }
    if (rival === undefined) log.info(about, 'no other Stint uses this NODE_ID any more')
    else if (rival.isOurs) log.error(about, 'another Stint was started with this NODE_ID: give it one of its own')
    else log.error(about, 'another Stint uses this NODE_ID: this one is not ready; give it a NODE_ID of its own')
  }

  const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    Promise.race([work, Bun.sleep(ANSWER_WITHIN_MS).then(() => otherwise)])

  const findOthers = async ({ store, read }: Leases): Promise<Holder[]> =>
    (await read(nodeId)).filter((lease) => lease.dataDirId !== dataDirId).map((lease) => ({ store, ...lease }))

  /** If several see each other, the one with the smallest id waits and the others give way. */
  async function take(one: Leases): Promise<Holder | undefined> {
    let other: Holder | undefined
    const taking = async () => {
      await one.write(nodeId, dataDirId, true)
      for (let waitedMs = 0; ; waitedMs += 50) {
        other = (await findOthers(one)).sort(byId)[0]
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
    // One store after the other: a node that gives way in the first has taken nothing in the next.
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
      await inTime(giveBack(), [])
      throw new Error(
        `NODE_ID ${nodeId} is in use: another DATA_DIR renewed it in ${other.store} ${Math.round(other.ageS)} s ` +
          'ago, and this one was never part of it. ' +
          'Give each Stint before the same stores a NODE_ID of its own. If the other one is gone for good, start ' +
          `again in ${Math.ceil(FRESH_S / 60)} minutes`,
      )
    },
    rival() {
      const all = [...rivals.values()]
      return all.find(({ isOurs }) => !isOurs) ?? all[0]
    },
    start() {
      const renew = async () => {
        const held = await onEach(renewIn)
        if (!isStopped) timer = setTimeout(begin, held.every(Boolean) ? renewEveryMs : retryEveryMs)
      }
      const begin = () => {
        renewing = renew()
      }
      begin()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      if (renewing === undefined) return
      // behind a renewal that is under way: it would take the lease again
      await inTime(renewing.then(giveBack), [])
    },
  }
}
