// The panels' questions about points in InfluxDB, put together from the same pieces of Flux as the API's answers. In place of parameters stand Grafana's
// expressions: it puts a literal in for each before InfluxDB sees the query, so that every map over all marks stays arithmetic on columns and literals.
// Grafana also replaces any `x.bucket`, `x.organization` and `x.windowPeriod`, whatever the x: no column may be called so.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { type FluxText, flux, fluxExpression, fluxInteger } from '../../store/influx/client.ts'
import {
  classifyMarks,
  highestPlaces,
  overlapsRange,
  pairNeighbours,
  readMarks,
  settledAt,
  settledInRange,
} from '../../store/influx/pairing.ts'
import { readNewestPoints } from '../../store/influx/processes.ts'
import { STAMP_REACH_NS } from '../../store/marks-window.ts'
import {
  durationBounds,
  type PointQueries,
  RUN_CODES,
  SILENCE_DAYS,
  SLOWEST_RUNS,
  TABLE_ROWS,
  TIMELINE_RUNS,
  type VariableQuery,
} from './point-queries.ts'
import { fluxPattern, type Scope, type Variable, WITHOUT_META } from './selection.ts'
import { fluxTarget, INFLUXDB } from './target.ts'

const BUCKET = fluxExpression('v.defaultBucket')
const START = fluxExpression('v.timeRangeStart')
const STOP = fluxExpression('v.timeRangeStop')
/** ns since the epoch: Grafana's are ms. */
const FROM_NS = fluxExpression('$' + '{__from}000000')
const TO_NS = fluxExpression('$' + '{__to}000000')
/** The hidden variable: what `now` is for the whole dashboard, an integer where Flux's own now() would slow every map down. */
const NOW_NS = fluxExpression('$' + '{now}')
const EVERY_NS = fluxExpression('($__interval_ms * 1000000)')
/** How far a mark may lie ahead of now, and its stamp behind its time. */
const AHEAD_NS = fluxInteger(BigInt(MAX_AHEAD_US) * 1000n + STAMP_REACH_NS)

const pattern = (variable: Variable): FluxText => fluxExpression(fluxPattern(variable))

/**
 * Conditions on `r`'s tags that the store judges itself. It takes a tag that is missing for an empty one: where a meta is chosen, series without meta come
 * along, and `keepMeta` drops them. (What the store cannot judge would keep all that follows out of it too.)
 */
function whereScope(scope: Scope): FluxText {
  const ofAccount = flux`r.account =~ ${pattern('account')}`
  if (scope === 'accounts') return ofAccount
  return flux`${ofAccount} and r.process =~ ${pattern('process')} and r.meta =~ ${fluxExpression(fluxPattern('meta', '|'))}`
}

function keepMeta(scope: Scope): FluxText {
  if (scope === 'accounts') return flux``
  return flux`
  |> filter(fn: (r) => exists r.meta or "" =~ ${pattern('meta')} or ${WITHOUT_META} =~ ${pattern('meta')})`
}

