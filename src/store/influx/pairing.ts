// The pairing rule (store/pair-marks.ts) as Flux, in pieces from which Grafana's panels are composed; the source itself pairs in timings.ts. A
// contract test proves the Flux equal to the rule.
//
//   readMarks ──▶ pairNeighbours ──▶ classifyMarks ──▶ one row per mark: process, meta, at, state, ended, ns, ms (and uid, stamp)
//
// Everything done to every mark stays a `map` of plain arithmetic on columns and literals: InfluxDB runs that vectorized, a million
// rows in 0.2 s. With a variable, a block, a function or a `filter` it goes row by row, 2 s a filter and 25 s a map.
import { type FluxText, flux, fluxExpression, fluxInteger } from './client.ts'

export interface MarksRead {
  /** A Flux expression each: a string, and two times. */
  readonly bucket: FluxText
  readonly start: FluxText
  readonly stop: FluxText
  /** Conditions on `r`'s tags. */
  readonly where: FluxText
  /** Uid and stamp cost a third more: only where single runs are shown. */
  readonly withUid: boolean
  /** Steps on the tables of account, process and meta, which cost little while they look at nothing else. */
  readonly steps?: FluxText
}

/**
 * One row per mark: at, pair (and uid), account, process and meta (where there is one), all in one table: what a step costs depends on the number of tables
 * more than on that of rows. `at` is the mark's time, `_time` its stamp, which lies up to a second later: to read marks of a range of times, `stop` must lie a
 * second behind it. Columns are dropped before `pivot`, which would copy them for every mark; only `mark` must stay until then: a start and an end may have
 * the same stamp. Each series adds a row with the pair `BOUNDARY`, so that neighbours never belong to two processes or metas.
 */
export function readMarks({ bucket, start, stop, where, withUid, steps = flux`` }: MarksRead): FluxText {
  const read = flux`from(bucket: ${bucket})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => r._measurement == "mark" and ${where})`
  return flux`union(tables: [
${read}
  |> filter(fn: (r) => ${withUid ? WITH_UID : WITHOUT_UID})
  |> drop(columns: ["_start", "_stop", "_measurement"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> drop(columns: ["mark"])${steps}
  |> group(),
${read}
  |> filter(fn: (r) => r._field == "at")
  |> last()
  |> drop(columns: ["_start", "_stop", "_measurement", "_field", "mark"])
  |> group()
  |> rename(columns: {_value: "at"})
  |> map(fn: (r) => ({r with pair: ${BOUNDARY}})),
])
  |> group()`
}

/** 4·hash + 2 with the highest hash: sorted behind the marks of its process and meta, and neither a start nor an end. */
export const BOUNDARY = fluxInteger(2305843009213693950n)

const WITHOUT_UID = flux`r._field == "at" or r._field == "pair"`

// Only uids that are not empty, and never `uid == ""`: where an empty string follows others in a column, InfluxDB 2.7 loses it and shifts the rest up
// by one row, in this read as in any later step. A uid that is not read is null, and null is safe.
const WITH_UID = flux`r._field == "at" or r._field == "pair" or (r._field == "uid" and r._value != "")`

/**
 * Adds to each mark the differences between it and its neighbours in the rule's order: `before` and `before_ns`, `after` and `after_ns`.
 * `pair` is 4·hash(uid) + m (0 start, 1 end, 3 failed end), so `before == 1` says "before me, a start of my uid, and I am an end", `before == 3` "…, and I am a
 * failed end"; `after == -1` and `-3` "after me, an end (a failed end) of my uid, and I am a start"; `after == 0` "after me, the same mark of my uid"; anything
 * else another uid or a mark that does not fit. Null: no neighbour. `run` is the hash alone and `m` the rest; the pair is moved above zero for it,
 * because Flux divides towards zero. `key` is the order by time and m in one column, for `at` is a multiple of 1000: a second column to sort by costs a tenth.
 * Marks of one run, kind and time are alike to the rule; `withStamp` gives them an order, and a column `stamp` (a time), for rows that must keep their places.
 */
