// The panels' questions about points in InfluxDB, put together from the same pieces of Flux as the API's answers.
import { type FluxText, flux, fluxExpression } from '../../store/influx/client.ts'
import { highestPlaces, nameStates, overlapsRange, settledInRange } from '../../store/influx/pairing.ts'
import {
  ask,
  BUCKET,
  classified,
  countOverTime,
  EVERY_NS,
  FROM_NS,
  histogram,
  NOW_NS,
  offered,
  pushedDown,
  recent,
  START,
  STOP,
  TO_NS,
  whereScope,
  withVariables,
} from './flux-parts.ts'
import {
  durationBounds,
  type PointQueries,
  SLOWEST_RUNS,
  TABLE_PROCESSES,
  TABLE_ROWS,
  TIMELINE_RUNS,
  type VariableQuery,
} from './point-queries.ts'
import { INFLUXDB, sharedTarget, type Variable, WITHOUT_META } from './target.ts'

const quantile = (q: string) => flux`quantile(column: "ms", q: ${fluxExpression(q)}, method: "exact_mean")`

const OVERLAPS = overlapsRange(FROM_NS, TO_NS, true)

/** `maxRunNs` is MAX_RUN of the Stint that writes. */
export function createFluxQueries(maxRunNs: bigint): PointQueries {
  return {
    processTable: () => {
      const figure = (name: string, of: FluxText, value: FluxText) => flux`${of}
    |> map(fn: (r) => ({account: r.account, process: ${offered('r.process')}, figure: ${name}, _value: ${value}}))`
      const completed = flux`runs |> filter(fn: (r) => r.code == 1)`
      return ask(flux`runs = ${classified(maxRunNs, 'processes', false)}
  |> map(fn: (r) => ({r with code: if ${OVERLAPS} then r.code else 0}))
  |> keep(columns: ["account", "process", "code", "at", "ms"])
  |> group(columns: ["account", "process", "code"])
  |> filter(fn: (r) => r.code != 0)
newest = runs
  |> group(columns: ["account", "process"])
  |> max(column: "at")
points = from(bucket: ${BUCKET})
  |> range(start: ${START}, stop: ${STOP})
  |> filter(fn: (r) => (r._measurement == "mark" and r._field == "at") or \
(r._measurement == "metric" and r._field == "value"))
  |> filter(fn: (r) => ${whereScope('processes')})
  |> last()
  |> keep(columns: ["account", "process", "_time"])
  |> group(columns: ["account", "process"])
  |> max(column: "_time")

union(tables: [
  ${figure('last_run', flux`newest`, flux`float(v: r.at) / 1000000.0`)},
  ${figure('state', flux`newest`, flux`float(v: r.code)`)},
  ${figure('last_ms', flux`newest |> filter(fn: (r) => r.code == 1 or r.code == 5)`, flux`r.ms`)},
  ${figure('median_ms', flux`${completed} |> ${quantile('0.5')}`, flux`r.ms`)},
  ${figure('p95_ms', flux`${completed} |> ${quantile('0.95')}`, flux`r.ms`)},
  ${figure('failed', flux`runs |> filter(fn: (r) => r.code == 5) |> count(column: "at")`, flux`float(v: r.at)`)},
  ${figure('abandoned', flux`runs |> filter(fn: (r) => r.code == 3) |> count(column: "at")`, flux`float(v: r.at)`)},
  ${figure('last_seen', flux`points`, flux`float(v: int(v: r._time)) / 1000000.0`)},
])
  |> group()
  |> pivot(rowKey: ["account", "process"], columnKey: ["figure"], valueColumn: "_value")
  |> limit(n: ${TABLE_PROCESSES})`)
    },

    marksOverTime: () =>
      ask(flux`${countOverTime(pushedDown('mark', 'at', 'processes'), ['mark'])}
  |> map(fn: (r) => ({_time: r._time, _value: r._value, _field: \
if r.mark == "start" then "starts" else if r.mark == "end" then "ends" else "failed"}))
  |> group(columns: ["_field"])
  |> sort(columns: ["_time"])`),

    metricsOverTime: () =>
      ask(flux`${countOverTime(pushedDown('metric', 'value', 'processes'), [])}
  |> set(key: "_field", value: "metrics")
  |> group(columns: ["_field"])`),

    startsByProcess: () =>
      ask(countOverTime(pushedDown('mark', 'at', 'processes', flux` and r.mark == "start"`), ['process'])),

    failedByProcess: (scope) =>
      ask(countOverTime(pushedDown('mark', 'at', scope, flux` and r.mark == "failed"`), ['process'])),

    runningNow: () =>
      ask(flux`${recent(maxRunNs)}
  |> map(fn: (r) => ({r with place: \
if r.code == 2 then 9223372036854775807 - r.at else -1}))${highestPlaces(TABLE_ROWS)}
  |> map(fn: (r) => ({r with process: ${offered('r.process')}, started: time(v: r.at), \
running_ms: float(v: int(v: now()) - r.at) / 1000000.0}))
  |> keep(columns: ["account", "process", "meta", "uid", "started", "running_ms"])`),

    runsByState: () => ask(pairedPanels(maxRunNs), ['generate'], 'state|runs'),
    durationsOverTime: () => sharedTarget('Runs', { only: 'ended|p50|p95|p99|max' }),
    timeline: () => sharedTarget('Runs', { only: '(changed|code)( .*)?' }),
    durationHistogram: () => sharedTarget('Runs', { only: 'le|completed' }),
    durationHeatmap: () => sharedTarget('Runs', { only: '(slot|counted)( .*)?' }),
    slowestRuns: () => sharedTarget('Runs', { prefix: SLOWEST }),
    unfinishedRuns: () => sharedTarget('Runs', { prefix: UNFINISHED }),

    metricValues: () =>
      ask(flux`${pushedDown('metric', 'value', 'process', flux` and r.name =~ metric`)}
  |> aggregateWindow(every: v.windowPeriod, fn: mean, createEmpty: false, timeSrc: "_start")
  |> keep(columns: ["_time", "_value", "account", "process", "meta", "name"])`),

    variable: (name) => variableQuery(name, withVariables(VALUES[name], ['array', 'influxdata/influxdb/schema'])),

    hidden: [variableQuery('now', flux`import "array"\narray.from(rows: [{_value: string(v: int(v: now()))}])`)],
  }
}