/** `maxRunNs` is MAX_RUN of the Stint that writes. */
export function createFluxQueries(maxRunNs: bigint): PointQueries {
  const MAX_RUN_NS = fluxInteger(maxRunNs)
  const OVERLAPS = overlapsRange(FROM_NS, TO_NS, true)
  const LE = durationBounds(maxRunNs)

  /** The marks that decide the range's timings, classified. */
  const classified = (scope: Scope, withUid: boolean): FluxText =>
    flux`${readMarks({
      bucket: BUCKET,
      start: flux`time(v: ${FROM_NS} - ${MAX_RUN_NS})`,
      stop: flux`time(v: ${TO_NS} + ${MAX_RUN_NS} + ${AHEAD_NS})`,
      where: whereScope(scope),
      withUid,
    })}${keepMeta(scope)}${pairNeighbours(false)}${classifyMarks(MAX_RUN_NS, flux`(${NOW_NS} - ${MAX_RUN_NS})`)}`

  /** The marks that decide what is running now, classified. A start without a next mark is running: no mark that is read is older than MAX_RUN. */
  const recent = (where: FluxText, withUid: boolean): FluxText =>
    flux`${readMarks({
      bucket: BUCKET,
      start: fluxExpression(`-${maxRunNs}ns`),
      stop: fluxExpression(`${BigInt(MAX_AHEAD_US) * 1000n}ns`),
      where,
      withUid,
    })}${pairNeighbours(false)}${classifyMarks(MAX_RUN_NS, flux`0`)}`

  /** A table a `slot` (ns, the start of an interval) of the completed runs that ended in it, with `ms`. */
  const completedBySlot = (): FluxText => flux`completed = ${classified('process', false)}
  |> map(fn: (r) => ({r with state: if ${settledInRange(FROM_NS, TO_NS)} then r.state else "outside", slot: ${settledAt} / ${EVERY_NS} * ${EVERY_NS}}))
  |> keep(columns: ["state", "slot", "ms"])
  |> group(columns: ["state", "slot"])
  |> filter(fn: (r) => r.state == "completed")
`

  /** Per upper bound, of each table: how many have at most that many ms and more than the bound before. */
  const histogram = (bounds: readonly number[]): FluxText => flux`
  |> histogram(column: "ms", upperBoundColumn: "le", countColumn: "runs", bins: ${fluxExpression(`[${[0, ...bounds].map((le) => le.toFixed(1)).join(', ')}]`)})
  |> difference(columns: ["runs"])`

  const pushedDown = (measurement: string, field: string, scope: Scope): FluxText => flux`from(bucket: ${BUCKET})
  |> range(start: ${START}, stop: ${STOP})
  |> filter(fn: (r) => r._measurement == ${measurement} and r._field == ${field} and ${whereScope(scope)})`

  /** Counted a series and window in the store; `by` are the tags that are told apart. */
  const countOverTime = (read: FluxText, by: readonly string[]): FluxText => flux`${read}
  |> aggregateWindow(every: v.windowPeriod, fn: count, createEmpty: false, timeSrc: "_start")
  |> group(columns: ${[...by, '_time']})
  |> sum()
  |> group(columns: ${by})
  |> sort(columns: ["_time"])`

  return {
    marksOverTime: () =>
      ask(flux`${countOverTime(pushedDown('mark', 'at', 'accounts'), ['mark'])}
  |> map(fn: (r) => ({_time: r._time, _value: r._value, _field: if r.mark == "start" then "starts" else "ends"}))
  |> group(columns: ["_field", "_time"])
  |> sum()
  |> group(columns: ["_field"])
  |> sort(columns: ["_time"])`),

    metricsOverTime: () =>
      ask(flux`${countOverTime(pushedDown('metric', 'value', 'accounts'), [])}
  |> set(key: "_field", value: "metrics")`),

    startsByProcess: () =>
      ask(
        countOverTime(
          flux`${pushedDown('mark', 'at', 'accounts')}
  |> filter(fn: (r) => r.mark == "start")`,
          ['process'],
        ),
      ),

    runningNow: () =>
      ask(flux`${recent(whereScope('accounts'), true)}
  |> map(fn: (r) => ({r with place: if r.state == "running" then 9223372036854775807 - r.at else -1}))${highestPlaces(TABLE_ROWS)}
  |> map(fn: (r) => ({r with started: time(v: r.at), running_ms: float(v: int(v: now()) - r.at) / 1000000.0}))
  |> keep(columns: ["account", "process", "meta", "uid", "started", "running_ms"])`),

    runsByState: () =>
      ask(flux`${classified('process', false)}
  |> map(fn: (r) => ({r with state: if ${OVERLAPS} then r.state else "outside"}))
  |> keep(columns: ["state", "at"])
  |> group(columns: ["state"])
  |> count(column: "at")
  |> filter(fn: (r) => r.state != "outside")
  |> group()
  |> rename(columns: {at: "runs"})`),

    durationsOverTime: () => {
      const figure = (name: string, of: FluxText) => flux`completed |> ${of} |> figure(name: ${name})`
      const quantile = (q: string) => flux`quantile(column: "ms", q: ${fluxExpression(q)}, method: "exact_mean")`
      return ask(flux`${completedBySlot()}
figure = (tables=<-, name) => tables
  |> group()
  |> map(fn: (r) => ({_time: time(v: r.slot), _value: r.ms, _field: name}))

union(tables: [
  ${figure('p50', quantile('0.5'))},
  ${figure('p95', quantile('0.95'))},
  ${figure('p99', quantile('0.99'))},
  ${figure('max', flux`max(column: "ms")`)},
])
  |> group(columns: ["_field"])
  |> sort(columns: ["_time"])`)
    },

    timeline: () => {
      const { completed, failed, running, abandoned, orphan } = RUN_CODES
      return ask(flux`runs = ${classified('process', true)}
  |> map(fn: (r) => ({r with place: if ${OVERLAPS} then r.at else -1}))${highestPlaces(TIMELINE_RUNS)}
  |> map(fn: (r) => ({r with run: if exists r.uid then string(v: time(v: r.at)) + " " + r.uid else string(v: time(v: r.at))}))

union(tables: [
  runs |> map(fn: (r) => ({run: r.run, _time: time(v: r.at), _value:
    if r.state == "completed" then ${completed} else if r.state == "failed" then ${failed} else if r.state == "running" then ${running} else if r.state == "abandoned" then ${abandoned} else ${orphan}})),
  runs |> map(fn: (r) => ({run: r.run, _value: 0, _time: time(v:
    if r.state == "completed" or r.state == "failed" then r.ended else if r.state == "running" then ${NOW_NS} else r.at + ${EVERY_NS})})),
])
  |> group(columns: ["run"])
  |> sort(columns: ["_time"])`)
    },

    durationHistogram: () =>
      ask(flux`${completedBySlot()}
completed
  |> group()${histogram(LE)}
  |> keep(columns: ["le", "runs"])`),

    durationHeatmap: () =>
      ask(flux`${completedBySlot()}
completed${histogram(LE)}
  |> group()
  |> map(fn: (r) => ({_time: time(v: r.slot), _value: r.runs, le: string(v: r.le)}))
  |> group(columns: ["le"])
  |> sort(columns: ["_time"])`),

    slowestRuns: () =>
      ask(flux`${classified('process', true)}
  |> map(fn: (r) => ({r with place: if r.state == "completed" and ${OVERLAPS} then r.ns else -1}))${highestPlaces(SLOWEST_RUNS)}
  |> map(fn: (r) => ({r with started: time(v: r.at), ended: time(v: r.ended), took_ms: r.ms}))
  |> keep(columns: ["account", "meta", "uid", "started", "ended", "took_ms"])`),

    unfinishedRuns: () =>
      ask(flux`${classified('process', true)}
  |> map(fn: (r) => ({r with place: if (r.state == "abandoned" or r.state == "orphan") and ${OVERLAPS} then r.at else -1}))${highestPlaces(TABLE_ROWS)}
  |> map(fn: (r) => ({r with at: time(v: r.at)}))
  |> keep(columns: ["account", "meta", "uid", "state", "at"])`),

    metricValues: () =>
      ask(flux`${pushedDown('metric', 'value', 'process')}
  |> aggregateWindow(every: v.windowPeriod, fn: mean, createEmpty: false, timeSrc: "_start")${keepMeta('process')}
  |> keep(columns: ["_time", "_value", "account", "meta", "name"])`),

    longestRunning: () =>
      ask(flux`${recent(flux`exists r.account`, false)}
  |> map(fn: (r) => ({r with since: if r.state == "running" then r.at else 9223372036854775807}))
  |> group(columns: ["account", "process"])
  |> min(column: "since")
  |> filter(fn: (r) => r.state == "running")
  |> map(fn: (r) => ({account: r.account, process: r.process, _time: now(), _value: float(v: int(v: now()) - r.since) / 1000000000.0}))`),

    silence: () =>
      ask(flux`${readNewestPoints(BUCKET, fluxExpression(`-${SILENCE_DAYS}d`), fluxExpression(`${BigInt(MAX_AHEAD_US) * 1000n}ns`), flux`exists r.account`)}
  |> keep(columns: ["_time", "account", "process"])
  |> group(columns: ["account", "process"])
  |> max(column: "_time")
  |> map(fn: (r) => ({account: r.account, process: r.process, _time: now(), _value: float(v: int(v: now()) - int(v: r._time)) / 1000000000.0}))`),

    variable: (variable) => variableQuery(variable, VARIABLES[variable]),

    hidden: [variableQuery('now', flux`import "array"\narray.from(rows: [{_value: string(v: int(v: now()))}])`)],
  }
}

const ask = (query: FluxText) => fluxTarget(query.toString())

const variableQuery = (name: string, query: FluxText): VariableQuery => ({
  name,
  datasource: INFLUXDB,
  query: { query: query.toString(), refId: 'InfluxVariableQueryEditor-VariableQuery' },
})

const tagValues = (tag: string, where: FluxText): FluxText =>
  flux`schema.tagValues(bucket: ${BUCKET}, tag: ${tag}, predicate: (r) => ${where}, start: ${START}, stop: ${STOP})`

const VARIABLES: Readonly<Record<Variable, FluxText>> = {
  account: flux`import "influxdata/influxdb/schema"
${tagValues('account', flux`exists r.account`)}`,
  process: flux`import "influxdata/influxdb/schema"
${tagValues('process', whereScope('accounts'))}`,
  meta: flux`import "array"
import "influxdata/influxdb/schema"
union(tables: [
  array.from(rows: [{_value: ${WITHOUT_META}}]),
  ${tagValues('meta', flux`${whereScope('accounts')} and r.process =~ ${pattern('process')}`)},
])`,
}
