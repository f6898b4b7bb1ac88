// The pairing rule (DESIGN.md 6, query/pair-marks.ts) in SQL; the source and the dashboards are built from it.
//
// A mark is packed into a UInt128: 64 bits of a hash of (process, meta, uid), then its stamp, then one bit, 0 for a start and 1 for an end. Sorting the numbers of
// a process puts the marks of a run side by side in order of time, three times as fast as a window over the strings. Copies of a mark that was sent twice become
// neighbours too and are dropped there, so this reads the table and not the FINAL view, which costs four times as much as the reading itself.
// Two runs of one process whose hashes collide would mix; among 5 million of them the odds are one in a million.
//
// Each mark then looks at its neighbours. An end yields its completed timing or an orphan; a start yields a timing only when no end settles it. So every timing
// comes from the mark that settled it, and each mark yields at most one.

/** SQL expressions; times are Int64, ns since the epoch. */
export interface PairingInput {
  /** The table of the marks. */
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
  /** Tells metas apart; without it there is no column `meta`. */
  readonly byMeta: boolean
  /** For conditions that more than one account meets: a column `account` before the others. */
  readonly byAccount?: boolean
}

/** Splits a process's marks so that the threads share the sorting. */
const SHARDS = 16

/** Numbers in the middle: strings would be built for every mark. */
const STATES = String.raw`Enum8(\'none\' = 0, \'completed\' = 1, \'running\' = 2, \'abandoned\' = 3, \'orphan\' = 4)`

/**
 * A SELECT of the range's timings in no order: (account,) process, meta, state ('completed' | 'running' | 'abandoned' | 'orphan'), `first` and `settled`
 * (the stamps of the first mark and of the mark that settled it, Int64; equal but for a completed one).
 */
export function timingsSql(input: PairingInput): string {
  const { from, to, maxRun, now, byMeta, byAccount = false } = input
  const keys = `${byAccount ? 'account, ' : ''}process${byMeta ? ', meta' : ''}`
  return `SELECT ${keys}, state, if(state = 'completed', ns_before, ns) AS first, ns AS settled
FROM (
  SELECT ${keys}, ns, ns_before,
    CAST(multiIf(
      is_end, if(same_before AND NOT is_end_before AND ns - ns_before <= ${maxRun}, 1, 4),
      NOT same_next, if(${now} - ns <= ${maxRun}, 2, 3),
      is_end_next AND ns_next - ns <= ${maxRun}, 0,
      3
    ), '${STATES}') AS state
  FROM (
    SELECT ${keys},
      bitShiftRight(bitXor(mark, before), 64) = 0 AS same_before,
      bitShiftRight(bitXor(mark, next), 64) = 0 AS same_next,
      ${unpack('mark', '')},
      ${unpack('before', '_before')},
      ${unpack('next', '_next')}
    FROM (
      SELECT ${keys}, arrayCompact(arraySort(groupArray(packed))) AS marks
      FROM (
        SELECT ${keys}, run, bitOr(bitShiftLeft(toUInt128(run), 64), bitOr(bitShiftLeft(toUInt64(stamp), 1), mark = 'end')) AS packed
        FROM (
          ${indent(marksSql(input, keys), 10)}
        )
      )
      GROUP BY ${keys}, run % ${SHARDS}
    )
    ARRAY JOIN marks AS mark, arrayShiftRight(marks, 1) AS before, arrayShiftLeft(marks, 1) AS next
  )
)
WHERE state != 'none' AND first < ${to} AND if(state = 'running', greatest(ns, ${now}), settled) >= ${from}`
}

const unpack = (packed: string, suffix: string): string =>
  `bitAnd(toUInt8(${packed}), 1) AS is_end${suffix}, toInt64(bitShiftRight(toUInt64(${packed}), 1)) AS ns${suffix}`

function marksSql({ marks, where, readFrom, readTo, asOf, byAccount = false }: PairingInput, keys: string): string {
  const conditions = [
    ...where,
    `at >= fromUnixTimestamp64Nano(${readFrom}, 'UTC')`,
    `at < fromUnixTimestamp64Nano(${readTo}, 'UTC')`,
    ...(asOf === undefined ? [] : [`(stamp <= ${asOf} OR stamp % 2 = 1)`]),
  ]
  return `SELECT ${keys}, mark, toUnixTimestamp64Nano(at) AS stamp, cityHash64(${byAccount ? 'account, ' : ''}process, meta, uid) AS run
FROM ${marks}
WHERE ${conditions.join(' AND ')}`
}

export interface SummaryInput extends PairingInput {
  /** A series: buckets of this many ns. */
  readonly every?: string
}

/**
 * One row a process, with `byMeta` a process and meta, with `every` also a bucket `at` (Int64), by the rule of query/summarize-timings.ts: completed, mean,
 * percentiles (50, 95, 99), max (ms; of completed ones, and without meaning where there are none), running, abandoned, orphan.
 */
export function summarySql(input: SummaryInput): string {
  const { byMeta, every, from, to } = input
  const keys = ['process', ...(byMeta ? ['meta'] : []), ...(every === undefined ? [] : ['at'])]
  const bucket = every === undefined ? '' : `settled - settled % ${every} AS at, `
  return `SELECT process, ${byMeta ? 'meta, ' : ''}${bucket}countIf(state = 'completed') AS completed,
  toFloat64(sumIf(toInt128(settled - first), state = 'completed')) / 1e6 / completed AS mean,
  quantilesExactInclusiveIf(0.5, 0.95, 0.99)((settled - first) / 1e6, state = 'completed') AS percentiles,
  maxIf(settled - first, state = 'completed') / 1e6 AS max,
  countIf(state = 'running') AS running, countIf(state = 'abandoned') AS abandoned, countIf(state = 'orphan') AS orphan
FROM (
  ${indent(timingsSql(input), 2)}
)${every === undefined ? '' : `\nWHERE settled >= ${from} AND settled < ${to}`}
GROUP BY ${keys.join(', ')}`
}

const indent = (sql: string, by: number): string => sql.replaceAll('\n', `\n${' '.repeat(by)}`)