/**
 * What the panels of the process dashboard show of paired marks, in one query: pairing them takes most of the time. No
 * two results have a column of one name, by which the panels select theirs.
 */
function pairedPanels(maxRunNs: bigint): FluxText {
  const LE = durationBounds(maxRunNs)
  const figure = (name: string, of: FluxText) => flux`completed |> ${of} |> figure(name: ${name})`
  const table = (prefix: string) => flux`
  |> rename(fn: (column) => ${prefix} + column)
  |> yield(name: ${prefix})`
  return flux`runs = ${classified(maxRunNs, 'process', true)}
  |> map(fn: (r) => ({r with code: if ${OVERLAPS} then r.code else 0, slot: \
if r.code == 1 and ${settledInRange(FROM_NS, TO_NS)} then r.ended / ${EVERY_NS} * ${EVERY_NS} else -1}))
  |> filter(fn: (r) => r.code != 0)
completed = runs
  |> filter(fn: (r) => r.slot >= 0)
  |> keep(columns: ["slot", "ms"])
  |> group(columns: ["slot"])

runs
  |> keep(columns: ["code", "at"])
  |> group(columns: ["code"])
  |> count(column: "at")
  |> group()
  |> rename(columns: {at: "runs"})${nameStates}
  |> keep(columns: ["state", "runs"])
  |> yield(name: "runs")

figure = (tables=<-, name) => tables
  |> group()
  |> map(fn: (r) => ({slot: r.slot, ms: r.ms, figure: name}))
union(tables: [
  ${figure('p50', quantile('0.5'))},
  ${figure('p95', quantile('0.95'))},
  ${figure('p99', quantile('0.99'))},
  ${figure('max', flux`max(column: "ms")`)},
])
  |> pivot(rowKey: ["slot"], columnKey: ["figure"], valueColumn: "ms")
  |> sort(columns: ["slot"])
  |> map(fn: (r) => ({r with ended: time(v: r.slot)}))
  |> drop(columns: ["slot"])
  |> yield(name: "durations")

newest = runs
  |> sort(columns: ["at"], desc: true)
  |> limit(n: ${TIMELINE_RUNS})
  |> map(fn: (r) => ({r with n: 1}))
  |> cumulativeSum(columns: ["n"])
  |> map(fn: (r) => ({r with run: (if r.n < 10 then "0" else "") + string(v: r.n) + " " + r.process + " " + \
(if exists r.uid then r.uid else if exists r.meta then r.meta else "")}))
union(tables: [
  newest |> map(fn: (r) => ({run: r.run, changed: time(v: r.at), code: r.code})),
  newest |> map(fn: (r) => ({run: r.run, code: 0, changed: time(v:
    if r.code == 1 or r.code == 5 then r.ended else if r.code == 2 then ${NOW_NS} else r.at + ${EVERY_NS})})),
])
  |> group(columns: ["run"])
  |> sort(columns: ["changed"])
  |> yield(name: "timeline")

completed
  |> group()${histogram(LE)}
  |> rename(columns: {runs: "completed"})
  |> keep(columns: ["le", "completed"])
  |> yield(name: "histogram")

counts = completed${histogram(LE)}
  |> group()
  |> map(fn: (r) => ({slot: time(v: r.slot), counted: int(v: r.runs), le: string(v: r.le)}))
slots = generate.from(
    count: (${TO_NS} - 1) / ${EVERY_NS} - ${FROM_NS} / ${EVERY_NS} + 1,
    fn: (n) => 0,
    start: ${START},
    stop: ${STOP},
  )
  |> map(fn: (r) => ({r with n: 1}))
  |> cumulativeSum(columns: ["n"])
  |> map(fn: (r) => ({slot: time(v: (${FROM_NS} / ${EVERY_NS} + r.n - 1) * ${EVERY_NS}), \
counted: 0, le: ${String(LE[0])}}))
union(tables: [counts, slots])
  |> group(columns: ["le", "slot"])
  |> sum(column: "counted")
  |> group(columns: ["le"])
  |> sort(columns: ["slot"])
  |> yield(name: "heatmap")

runs
  |> filter(fn: (r) => r.code == 1)
  |> sort(columns: ["ns"], desc: true)
  |> limit(n: ${SLOWEST_RUNS})
  |> map(fn: (r) => ({r with started: time(v: r.at), ended: time(v: r.ended), took_ms: r.ms}))
  |> keep(columns: ["account", "process", "meta", "uid", "started", "ended", "took_ms"])${table(SLOWEST)}

runs
  |> filter(fn: (r) => r.code >= 3)
  |> sort(columns: ["at"], desc: true)
  |> limit(n: ${TABLE_ROWS})${nameStates}
  |> map(fn: (r) => ({r with at: time(v: r.at)}))
  |> keep(columns: ["account", "process", "meta", "uid", "state", "at"])${table(UNFINISHED)}`
}

const [SLOWEST, UNFINISHED] = ['slowest ', 'unfinished ']

const variableQuery = (name: string, query: FluxText): VariableQuery => ({
  name,
  datasource: INFLUXDB,
  query: { query: query.toString(), refId: 'InfluxVariableQueryEditor-VariableQuery' },
})

const tagValues = (tag: string, where: FluxText): FluxText =>
  flux`schema.tagValues(bucket: ${BUCKET}, tag: ${tag}, predicate: (r) => ${where}, start: ${START}, stop: ${STOP})
  |> map(fn: (r) => ({_value: ${offered('r._value')}}))`

const VALUES: Readonly<Record<Variable, FluxText>> = {
  account: tagValues('account', flux`exists r.account`),
  process: tagValues('process', flux`r.account =~ account`),
  meta: flux`union(tables: [
  array.from(rows: [{_value: ${WITHOUT_META}}]),
  ${tagValues('meta', whereScope('processes'))},
])`,
  metric: tagValues('name', flux`r._measurement == "metric" and ${whereScope('processes')}`),
}
