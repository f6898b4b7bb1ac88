// What the judge keeps: how far each node has fed its spools, the state of series and gauges, and the blocks in which
// other nodes hand their events over. Invariant: positions, state, alerts and notifications are one transaction, so a
// kill repeats the same with the same result.
import type { Both, Destination } from '../../event/event.ts'
import type { Position } from '../../spool/segment.ts'
import { all, get, insertRows, places, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { RefusedTime } from '../log/episode.ts'
import type { StateRow } from '../log/judge-interface.ts'
import { type Applied, applyChange } from './moving-statements.ts'
import type { AlertChange, StoredAlert } from './watch-store.ts'

/**
 * The position of a node's feeder in one of its spools. What arrived before `knownUs` is in blocks, or in the state,
 * also what stands behind the position in the log.
 */
export interface FeedPosition {
  readonly node: number
  readonly spool: Destination
  readonly position: Position
  readonly knownUs: number
  /** The id of its DATA_DIR, among several nodes; absent in rows of 2.0. */
  readonly dataDir?: string
}

/** The database is not as this process left it: it was restored, or another writer has gone on. Nothing was written. */
export class WentBack extends Error {
  override readonly name = 'WentBack'
  constructor() {
    super('the database of the watches was set to an earlier state')
  }
}

/** Records of a node that no judge has taken yet, oldest first. */
interface StoredBlock {
  readonly seq: number
  readonly node: number
  readonly spool: Destination
  readonly records: readonly (readonly [arrivedUs: number, record: string])[]
  /** So many of them are taken. */
  readonly taken: number
}

/** What one commit of the judge stores. */
export interface Judged {
  readonly judgedUs: number
  /** The one of the commit before; absent: any. An earlier one in the database is refused with WentBack. */
  readonly beforeUs?: number
  /** The stamps led the wall clock by so much; absent: it is not known. */
  readonly leadUs?: number
  /** The sign of life, stored with it. */
  readonly aliveUs?: number | undefined
  /** See `judged`. `seededUs`: that stretch is judged. */
  readonly seedUs: number | undefined
  readonly seededUs: number | undefined
  readonly positions: readonly FeedPosition[]
  readonly state: readonly StateRow[]
  /** Accounts without watches: nothing of them is kept. */
  readonly dropped: readonly string[]
  readonly changes: readonly AlertChange[]
  /** Blocks that are taken to their end, and how much of one is. */
  readonly passed: readonly number[]
  readonly taken: ReadonlyMap<number, number>
}

/** An alert that was not stored. */
export interface Omitted {
  readonly alert: StoredAlert
  readonly why: Exclude<Applied, 'done'>
}

interface FeedRow {
  readonly node: number
  readonly spool: Destination
  readonly segment: number
  readonly byte: number
  readonly seq: number
  readonly known_us: number
  readonly data_dir: string | null
}

interface BlockRow {
  readonly seq: number
  readonly node: number
  readonly spool: Destination
  readonly records: string
  readonly taken: number
}

/** No run is open longer, and no interval of a watch waits longer. */
const REFUSED_KEPT_US = 31 * 86_400e6

/** Read at once: a takeover may find many. */
const BLOCKS_AT_ONCE = 50

const toFeedRow = ({ node, spool, position, knownUs, dataDir }: FeedPosition) => ({
  node,
  spool,
  segment: position.segment,
  byte: position.offset,
  seq: position.seq,
  known_us: Math.floor(knownUs),
  data_dir: dataDir ?? null,
})

function* putPositions(positions: readonly FeedPosition[]): Script<void> {
  const set = ['segment', 'byte', 'seq', 'known_us', 'data_dir'].map((name) => `${name} = excluded.${name}`).join(', ')
  yield* insertRows('feed', positions.map(toFeedRow), `(node, spool) DO UPDATE SET ${set}`)
}

const putSeedUs = (us: number): Script<number> =>
  run('UPDATE alive SET seed_us = $1 WHERE seed_us IS NULL OR seed_us > $1', us)

export const createFeedStatements = ({ read, write }: SqlDatabase) => ({
  /** How far the spools of a node, or of all, are fed. */
  async feedPositions(node?: number): Promise<FeedPosition[]> {
    const [own, values] = node === undefined ? ['', []] : ['WHERE node = $1', [node]]
    const rows = await read(() => all<FeedRow>(`SELECT * FROM feed ${own}`, ...values))
    return rows.map(({ node, spool, segment, byte, seq, known_us, data_dir }) => ({
      node,
      spool,
      position: { segment, offset: byte, seq },
      knownUs: known_us,
      ...(data_dir !== null && { dataDir: data_dir }),
    }))
  },
  /**
   * The judge's memory; the log's time of its last commit and the lead of its stamps, undefined before the first one;
   * and since when the stores are to be asked for what no feed brought, undefined if they need not be.
   */
  judged: () =>
    read(function* () {
      const select = 'SELECT judged_us, lead_us, seed_us FROM alive'
      const row = yield* get<{ judged_us: number | null; lead_us: number | null; seed_us: number | null }>(select)
      const state: StateRow[] = yield* all<{ account: string; name: string; state: string }>(
        'SELECT * FROM watch_state',
      )
      const [judgedUs, leadUs] = [row?.judged_us ?? undefined, row?.lead_us ?? undefined]
      return { judgedUs, leadUs, seedUs: row?.seed_us ?? undefined, state }
    }),
  /**
   * Returns the alerts that were omitted: their watch was changed meanwhile, or there is one about the same.
   */
  commitJudged: (judged: Judged, nowUs: number): Promise<readonly Omitted[]> =>
    write(function* () {
      const known = yield* get<{ judged_us: number | null }>('SELECT judged_us FROM alive')
      if ((known?.judged_us ?? 0) < Math.floor(judged.beforeUs ?? 0)) throw new WentBack()
      const omitted: Omitted[] = []
      const {
        judgedUs,
        leadUs,
        aliveUs = null,
        seedUs,
        seededUs,
        positions,
        state,
        dropped,
        changes,
        passed,
        taken,
      } = judged
      yield* putPositions(positions)
      const kept = state.filter((row) => row.state !== null).map((row) => ({ ...row }))
      yield* insertRows('watch_state', kept, '(account, name) DO UPDATE SET state = excluded.state')
      for (const { account, name } of state.filter((row) => row.state === null))
        yield* run('DELETE FROM watch_state WHERE account = $1 AND name = $2', account, name)
      for (const account of dropped) yield* run('DELETE FROM watch_state WHERE account = $1', account)
      for (const seq of passed) yield* run('DELETE FROM watch_block WHERE seq = $1', seq)
      for (const [seq, count] of taken) yield* run('UPDATE watch_block SET taken = $1 WHERE seq = $2', count, seq)
      const at = [Math.floor(judgedUs), leadUs === undefined ? null : Math.floor(leadUs)] as const
      const alive = 'alive_us = CASE WHEN $3 > alive_us THEN $3 ELSE alive_us END'
      if ((yield* run(`UPDATE alive SET judged_us = $1, lead_us = $2, ${alive}`, ...at, aliveUs)) === 0)
        yield* run('INSERT INTO alive (alive_us, judged_us, lead_us) VALUES ($1, $2, $3)', Math.floor(nowUs), ...at)
      if (seededUs !== undefined) yield* run('UPDATE alive SET seed_us = NULL WHERE seed_us >= $1', seededUs)
      if (seedUs !== undefined) yield* putSeedUs(seedUs)
      for (const change of changes) {
        const applied = yield* applyChange(change, nowUs)
        if (applied !== 'done' && change.kind === 'open') omitted.push({ alert: change.alert, why: applied })
      }
      return omitted
    }),
  /**
   * Adds the records that a node has read with its new position in one transaction. `beforeUs`: the `knownUs` of the
   * row before; another one is refused with WentBack, absent: any.
   */
  addBlock: (
    fed: FeedPosition,
    records: readonly (readonly [arrivedUs: number, record: string])[],
    beforeUs?: number,
  ): Promise<void> =>
    write(function* () {
      const own = 'SELECT known_us FROM feed WHERE node = $1 AND spool = $2'
      const known = yield* get<{ known_us: number }>(own, fed.node, fed.spool)
      const isRepeated = known !== undefined && known.known_us === Math.floor(fed.knownUs) // its answer was lost
      if (beforeUs !== undefined && !isRepeated && known?.known_us !== Math.floor(beforeUs)) throw new WentBack()
      if (records.length > 0 && !isRepeated) {
        const lines = records.map((one) => JSON.stringify(one)).join('\n')
        const [first, last] = [records[0]![0], records.at(-1)![0]]
        yield* run(
          'INSERT INTO watch_block (node, spool, from_us, to_us, records) VALUES ($1, $2, $3, $4, $5)',
          ...[fed.node, fed.spool, first, last, lines],
        )
      }
      yield* putPositions([fed])
    }),
  /** Where a node begins. */
  addPositions: (node: number, { points, exceptions }: Both<Position>): Promise<void> =>
    write(() =>
      putPositions([
        { node, spool: 'points', position: points, knownUs: 0 },
        { node, spool: 'exceptions', position: exceptions, knownUs: 0 },
      ]),
    ),
  /** Replaces those of the node with the same account and `fromUs`. */
  putRefused: (node: number, times: readonly RefusedTime[], nowUs: number): Promise<void> =>
    write(function* () {
      const [noted_us, endUs] = [Math.floor(nowUs), Math.floor(nowUs - REFUSED_KEPT_US)]
      const rows = times.map(({ account, fromUs, toUs }) => ({ account, node, from_us: fromUs, to_us: toUs, noted_us }))
      const set = 'to_us = excluded.to_us, noted_us = excluded.noted_us'
      yield* insertRows('refused_time', rows, `(account, node, from_us) DO UPDATE SET ${set}`)
      yield* run('DELETE FROM refused_time WHERE noted_us < $1', endUs)
    }),
  /** Those that were written since then. */
  async refused(sinceUs: number): Promise<RefusedTime[]> {
    const select = 'SELECT account, from_us, to_us FROM refused_time WHERE noted_us >= $1 ORDER BY from_us'
    const rows = await read(() => all<{ account: string; from_us: number; to_us: number }>(select, Math.floor(sinceUs)))
    return rows.map(({ account, from_us, to_us }) => ({ account, fromUs: from_us, toUs: to_us }))
  },
  /** A feeder left a stretch out, because it was gone or too long: the stores have what came since then. */
  noteSkipped: (sinceUs: number) => write(() => putSeedUs(Math.floor(sinceUs))),
  async watchedAccounts(): Promise<string[]> {
    const select = 'SELECT DISTINCT account FROM watch WHERE deleted_us IS NULL'
    return (await read(() => all<{ account: string }>(select))).map(({ account }) => account)
  },
  /** Accounts with a watch that counts only since then. */
  async madeSince(us: number): Promise<string[]> {
    const select = 'SELECT DISTINCT account FROM watch WHERE since_us > $1 OR deleted_us > $1'
    return (await read(() => all<{ account: string }>(select, us))).map(({ account }) => account)
  },
  seedUs: () =>
    read(function* () {
      const row = yield* get<{ seed_us: number | null }>('SELECT seed_us FROM alive')
      return row?.seed_us ?? undefined
    }),
  /** The oldest blocks without those that are held already. */
  async blocks(held: readonly number[]): Promise<{ readonly blocks: StoredBlock[]; readonly isFull: boolean }> {
    const others = held.length === 0 ? '' : `WHERE seq NOT IN ${places(1, held.length)}`
    const select = `SELECT seq, node, spool, records, taken FROM watch_block ${others} ORDER BY seq`
    const rows = await read(() => all<BlockRow>(`${select} LIMIT ${BLOCKS_AT_ONCE}`, ...held))
    const blocks = rows.map(({ records, ...row }) => ({
      ...row,
      records: records.split('\n').map((line) => JSON.parse(line)),
    }))
    return { blocks, isFull: rows.length === BLOCKS_AT_ONCE }
  },
})
