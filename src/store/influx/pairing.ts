// The pairing rule (store/pair-marks.ts) as Flux, in pieces from which Grafana's panels are composed; the source itself pairs in timings.ts. A
// contract test proves the Flux equal to the rule.
//
//   readMarks ──▶ pairNeighbours ──▶ classifyMarks ──▶ one row per mark: process, meta, at, state, ended, ns, ms (and uid, stamp)
//
// Everything done to every mark stays a `map` of plain arithmetic on columns and literals: InfluxDB runs that vectorized, a million
// rows in 0.2 s. With a variable, a block, a function or a `filter` it goes row by row, 2 s a filter and 25 s a map.
import { type FluxText, flux } from './client.ts'

export interface MarksRead {
  /** A Flux expression each: a string, and two times. */
  readonly bucket: FluxText
  readonly start: FluxText
  readonly stop: FluxText
  /** Conditions on `r`'s tags. */
  readonly where: FluxText
  /** Uid and stamp cost a third more: only where single runs are shown. */
  readonly withUid: boolean
}

/**
 * One row per mark: at, pair (and uid), in one table per account, process and meta (where there is one). `at` is the mark's time, `_time` its stamp, which lies
 * up to a second later: to read marks of a range of times, `stop` must lie a second behind it. Columns are dropped before `pivot`, the slowest step of
 * all, which would copy them for every mark; only `mark` must stay until then: a start and an end may have the same stamp.
 */
export const readMarks = ({ bucket, start, stop, where, withUid }: MarksRead): FluxText => flux`from(bucket: ${bucket})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => r._measurement == "mark" and ${where})
  |> filter(fn: (r) => ${withUid ? WITH_UID : WITHOUT_UID})
  |> drop(columns: ["_start", "_stop", "_measurement"])
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> drop(columns: ["mark"])`

const WITHOUT_UID = flux`r._field == "at" or r._field == "pair"`

// Only uids that are not empty, and never `uid == ""`: where an empty string follows others in a column, InfluxDB 2.7 loses it and shifts the rest up
// by one row, in this read as in any later step. A uid that is not read is null, and null is safe.
const WITH_UID = flux`r._field == "at" or r._field == "pair" or (r._field == "uid" and r._value != "")`

/**
 * Adds to each mark the differences between it and its neighbours in the rule's order within its table: `before` and `before_ns`, `after` and `after_ns`.
 * `pair` is 4·hash(uid) + m (0 start, 1 end, 3 failed end), so `before == 1` says "before me, a start of my uid, and I am an end", `before == 3` "…, and I am a
 * failed end"; `after == -1` and `-3` "after me, an end (a failed end) of my uid, and I am a start"; `after == 0` "after me, the same mark of my uid"; anything
 * else another uid or a mark that does not fit. Null: no neighbour. `run` is the hash alone and `m` the rest; the pair is moved above zero for it,
 * because Flux divides towards zero. `key` is the order by time and m in one column, for `at` is a multiple of 1000: a second column to sort by costs a tenth.
 * Marks of one run, kind and time are alike to the rule; `withStamp` gives them an order, and a column `stamp` (a time), for rows that must keep their places.
 */
export const pairNeighbours = (withStamp: boolean): FluxText => {
  const order = ['run', 'key', ...(withStamp ? ['stamp'] : [])]
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

/**
 * Adds `state`: completed, failed, running or abandoned of a start; orphan of an end; paired of an end that belongs to a start. And of completed and failed
 * ones `ended` (the end's time), `ns` and `ms` (the duration).
 * `maxRunNs` and `oldestRunningNs` (now − MAX_RUN) must be integer literals.
 */
export const classifyMarks = (maxRunNs: FluxText, oldestRunningNs: FluxText): FluxText => flux`
  |> map(fn: (r) => ({r with
    state: if r.m == 0 then
        (if r.after == -1 and r.after_ns >= -${maxRunNs} then "completed"
        else if r.after == -3 and r.after_ns >= -${maxRunNs} then "failed"
        else if r.after == 0 or r.after == -1 or r.after == -3 or r.at < ${oldestRunningNs} then "abandoned"
        else "running")
      else if (r.before == 1 or r.before == 3) and r.before_ns <= ${maxRunNs} then "paired"
      else "orphan",
    ended: r.at - r.after_ns,
    ns: -r.after_ns,
    ms: float(v: -r.after_ns) / 1000000.0,
  }))`

/** Whether a classified mark has an end of its own. */
const HAS_ENDED = flux`(r.state == "completed" or r.state == "failed")`

/** Whether a classified mark is that of a timing that overlaps [from, to); running ones reach into it when `nowReaches`. */
export const overlapsRange = (fromNs: FluxText, toNs: FluxText, nowReaches: boolean): FluxText =>
  flux`r.state != "paired" and r.at < ${toNs} and (r.at >= ${fromNs} or (${HAS_ENDED} and r.ended >= ${fromNs})${
    nowReaches ? flux` or r.state == "running"` : flux``
  })`

/** Whether a classified mark is that of a timing that was settled in [from, to). */
export const settledInRange = (fromNs: FluxText, toNs: FluxText): FluxText =>
  flux`r.state != "paired" and ((${HAS_ENDED} and r.ended >= ${fromNs} and r.ended < ${toNs}) or (r.state != "completed" and r.state != "failed" and r.at >= ${fromNs} and r.at < ${toNs}))`

/** The time of the mark that settled a classified mark's timing. */
export const settledAt: FluxText = flux`(if ${HAS_ENDED} then r.ended else r.at)`

/** The `limit` rows of all tables with the highest `place`, highest first; rows with the place −1 are excluded. */
export function highestPlaces(limit: number): FluxText {
  const highest = flux`
  |> sort(columns: ["place"], desc: true)
  |> limit(n: ${limit})`
  return flux`${highest}
  |> group()${highest}
  |> filter(fn: (r) => r.place >= 0)`
}