export const pairNeighbours = (withStamp: boolean): FluxText => {
  const order = ['account', 'process', 'meta', 'run', 'key', ...(withStamp ? ['stamp'] : [])]
  return flux`${withStamp ? flux`\n  |> rename(columns: {_time: "stamp"})` : flux``}
  |> map(fn: (r) => ({r with
    run: (r.pair + 2305843009213693952) / 4,
    m: (r.pair + 2305843009213693952) % 4,
    key: r.at + (r.pair + 2305843009213693952) % 4,
    before: r.pair,
    before_ns: r.at,
    after: r.pair,
    after_ns: r.at,
  }))
  |> drop(columns: ["_time", "pair"])
  |> sort(columns: ${order})
  |> difference(columns: ["before", "before_ns"], keepFirst: true)
  |> sort(columns: ${order}, desc: true)
  |> difference(columns: ["after", "after_ns"], keepFirst: true)`
}

/** The codes of states: numbers, because texts cost several times as much in a map. `paired` is an end that belongs to a start, or a boundary. */
export const STATE_CODES = { paired: 0, completed: 1, running: 2, abandoned: 3, orphan: 4, failed: 5 } as const

/**
 * Adds `code`: completed, failed, running or abandoned of a start; orphan or paired of an end. `ended` is the time of the mark that settled the timing: the end
 * of a completed or failed one, otherwise `at`. And `ns` and `ms`, the duration.
 * `maxRunNs` and `oldestRunningNs` (now − MAX_RUN) must be integer literals.
 */
export const classifyMarks = (maxRunNs: FluxText, oldestRunningNs: FluxText): FluxText => flux`
  |> map(fn: (r) => ({r with
    code: if r.m == 0 then
        (if r.after == -1 and r.after_ns >= -${maxRunNs} then 1
        else if r.after == -3 and r.after_ns >= -${maxRunNs} then 5
        else if r.after == 0 or r.after == -1 or r.after == -3 or r.at < ${oldestRunningNs} then 3
        else 2)
      else if r.m == 2 or ((r.before == 1 or r.before == 3) and r.before_ns <= ${maxRunNs}) then 0
      else 4,
  }))
  |> map(fn: (r) => ({r with ended: if r.code == 1 or r.code == 5 then r.at - r.after_ns else r.at}))
  |> map(fn: (r) => ({r with ns: r.ended - r.at, ms: float(v: r.ended - r.at) / 1000000.0}))`

/** Whether a classified mark is that of a timing that overlaps [from, to); running ones reach into it when `nowReaches`. */
export const overlapsRange = (fromNs: FluxText, toNs: FluxText, nowReaches: boolean): FluxText =>
  flux`r.code != 0 and r.at < ${toNs} and (r.ended >= ${fromNs}${nowReaches ? flux` or r.code == 2` : flux``})`

/** Whether a classified mark is that of a timing that was settled in [from, to). */
export const settledInRange = (fromNs: FluxText, toNs: FluxText): FluxText =>
  flux`r.code != 0 and r.ended >= ${fromNs} and r.ended < ${toNs}`

/** A column `state` in words, for the few rows of an answer. */
export const nameStates: FluxText = flux`
  |> map(fn: (r) => ({r with state: ${fluxExpression(
    Object.entries(STATE_CODES)
      .map(([state, code]) => `if r.code == ${code} then "${state}" else `)
      .join(''),
  )}"outside"}))`

/** The `limit` rows of all tables with the highest `place`, highest first; rows with the place −1 are excluded. */
export function highestPlaces(limit: number): FluxText {
  const highest = flux`
  |> sort(columns: ["place"], desc: true)
  |> limit(n: ${limit})`
  return flux`${highest}
  |> group()${highest}
  |> filter(fn: (r) => r.place >= 0)`
}
