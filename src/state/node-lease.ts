// Which DATA_DIR uses a NODE_ID, among the nodes of one PostgreSQL: a row per NODE_ID with the id of the DATA_DIR and
// its newest heartbeat. Two with one NODE_ID would give different events the same stamp, and a store would overwrite
// one of them. Invariants:
// * Nodes look and write one after the other, by PostgreSQL's clock, so of several that start at once one gets the row.
// * A row is taken over once its heartbeat is FRESH_S old, or when its node has given it back. A running node that lost
//   its row is not ready until it has one again.
// * While PostgreSQL is away, every node continues, and one that had the row before may start.
import type { Logger } from '../log.ts'
import type { Secret } from '../secret.ts'
import { all, run, type Script } from './database.ts'
import { openPostgres, whyAway } from './postgres.ts'

const FRESH_S = 180
const RENEW_EVERY_MS = 30_000
/** While another has the row, or PostgreSQL is away. */
const RETRY_EVERY_MS = 5_000
/** The longest that a stop, and the start of a node that had the row before, waits for PostgreSQL. */
const ANSWER_WITHIN_MS = 1_500

interface NodeLeaseOptions {
  /** Of PostgreSQL. */
  readonly url: Secret
  readonly nodeId: number
  readonly dataDirId: string
  /** This DATA_DIR never had a NODE_ID. */
  readonly isNew: boolean
  /** Does this node keep events in an embedded engine? */
  readonly isEmbedded: boolean
  readonly log: Logger
  /** Called when `split` returns other nodes than before, and some. */
  onSplit(nodes: readonly number[]): void
  readonly renewEveryMs?: number
  readonly retryEveryMs?: number
}

/** Another DATA_DIR with the same NODE_ID, by its heartbeat. */
export interface Rival {
  readonly ageS: number
}

interface Row extends Rival {
  readonly dataDirId: string
  readonly node: number
  readonly embedded: number
}

const NOW_US = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

export type NodeLease = ReturnType<typeof openNodeLease>

/** Opens no connection yet. */
export function openNodeLease(options: NodeLeaseOptions) {
  const { url, nodeId, dataDirId, isNew, isEmbedded, log, onSplit } = options
  const { renewEveryMs = RENEW_EVERY_MS, retryEveryMs = RETRY_EVERY_MS } = options
  const postgres = openPostgres(url, 'leases')
  let rival: Rival | undefined
  let split: readonly number[] = []
  let isAway = false
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let renewing: Promise<boolean> = Promise.resolve(false)

  const isRival = (row: Row) => row.node === nodeId && row.dataDirId !== dataDirId
  const listHeld = (): Script<Row[]> =>
    all(
      `SELECT data_dir "dataDirId", node, embedded, (${NOW_US} - at_us) / 1000000 "ageS" FROM node_lease
       WHERE held = 1 AND at_us > ${NOW_US} - $1::bigint ORDER BY node`,
      FRESH_S * 1_000_000,
    )

  /** The rows that hold; this node's is among them unless another has it. */
  function* renew(): Script<readonly Row[]> {
    yield* run('LOCK TABLE node_lease IN SHARE ROW EXCLUSIVE MODE')
    const rows = yield* listHeld()
    if (rows.some(isRival)) return rows
    yield* run('DELETE FROM node_lease WHERE node = $1 OR data_dir = $2', nodeId, dataDirId)
    yield* run(
      `INSERT INTO node_lease (data_dir, node, held, embedded, at_us) VALUES ($1, $2, 1, $3, ${NOW_US})`,
      dataDirId,
      nodeId,
      isEmbedded ? 1 : 0,
    )
    return yield* listHeld()
  }

  let why = 'PostgreSQL does not answer'
  /** True when this node has the row. */
  async function renewOnce(): Promise<boolean> {
    try {
      const rows = await postgres.write(renew)
      isAway = false
      noteRival(rows.find(isRival))
      noteSplit(rows)
      return rival === undefined
    } catch (err) {
      why = whyAway(err)
      if (!isAway) log.info({ err }, 'the lease of NODE_ID cannot be renewed')
      isAway = true
      return false
    }
  }

  function noteRival(found: Rival | undefined): void {
    const known = rival
    rival = found
    if (found && !known)
      log.error({ node: nodeId }, 'another Stint uses this NODE_ID: this one is not ready; give it one of its own')
    if (known && !found) log.info({ node: nodeId }, 'no other Stint uses this NODE_ID any more')
  }

  function noteSplit(rows: readonly Row[]): void {
    const before = split.join()
    split = rows.length > 1 && rows.some(({ embedded }) => embedded === 1) ? rows.map(({ node }) => node) : []
    if (split.length > 0 && split.join() !== before) onSplit(split)
  }

  const inTime = <T>(work: Promise<T>): Promise<T | undefined> =>
    Promise.race([work, Bun.sleep(ANSWER_WITHIN_MS).then(() => undefined)])

  function schedule(isHeld: boolean): void {
    timer = setTimeout(
      () => {
        renewing = renewOnce()
        void renewing.then((held) => isStopped || schedule(held))
      },
      isHeld ? renewEveryMs : retryEveryMs,
    )
  }

  return {
    /** Takes the row and renews it until `stop`. Throws an Error for the operator if this node must not start. */
    async start(): Promise<void> {
      renewing = renewOnce()
      const isHeld = await (isNew ? renewing : inTime(renewing))
      if (rival !== undefined)
        throw new Error(
          `NODE_ID ${nodeId} is in use: another DATA_DIR renewed it in PostgreSQL ${Math.round(rival.ageS)} s ago. ` +
            'Give each Stint a NODE_ID and a DATA_DIR of its own. If the other one is gone for good, start again in ' +
            `${Math.ceil(FRESH_S / 60)} minutes`,
        )
      if (isNew && !isHeld)
        throw new Error(
          `${why}, so it is unknown whether NODE_ID ${nodeId} is in use: start again when that has changed`,
        )
      schedule(isHeld === true)
    },
    /** Has the row of this NODE_ID: then this node is not ready. */
    rival: (): Rival | undefined => rival,
    /** All nodes, if there are several and one of them keeps events where others do not read them. */
    split: (): readonly number[] => split,
    /** Gives the row back, so that another DATA_DIR may use the NODE_ID at once. */
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      // behind a renewal that is under way: it would take the row again
      const giveBack = () => postgres.read(() => run('DELETE FROM node_lease WHERE data_dir = $1', dataDirId))
      await inTime(renewing.then(giveBack).catch(() => {}))
      await postgres.close()
    },
  }
}
