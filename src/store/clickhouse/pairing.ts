// The pairing rule (store/pair-marks.ts) in SQL, used by the source and the dashboards.
//
// A mark is packed into a UInt128, in this order from the highest bit:
//
//     run 64 bits              hash of (process, meta, uid)
//     µs 53 · kind 2 · node 9  the `place`: time, 0 start / 1 end / 3 failed end, node (several may share a µs)
//
// Sorted, a run's marks are neighbours in the rule's order, three times as fast as with a window over the strings.
// Duplicates are neighbours too and are dropped, so this reads the table: the FINAL view costs four times as much.
// (Two marks with one run, time and kind are one event unless several nodes stamped them: hence `node`.)
// Two runs of one process whose hashes collide would mix; among 5 million runs the odds are one in a million.
//
// Each mark is then compared with its neighbours. An end yields its completed or failed timing (a failed end also
// without a start: then the `place` is its own), or an orphan; a start
// yields one only if no end settles it. So each mark yields at most one timing: the one that it settles.

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
  /** Leaves out marks that arrived later: those with a later time and an even stamp. */
  readonly asOf?: string
  /** Tells metas apart; without it there is no column `meta`. */
  readonly byMeta: boolean
  /** Adds a column `account` before the others; needed when the conditions match more than one account. */
  readonly byAccount?: boolean
}

/** Splits a process's marks so that the threads share the sorting. */
const SHARDS = 16

/** Numbers in the middle: strings would be built for every mark. */
const STATES =
  String.raw`Enum8(\'none\' = 0, \'completed\' = 1, \'running\' = 2, ` +
  String.raw`\'abandoned\' = 3, \'orphan\' = 4, \'failed\' = 5)`

/** `stamp_rest` of lane 0 is 4·NODE_ID + 2·turn < 1000; a mark with its own time (odd) has one stamp only. */
export const NODE = 'if(stamp_rest % 2 = 1, 511, bitShiftRight(stamp_rest, 1))'

/** The hash of a run, `byAccount` with its account. */
export const runHash = (byAccount: boolean): string => `cityHash64(${byAccount ? 'account, ' : ''}process, meta, uid)`

/**
 * A SELECT of the range's timings in no order: (account,) process, meta, state (a TimingState), `first` and `settled`
 * (Int64 times of the first and the settling mark; equal without a start and an end), `run` (`runHash`), `place` (of
 * the first mark, UInt64, ascending with time). No two timings have the same (place, run).
 */
