// The pairing rule (store/pair-marks.ts) as the Flux pieces of Grafana's dashboards, so that a contract test proves
// them equal to the rule.
//
//   readMarks ▶ pairNeighbours ▶ classifyMarks ▶ per mark: process, meta, at, code, ended, ns, ms (uid, stamp)
//
// Every step over all marks stays a `map` of plain arithmetic on columns and literals, which InfluxDB vectorizes: 0.2 s
// for a million rows. A variable, block, function or `filter` goes row by row: 2 s per filter, 25 s per map.
import { type FluxText, flux, fluxExpression, fluxInteger } from '../../../src/store/influx/client.ts'

export interface MarksRead {
  /** A Flux expression each: a string, and two times. */
  readonly bucket: FluxText
  readonly start: FluxText
  readonly stop: FluxText
  /** Conditions on `r`'s tags. */
  readonly where: FluxText
  /** Uid and stamp cost a third more: only where single runs are shown. */
  readonly withUid: boolean
  /** More marks than this are an error instead: pairing takes about 10 s and 500 MB per million. */
  readonly maxMarks?: number
}

/**
 * One row per mark in one table: at, pair (and uid), account, process, meta if any. The number of tables costs more
 * than that of rows. `_time` is the stamp, up to a second after `at`: for a range of times `stop` must be a second
 * later. Columns are dropped before `pivot` copies them per mark; `mark` stays until then: a start and an end may share
 * a stamp. Each series adds a row with the pair `BOUNDARY`, so neighbours always belong to one process and meta; the
 * store counts the series, also for `maxMarks`. (From one shared read nothing would be pushed down.)
 */
export function readMarks({ bucket, start, stop, where, withUid, maxMarks }: MarksRead): FluxText {
  const read = flux`from(bucket: ${bucket})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => r._measurement == "mark" and ${where})`
  const tooMany = () =>
    flux`die(msg: "More than ${maxMarks} marks to pair: choose a shorter range, or fewer processes.")`
  const pair = maxMarks === undefined ? BOUNDARY : flux`if r.at > ${maxMarks} then ${tooMany()} else ${BOUNDARY}`
  return flux`union(tables: [
${read}
  |> filter(fn: (r) => ${withUid ? WITH_UID : WITHOUT_UID})
  |> drop(columns: ["_start", "_stop", "_measurement"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> group(),
${read}
  |> filter(fn: (r) => r._field == "at")
  |> count()
  |> group()
  |> rename(columns: {_value: "at"})
  |> keep(columns: ["account", "process", "meta", "at"])
  |> cumulativeSum(columns: ["at"])
  |> map(fn: (r) => ({r with pair: ${pair}})),
])
  |> group()`
}

/** 4·hash + 2 with the highest hash: sorts after the marks of its process and meta, and is neither start nor end. */
export const BOUNDARY = fluxInteger(2305843009213693950n)

const WITHOUT_UID = flux`r._field == "at" or r._field == "pair"`

// Only non-empty uids, and never `uid == ""`: InfluxDB 2.7 loses an empty string that follows others in a column and
// shifts the rest up a row, here and in later steps. A uid that is not read is null, which is safe.
const WITH_UID = flux`r._field == "at" or r._field == "pair" or (r._field == "uid" and r._value != "")`

/**
 * Adds each mark's differences to its neighbours in the rule's order: `before`, `before_ns`, `after`, `after_ns`. As
 * `pair` is 4·hash(uid) + m (0 start, 1 end, 3 failed end), `before == 1` is an end (`3`: failed end) after its uid's
 * start, `after == -1` (`-3`) a start before its uid's end (failed end), `after == 0` the same mark of the same uid;
 * other values are another uid or do not fit; null: no neighbour. `run` is the hash, `m` the rest: both from the pair
 * moved above zero, as Flux divides towards zero. `key` orders by time and m (`at` is a multiple of 1000); a second
 * sort column costs a tenth. `withStamp` orders marks of one run, kind and time, and adds `stamp` (a time).
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
    n: 1,
  }))
  |> drop(columns: ["_time", "mark", "pair"])
  |> sort(columns: ${order})
  |> difference(columns: ["before", "before_ns"], keepFirst: true)
  |> cumulativeSum(columns: ["n"])
  |> sort(columns: ["n"], desc: true)
  |> difference(columns: ["after", "after_ns"], keepFirst: true)`
}

/** State codes: numbers, as strings are several times slower in a map. `paired`: an end with a start, or a boundary. */
export const STATE_CODES = { paired: 0, completed: 1, running: 2, abandoned: 3, orphan: 4, failed: 5 } as const

/**
 * Adds `code` (starts: completed, failed, running, abandoned; ends: orphan, failed, paired), `ended` (the end of a completed or
 * failed timing, otherwise `at`), and `ns` and `ms`, the duration.
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
      else if r.m == 3 then 5
      else 4,
  }))
  |> map(fn: (r) => ({r with ended: if r.m == 0 and (r.code == 1 or r.code == 5) then r.at - r.after_ns else r.at}))
  |> map(fn: (r) => ({r with ns: r.ended - r.at, ms: float(v: r.ended - r.at) / 1000000.0}))`

/** Whether a classified mark's timing overlaps [from, to); running ones reach into it when `nowReaches`. */
export const overlapsRange = (fromNs: FluxText, toNs: FluxText, nowReaches: boolean): FluxText =>
  flux`r.code != 0 and r.at < ${toNs} and (r.ended >= ${fromNs}${nowReaches ? flux` or r.code == 2` : flux``})`

/** Whether a classified mark's timing was settled in [from, to). */
export const settledInRange = (fromNs: FluxText, toNs: FluxText): FluxText =>
  flux`r.code != 0 and r.ended >= ${fromNs} and r.ended < ${toNs}`

/** A column `state` in words, for the few rows of an answer. */
export const nameStates: FluxText = flux`
  |> map(fn: (r) => ({r with state: ${fluxExpression(
    Object.entries(STATE_CODES)
      .map(([state, code]) => `if r.code == ${code} then "${state}" else `)
      .join(''),
  )}"outside"}))`
