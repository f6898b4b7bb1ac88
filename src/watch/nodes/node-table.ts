// The statements of several nodes: a row per node (heartbeat, report) and the judging node's lease. Invariants:
// * Ages and the lease are measured by PostgreSQL's clock, so the nodes' clocks do not matter.
// * The token increases with every new holder. Every write names the token in its transaction, so a node that was
//   suspended and lost the lease changes nothing. A new token is a time, so that one whose row a failover has lost does
//   not occur again.
import { all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { Waiting } from '../log/judge-interface.ts'

export const LEASE_US = 15e6
/** A node without a heartbeat for this long is silent: nothing waits for it. Its row is kept for an hour. */
export const SILENT_AFTER_US = 10e6
const FORGOTTEN_AFTER_US = 3600e6

/** A node's report to the others, sent with each heartbeat. Times and spans in µs. */
export interface NodeReport {
  /** Since when it has accepted events without interruption; absent = it accepts none. */
  readonly acceptingForUs?: number
  /** What arrived before is in its blocks. */
  readonly knownUs?: number
  /** The same since 2.1. Absent: a node of an earlier version, which judges by other rules while it lives. */
  readonly edgeUs?: number
  /** Accounts whose watches were recently changed on this node. */
  readonly changed: readonly string[]
  /** Only from the judging node. */
  readonly round?: Round
  /** It makes accounts by mailed links. Absent from a node of 2.0. */
  readonly links?: true
  /** What this node has stored, for nodes on which an account is looked at. Absent: a node of 2.0. */
  readonly stored?: {
    /** What arrived before is in the stores. */
    readonly us: number
    /** Accounts that are looked at there. */
    readonly looked: readonly string[]
    /** Of accounts that are looked at on another node. */
    readonly news: Readonly<Record<string, StoredNews>>
  }
  /** Read by nodes of version 1. */
  readonly late: readonly never[]
}

/** How often something was stored, the newest last, and the time of the earliest event of each. */
export type StoredNews = readonly (readonly [count: number, earliestUs: number])[]

/** How far the judging node is, and what it judges later. */
export interface Round {
  readonly judgedUs: number
  readonly waiting: readonly Waiting[]
  /** By account: processes that are not judged, because it has too many. Absent from a node of version 1. */
  readonly dropped?: Readonly<Record<string, readonly string[]>>
}

export interface NodeRow {
  readonly node: number
  /** The time of the heartbeat, by PostgreSQL's clock. */
  readonly signedUs: number
  readonly ageUs: number
  readonly report: NodeReport
}

interface SignOfLife {
  readonly node: number
  readonly report: NodeReport
  /** Identifies this process. */
  readonly holder: string
  /** The token of the lease that it holds; −1 = none. */
  readonly token: number
  /** False while its last duty has not ended yet. */
  readonly mayHold: boolean
}

const NOW_US = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

export interface Signed {
  readonly nodes: readonly NodeRow[]
  /** The token, if the caller holds the lease. */
  readonly token: number | undefined
}

export function* giveSignOfLife({ node, report, holder, token, mayHold }: SignOfLife): Script<Signed> {
  yield* run(
    `INSERT INTO node VALUES ($1, ${NOW_US}, $2)
     ON CONFLICT (node) DO UPDATE SET seen_us = excluded.seen_us, report = excluded.report`,
    node,
    JSON.stringify(report),
  )
  yield* run(`DELETE FROM node WHERE seen_us < ${NOW_US} - ${FORGOTTEN_AFTER_US}`)
  const held = mayHold
    ? yield* get<{ token: number }>(
        `UPDATE watch_lease SET holder = $1, until_us = ${NOW_US} + ${LEASE_US},
           token = CASE WHEN token = $2 THEN token ELSE greatest(token + 1, ${NOW_US}) END
         WHERE token = $2 OR until_us < ${NOW_US} RETURNING token`,
        holder,
        token,
      )
    : undefined
  return { nodes: yield* listNodes(), token: held?.token }
}

export function* listNodes(): Script<NodeRow[]> {
  const rows = yield* all<{ node: number; seen: number; age: number; report: string }>(
    `SELECT node, seen_us seen, ${NOW_US} - seen_us age, report FROM node ORDER BY node`,
  )
  return rows.map(({ node, seen, age, report: text }) => ({
    node,
    signedUs: seen,
    ageUs: age,
    report: JSON.parse(text),
  }))
}

/** Gives the lease up, so that another node can take it at once. */
export const releaseLease = (token: number): Script<number> =>
  run('UPDATE watch_lease SET until_us = 0 WHERE token = $1', token)

/** Removes a node that has fed everything: the others need not wait for it. */
export const forgetNode = (node: number): Script<number> => run('DELETE FROM node WHERE node = $1', node)

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor() {
    super('another node may judge the watches now')
  }
}

/** A database whose writes reject with LeaseLost, without an effect, unless the lease with this token is held. */
export const fenced = (database: SqlDatabase, token: number): SqlDatabase => ({
  ...database,
  write: (script) =>
    database.write(function* () {
      const held = yield* get(`SELECT 1 FROM watch_lease WHERE token = $1 AND until_us > ${NOW_US}`, token)
      if (held === undefined) throw new LeaseLost()
      return yield* script()
    }),
})
