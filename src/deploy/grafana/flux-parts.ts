// Pieces of the panels' Flux. Instead of parameters it has Grafana's expressions: Grafana puts in literals before
// InfluxDB sees the query, so every map over all marks stays arithmetic on columns and literals. Grafana also replaces
// any `x.bucket`, `x.organization` and `x.windowPeriod`, whatever the x: no column may have such a name.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { type FluxText, flux, fluxExpression, fluxInteger } from '../../store/influx/client.ts'
import { classifyMarks, pairNeighbours, readMarks } from '../../store/influx/pairing.ts'
import { STAMP_REACH_NS } from '../../store/order.ts'
import { DOLLAR, fluxTarget, type Scope, type Target, VARIABLES, WITHOUT_META } from './target.ts'

export const BUCKET = fluxExpression('v.defaultBucket')
export const START = fluxExpression('v.timeRangeStart')
export const STOP = fluxExpression('v.timeRangeStop')
/** ns since the epoch: Grafana's are ms. */
export const FROM_NS = fluxExpression('$' + '{__from}000000')
export const TO_NS = fluxExpression('$' + '{__to}000000')
/** The hidden variable: the dashboard's `now`, an integer: Flux's own now() would slow every map down. */
export const NOW_NS = fluxExpression('$' + '{now}')
export const EVERY_NS = fluxExpression('($__interval_ms * 1000000)')
/** How far behind a range the stamps of its marks may lie. */
const AHEAD_NS = fluxInteger(BigInt(MAX_AHEAD_US) * 1000n + STAMP_REACH_NS)

/** A panel that would pair more marks than this fails and says so: pairing takes about 10 s and 500 MB per million. */
const PANEL_MAX_MARKS = 1_000_000

/**
 * The values of a variable as a regular expression made of them; one made here is pushed down like a literal one.
 * Grafana's server replaces `$__interval` in values, too, which leaves an invalid `\1m`: the lists of values offer
 * `%24__` in place of `$__` (no name has a `%`), and here it becomes a dollar again.
 */
const CHOSEN = fluxExpression(String.raw`
chosen = (names) => {
  text = strings.replaceAll(v: regexp.getString(r: names), t: "${DOLLAR}", u: "\\$" + "__")
  return regexp.compile(v: "^(?:" + strings.replaceAll(v: text, t: "${WITHOUT_META}", u: "") + ")$")
}
`)

/** A Flux expression: the name as the lists of values offer it. */
export const offered = (name: string): FluxText =>
  flux`strings.replaceAll(v: ${fluxExpression(name)}, t: "$" + "__", u: ${DOLLAR})`

/** A query that begins with its imports and the variables that it names. */
export function withVariables(query: FluxText, packages: readonly string[] = []): FluxText {
  const named = VARIABLES.filter((name) => new RegExp(`=~ ${name}\\b`).test(String(query)))
  const imports = [...packages, 'regexp', 'strings']
  const lines = imports.map((name) => `import "${name}"\n`).join('')
  const chosen = named.map((name) => `${name} = chosen(names: /\${${name}:regex}/)\n`).join('')
  return flux`${fluxExpression(lines)}${named.length === 0 ? flux`` : CHOSEN}${fluxExpression(chosen)}${query}`
}

export const ask = (query: FluxText, packages: readonly string[] = [], only?: string): Target => ({
  ...fluxTarget(withVariables(query, packages).toString()),
  ...(only !== undefined && { only }),
})

/** Conditions on `r`'s tags, pushed down. The store takes a missing tag for an empty one. */
export const whereScope = (scope: Scope): FluxText =>
  scope === 'processes'
    ? flux`r.account =~ account and r.process =~ process`
    : flux`r.account =~ account and r.process =~ process and r.meta =~ meta`

/** The marks that decide the range's timings, classified. */
export function classified(maxRunNs: bigint, scope: Scope, withUid: boolean): FluxText {
  const maxRun = fluxInteger(maxRunNs)
  const [start, stop] = [flux`time(v: ${FROM_NS} - ${maxRun})`, flux`time(v: ${TO_NS} + ${maxRun} + ${AHEAD_NS})`]
  const read = readMarks({ bucket: BUCKET, start, stop, where: whereScope(scope), withUid, maxMarks: PANEL_MAX_MARKS })
  return flux`${read}${pairNeighbours(false)}${classifyMarks(maxRun, flux`(${NOW_NS} - ${maxRun})`)}`
}

/** The marks that decide what is running now, classified. A start without a next mark runs: all are within MAX_RUN. */
export function recent(maxRunNs: bigint): FluxText {
  const start = fluxExpression(`time(v: int(v: now()) - ${maxRunNs})`)
  const stop = fluxExpression(`time(v: int(v: now()) + ${BigInt(MAX_AHEAD_US) * 1000n})`)
  const where = whereScope('processes')
  const read = readMarks({ bucket: BUCKET, start, stop, where, withUid: true, maxMarks: PANEL_MAX_MARKS })
  return flux`${read}${pairNeighbours(false)}${classifyMarks(fluxInteger(maxRunNs), flux`0`)}`
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
