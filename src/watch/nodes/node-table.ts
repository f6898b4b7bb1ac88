// The statements behind several nodes: a row with each node's sign of life and report, and the lease of the one node that evaluates. Invariants:
// * Ages and the lease count by PostgreSQL's clock alone, so the nodes' clocks do not matter.
// * The token grows with every new holder. A writer on duty names its token in the transaction of the write, so one that was paused and has lost
//   the lease meanwhile changes nothing.
import { all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { LateEvent } from '../evaluate/evaluator.ts'

export const LEASE_US = 15e6
/** A node that gave no sign of life for so long counts as silent, and is forgotten after an hour. */
export const SILENT_AFTER_US = 30e6
const FORGOTTEN_AFTER_US = 3600e6

/** What a node tells the others with each sign of life. Times of events, and spans, in µs. */
export interface NodeReport {
  /** Since when it has accepted events without a break; absent = it accepts none. */
  readonly acceptingForUs?: number
  /** The oldest event that is not stored yet, by destination; absent = all are. */
  readonly pointsUs?: number
  readonly exceptionsUs?: number
  /** Events of the past that it accepted lately, by account and process. */
  readonly late: readonly LateReport[]
  /** Accounts whose watches were changed at it lately. */
  readonly changed: readonly string[]
  /** Of the node on duty: the end of its last good round, and accounts whose watches it could not judge. */
  readonly round?: { readonly lastUs?: number; readonly unknown: readonly string[] }
}

export interface LateReport extends Omit<LateEvent, 'atUs'> {
  readonly fromUs: number
  readonly toUs: number
}

export interface NodeRow {
  readonly node: number
  /** When it was signed, by PostgreSQL's clock. */
  readonly signedUs: number
  readonly ageUs: number
  readonly report: NodeReport
}

export interface SignOfLife {
  readonly node: number
  readonly report: NodeReport
  /** Tells this process from any other. */
  readonly holder: string
  /** Of the lease that it holds; −1 = none. */
  readonly token: number
  /** False while its last duty has not ended yet. */
  readonly mayHold: boolean
}

const NOW_US = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

export interface Signed {
  readonly nodes: readonly NodeRow[]
  readonly forgotten: readonly number[]
  /** Of the lease, if it is held by the one who asked. */
  readonly token: number | undefined
}

export function* giveSignOfLife({ node, report, holder, token, mayHold }: SignOfLife): Script<Signed> {
  yield* run(
    `INSERT INTO node VALUES ($1, ${NOW_US}, $2)
     ON CONFLICT (node) DO UPDATE SET seen_us = excluded.seen_us, report = excluded.report`,
    node,
    JSON.stringify(report),
  )
  const forgotten = yield* all<{ node: number }>(
    `DELETE FROM node WHERE seen_us < ${NOW_US} - ${FORGOTTEN_AFTER_US} RETURNING node`,
  )
  const held = mayHold
    ? yield* get<{ token: number }>(
        `UPDATE watch_lease SET holder = $1, until_us = ${NOW_US} + ${LEASE_US},
           token = CASE WHEN token = $2 THEN token ELSE token + 1 END
         WHERE token = $2 OR until_us < ${NOW_US} RETURNING token`,
        holder,
        token,
      )
    : undefined
  const rows = yield* all<{ node: number; seen: number; age: number; report: string }>(
    `SELECT node, seen_us seen, ${NOW_US} - seen_us age, report FROM node ORDER BY node`,
  )
  return {
    nodes: rows.map(({ node, seen, age, report: text }) => ({
      node,
      signedUs: seen,
      ageUs: age,
      report: JSON.parse(text),
    })),
    forgotten: forgotten.map((row) => row.node),
    token: held?.token,
  }
}

/** Another node may take the lease at once. */
export const releaseLease = (token: number): Script<number> =>
  run('UPDATE watch_lease SET until_us = 0 WHERE token = $1', token)

/** Nothing of this node is missing in the stores: the others need not wait for it. */
export const forgetNode = (node: number): Script<number> => run('DELETE FROM node WHERE node = $1', node)

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor() {
    super('another node may evaluate the watches now')
  }
}

/** Its writes reject with LeaseLost, and change nothing, unless the lease with this token is held. */
export const fenced = (database: SqlDatabase, token: number): SqlDatabase => ({
  ...database,
  write: (script) =>
    database.write(function* () {
      const held = yield* get(`SELECT 1 FROM watch_lease WHERE token = $1 AND until_us > ${NOW_US}`, token)
      if (held === undefined) throw new LeaseLost()
      return yield* script()
    }),
})
