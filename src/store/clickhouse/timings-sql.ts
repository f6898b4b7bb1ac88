// The pairing rule (DESIGN.md 6, query/pair-marks.ts) in SQL; the source and the dashboards are built from it.
//
// The rows of an account are walked once in the order of the table's sorting key, so that nothing is sorted: each looks at its neighbours, and a neighbour counts
// when it belongs to the same run group, told by a hash of (process, meta, uid). Only neighbours are compared, so a chance collision is one of 2⁻⁶⁴ a mark.
// An end yields its completed timing or an orphan; a start yields a timing only when no end settles it. So every timing has the row of the mark that settled it.

/** SQL expressions; times are Int64, ns since the epoch. */
export interface PairingInput {
  /** The view of the marks. */
  readonly marks: string
  /** Conditions on account, process, meta, uid; joined by AND. */
  readonly where: readonly string[]
  /** The range of timings [from, to). */
  readonly from: string
  readonly to: string
  /** The range of marks to read, `marksWindow` of it. */
  readonly readFrom: string
  readonly readTo: string
  readonly maxRun: string
  readonly now: string
  /** Leaves out marks that arrived later: those with a later stamp that is even. */
  readonly asOf?: string
}

/**
 * A SELECT of the range's timings in no order: process, meta, uid, state ('completed' | 'running' | 'abandoned' | 'orphan'), `first` and `settled`
 * (stamps of the first mark and of the mark that settled it, Int64; equal but for a completed one).
 */
export function timingsSql(input: PairingInput): string {
  const { from, to, maxRun, now } = input
  return `SELECT process, meta, uid, state, if(state = 'completed', before.3, ns) AS first, ns AS settled
FROM (
  SELECT process, meta, uid, ns, before,
    multiIf(
      kind = 2, if(before.1 = run AND before.2 = 1 AND ns - before.3 <= ${maxRun}, 'completed', 'orphan'),
      next.1 != run OR next.2 = 0, if(${now} - ns <= ${maxRun}, 'running', 'abandoned'),
      next.2 = 2 AND next.3 - ns <= ${maxRun}, '',
      'abandoned'
    ) AS state
  FROM (
    SELECT process, meta, uid, ns, kind, run,
      lagInFrame((run, kind, ns)) OVER neighbours AS before,
      leadInFrame((run, kind, ns)) OVER neighbours AS next
    FROM (${indent(marksSql(input), 4)})
    WINDOW neighbours AS (ORDER BY account, process, meta, uid, at ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
  )
)
WHERE state != '' AND first < ${to} AND if(state = 'running', greatest(ns, ${now}), settled) >= ${from}`
}

function marksSql({ marks, where, readFrom, readTo, asOf }: PairingInput): string {
  const conditions = [
    ...where,
    `at >= fromUnixTimestamp64Nano(${readFrom}, 'UTC')`,
    `at < fromUnixTimestamp64Nano(${readTo}, 'UTC')`,
    ...(asOf === undefined ? [] : [`(ns <= ${asOf} OR ns % 2 = 1)`]),
  ]
  return `SELECT account, process, meta, uid, at, toUnixTimestamp64Nano(at) AS ns, toUInt8(mark) AS kind, cityHash64(process, meta, uid) AS run
FROM ${marks}
WHERE ${conditions.join(' AND ')}`
}

export interface SummaryInput extends PairingInput {
  readonly byMeta: boolean
  /** A series: buckets of this many ns. */
  readonly every?: string
}

/** One row a process, with `byMeta` a meta, with `every` a bucket `at` (Int64): the columns of TimingSummaryRow in snake case, by the rule of query/summarize-timings.ts. */
export function summarySql(input: SummaryInput): string {
  const { byMeta, every, from, to } = input
  const keys = ['process', ...(byMeta ? ['meta'] : []), ...(every === undefined ? [] : ['at'])]
  const bucket = every === undefined ? '' : `\n  settled - settled % ${every} AS at,`
  return `SELECT process,${byMeta ? ' meta,' : ''}${bucket}
  countIf(state = 'completed') AS completed,
  toFloat64(sumIf(toInt128(settled - first), state = 'completed')) / 1e6 / completed AS mean,
  quantilesExactInclusiveIf(0.5, 0.95, 0.99)((settled - first) / 1e6, state = 'completed') AS percentiles,
  maxIf(settled - first, state = 'completed') / 1e6 AS max,
  countIf(state = 'running') AS running,
  countIf(state = 'abandoned') AS abandoned,
  countIf(state = 'orphan') AS orphan
FROM (${indent(timingsSql(input), 2)})${every === undefined ? '' : `\nWHERE settled >= ${from} AND settled < ${to}`}
GROUP BY ${keys.join(', ')}`
}

const indent = (sql: string, by: number): string => sql.replaceAll('\n', `\n${' '.repeat(by)}`)