export function timingsSql(input: PairingInput): string {
  const { from, to, maxRun, now, byMeta, byAccount = false } = input
  const keys = `${byAccount ? 'account, ' : ''}process${byMeta ? ', meta' : ''}`
  return `SELECT ${keys}, state, if(paired, ns_before, ns) AS first, ns AS settled, run, \
if(paired, place_before, place) AS place
FROM (
  SELECT ${keys}, run, ns, ns_before, place, place_before,
    kind != 0 AND same_before AND kind_before = 0 AND ns - ns_before <= ${maxRun} AS paired,
    CAST(multiIf(
      kind != 0, multiIf(kind = 3, 5, paired, 1, 4),
      NOT same_next, if(${now} - ns <= ${maxRun}, 2, 3),
      kind_next != 0 AND ns_next - ns <= ${maxRun}, 0,
      3
    ), '${STATES}') AS state
  FROM (
    SELECT ${keys},
      bitShiftRight(bitXor(mark, before), 64) = 0 AS same_before,
      bitShiftRight(bitXor(mark, next), 64) = 0 AS same_next,
      toUInt64(bitShiftRight(mark, 64)) AS run,
      ${unpack('mark', '')},
      ${unpack('before', '_before')},
      ${unpack('next', '_next')}
    FROM (
      SELECT ${keys}, arrayCompact(arraySort(groupArray(packed))) AS marks
      FROM (
        SELECT ${keys}, run, bitOr(bitShiftLeft(toUInt128(run), 64), \
bitOr(bitShiftLeft(us, 11), bitOr(bitShiftLeft(kind, 9), node))) AS packed
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
  `toUInt64(${packed}) AS place${suffix}, bitAnd(bitShiftRight(place${suffix}, 9), 3) AS kind${suffix}, ` +
  `toInt64(bitShiftRight(place${suffix}, 11)) * 1000 AS ns${suffix}`

function marksSql({ marks, where, readFrom, readTo, asOf, byAccount = false }: PairingInput, keys: string): string {
  const conditions = [
    ...where,
    `at >= fromUnixTimestamp64Nano(${readFrom}, 'UTC')`,
    `at < fromUnixTimestamp64Nano(${readTo}, 'UTC')`,
    ...(asOf === undefined ? [] : [`(at <= fromUnixTimestamp64Nano(${asOf}, 'UTC') OR stamp_rest % 2 = 1)`]),
  ]
  return `SELECT ${keys}, toUInt64(toUnixTimestamp64Micro(at)) AS us, toUInt64(CAST(mark, 'UInt8')) AS kind, \
${NODE} AS node, ${runHash(byAccount)} AS run
FROM ${marks}
WHERE ${conditions.join(' AND ')}`
}

interface SummaryInput extends PairingInput {
  /** A series: the bucket of the Int64 `settled`. */
  readonly bucket?: string
  /** Adds the columns `NEWEST`. */
  readonly newest?: boolean
  /** Follow 0.5, 0.95 and 0.99 in `percentiles`. */
  readonly quantiles?: readonly number[]
  /** A running timing that began before the range counts, too. */
  readonly hasEarlier?: boolean
}

/** Of a timing: its first mark is a start. */
export const HAS_START = 'bitAnd(bitShiftRight(place, 9), 3) = 0'

/** The newest runs of a row: times and a length in ns as text, '0' without any. */
const NEWEST = `,
  toString(maxIf(first, ${HAS_START})) AS last_start,
  toString(maxIf(settled, state = 'completed')) AS last_completed,
  toString(maxIf(settled, state = 'failed')) AS last_failed,
  toString(argMaxIf(settled - first, (settled, first), state IN ('completed', 'failed')
    AND ${HAS_START})) AS last_length`

/**
 * One row per process, with `byMeta` and `bucket` also per meta and bucket `at` (Int64), as in the tests'
 * summarize-timings.ts: completed, mean, percentiles (50, 95, 99), max (ms, of completed ones), failed, running, …
 */
export function summarySql(input: SummaryInput): string {
  const { byMeta, bucket, from, to, newest = false, quantiles = [], hasEarlier = false } = input
  const keys = ['process', ...(byMeta ? ['meta'] : []), ...(bucket === undefined ? [] : ['at'])]
  const at = bucket === undefined ? '' : `${bucket} AS at, `
  const others = ['failed', 'running', 'abandoned', 'orphan'].map((state) => `countIf(state = '${state}') AS ${state}`)
  return `SELECT process, ${byMeta ? 'meta, ' : ''}${at}countIf(state = 'completed') AS completed,
  toFloat64(sumIf(toInt128(settled - first), state = 'completed')) / 1e6 / completed AS mean,
  quantilesExactInclusiveIf(${[0.5, 0.95, 0.99, ...quantiles].join(', ')})(
    (settled - first) / 1e6, state = 'completed') AS percentiles,
  maxIf(settled - first, state = 'completed') / 1e6 AS max,
  ${others.join(', ')}${newest ? NEWEST : ''}
FROM (
  ${indent(timingsSql(input), 2)}
)
WHERE ${hasEarlier ? `(settled >= ${from} OR state = 'running')` : `settled >= ${from}`} AND settled < ${to}
GROUP BY ${keys.join(', ')}`
}

/**
 * One row per process, with `byMeta` also per meta, and bucket `at` in which a timing of the range begins or ends:
 * `peak`, the most that ran at the same moment, and `gained`, how many more ran at its end than at its beginning.
 * The rule is in store/at-once.ts.
 */
export function levelsSql(input: PairingInput & { readonly bucketOf: (ns: string) => string }): string {
  const { byMeta, from, to, bucketOf } = input
  const keys = `process${byMeta ? ', meta' : ''}`
  return `SELECT ${keys}, ${bucketOf('t')} AS at, max(level) AS peak, sum(d) AS gained
FROM (
  SELECT ${keys}, t, d, sum(d) OVER (PARTITION BY ${keys} ORDER BY t, d ROWS UNBOUNDED PRECEDING) AS level
  FROM (
    SELECT ${keys}, arrayJoin(if(state = 'running', [(began, 1)], [(began, 1), (ended, -1)])) AS moment,
      moment.1 AS t, toInt64(moment.2) AS d
    FROM (
      SELECT ${keys}, state, greatest(first, ${from}) AS began, greatest(settled, began + 1) AS ended
      FROM (
        ${indent(timingsSql(input), 8)}
      )
    )
  )
)
WHERE t < ${to}
GROUP BY ${keys}, at`
}

const indent = (sql: string, by: number): string => sql.replaceAll('\n', `\n${' '.repeat(by)}`)
