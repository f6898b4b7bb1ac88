// Pieces of the panels' Flux. Instead of parameters it has Grafana's expressions: Grafana puts in literals before
// InfluxDB sees the query, so every map over all marks stays arithmetic on columns and literals. Grafana also replaces
// any `x.bucket`, `x.organization` and `x.windowPeriod`, whatever the x: no column may have such a name.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { type FluxText, flux, fluxExpression, fluxInteger } from '../../store/influx/client.ts'
import { classifyMarks, pairNeighbours, readMarks, settledInRange } from '../../store/influx/pairing.ts'
import { STAMP_REACH_NS } from '../../store/order.ts'
import { fluxPattern, fluxTarget, type Scope, type Target, type Variable, WITHOUT_META } from './target.ts'

export const BUCKET = fluxExpression('v.defaultBucket')
export const START = fluxExpression('v.timeRangeStart')
export const STOP = fluxExpression('v.timeRangeStop')
/** ns since the epoch: Grafana's are ms. */
export const FROM_NS = fluxExpression('$' + '{__from}000000')
export const TO_NS = fluxExpression('$' + '{__to}000000')
/** The hidden variable: the dashboard's `now`, an integer: Flux's own now() would slow every map down. */
export const NOW_NS = fluxExpression('$' + '{now}')
export const EVERY_NS = fluxExpression('($__interval_ms * 1000000)')
/** How far a mark may lie ahead of now. */
export const AHEAD = fluxExpression(`${BigInt(MAX_AHEAD_US) * 1000n}ns`)
const AHEAD_NS = fluxInteger(BigInt(MAX_AHEAD_US) * 1000n + STAMP_REACH_NS)

/** A panel that would pair more marks than this fails and says so: pairing takes about 10 s and 500 MB per million. */
const PANEL_MAX_MARKS = 1_000_000

export const ask = (query: FluxText): Target => fluxTarget(query.toString())

export const pattern = (variable: Variable): FluxText => fluxExpression(fluxPattern(variable))

/**
 * Conditions on `r`'s tags, pushed down. The store takes a missing tag for an empty one, so a chosen meta also selects
 * series without meta, which `keepMeta` drops. (A condition that is not pushed down would keep all later steps out.)
 */
export function whereScope(scope: Scope): FluxText {
  const where = flux`r.account =~ ${pattern('account')} and r.process =~ ${pattern('process')}`
  return scope === 'processes' ? where : flux`${where} and r.meta =~ ${fluxExpression(fluxPattern('meta', '|'))}`
}

export function keepMeta(scope: Scope): FluxText {
  if (scope === 'processes') return flux``
  return flux`
  |> filter(fn: (r) => exists r.meta or "" =~ ${pattern('meta')} or ${WITHOUT_META} =~ ${pattern('meta')})`
}

/** The start of a range, or an error if it holds more marks than a panel may pair. The store counts, in a few ms. */
function boundedStart(start: FluxText, stop: FluxText, where: FluxText): FluxText {
  const message = `More than ${PANEL_MAX_MARKS} marks to pair: choose a shorter range, or fewer processes.`
  return flux`marks = from(bucket: ${BUCKET})
  |> range(start: ${start}, stop: ${stop})
  |> filter(fn: (r) => r._measurement == "mark" and r._field == "at" and ${where})
  |> count()
  |> group()
  |> sum()
  |> findColumn(fn: (key) => true, column: "_value")
first = if length(arr: marks) > 0 and marks[0] > ${PANEL_MAX_MARKS} then die(msg: ${message}) else ${start}
`
}

/** Definitions that go before `classified` or `recent`, and the read itself. */
export interface BoundedRead {
  readonly guard: FluxText
  readonly rows: FluxText
}

/** The marks that decide the range's timings, classified. */
export function classified(maxRunNs: bigint, scope: Scope, withUid: boolean): BoundedRead {
  const maxRun = fluxInteger(maxRunNs)
  const start = flux`time(v: ${FROM_NS} - ${maxRun})`
  const stop = flux`time(v: ${TO_NS} + ${maxRun} + ${AHEAD_NS})`
  const where = whereScope(scope)
  const read = readMarks({ bucket: BUCKET, start: flux`first`, stop, where, withUid, steps: keepMeta(scope) })
  return {
    guard: boundedStart(start, stop, where),
    rows: flux`${read}${pairNeighbours(false)}${classifyMarks(maxRun, flux`(${NOW_NS} - ${maxRun})`)}`,
  }
}

/** The marks that decide what is running now, classified. A start without a next mark runs: all are within MAX_RUN. */
export function recent(maxRunNs: bigint, withUid: boolean): BoundedRead {
  const start = fluxExpression(`time(v: int(v: now()) - ${maxRunNs})`)
  const stop = fluxExpression(`time(v: int(v: now()) + ${BigInt(MAX_AHEAD_US) * 1000n})`)
  const where = whereScope('processes')
  const read = readMarks({ bucket: BUCKET, start: flux`first`, stop, where, withUid })
  return {
    guard: boundedStart(start, stop, where),
    rows: flux`${read}${pairNeighbours(false)}${classifyMarks(fluxInteger(maxRunNs), flux`0`)}`,
  }
}

/** `completed`: a table per `slot` (ns, start of an interval) of the completed runs that ended in it, with `ms`. */
export function completedBySlot(maxRunNs: bigint): FluxText {
  const { guard, rows } = classified(maxRunNs, 'process', false)
  return flux`${guard}completed = ${rows}
  |> map(fn: (r) => ({r with slot: \
if r.code == 1 and ${settledInRange(FROM_NS, TO_NS)} then r.ended / ${EVERY_NS} * ${EVERY_NS} else -1}))
  |> keep(columns: ["slot", "ms"])
  |> group(columns: ["slot"])
  |> filter(fn: (r) => r.slot >= 0)
`
}

/** Per upper bound, of each table: how many have at most that many ms and more than the bound before. */
export function histogram(bounds: readonly number[]): FluxText {
  const bins = fluxExpression(`[${[0, ...bounds].map((le) => le.toFixed(1)).join(', ')}]`)
  return flux`
  |> histogram(column: "ms", upperBoundColumn: "le", countColumn: "runs", bins: ${bins})
  |> difference(columns: ["runs"])`
}

/** One field of a measurement; later steps are pushed down as far as possible. `more` are further conditions. */
export const pushedDown = (measurement: string, field: string, scope: Scope, more: FluxText = flux``): FluxText =>
  flux`from(bucket: ${BUCKET})
  |> range(start: ${START}, stop: ${STOP})
  |> filter(fn: (r) => r._measurement == ${measurement} and r._field == ${field} and ${whereScope(scope)}${more})`

/** Counted by the store per series and interval; `by` are the tags to group by. */
export const countOverTime = (read: FluxText, by: readonly string[]): FluxText => flux`${read}
  |> aggregateWindow(every: v.windowPeriod, fn: count, createEmpty: false, timeSrc: "_start")
  |> group(columns: ${[...by, '_time']})
  |> sum()
  |> group(columns: ${by})
  |> sort(columns: ["_time"])`
