// Fills the stores of a DATA_DIR for growth.ts, past HTTP and the spools, in big batches: `load-marks.ts DATA_DIR ACCOUNT MARKS [INFLUX]`, the
// last one the address as JSON. A process of its own, so that its memory is not taken for that of the questions. Prints one line of JSON.
//
// Marks are spread evenly over the days: runs of fifty processes and four metas, each with a uid, from a second to a quarter of an hour, one in
// a thousand without an end, one in twenty failed. For ten marks there is a metric, for a hundred an exception. All follows from the run's number.
import { join } from 'node:path'
import { openAccounts } from '../../src/account/open-accounts.ts'
import { systemClock } from '../../src/clock.ts'
import type { Event } from '../../src/event/event.ts'
import { createLog } from '../../src/log.ts'
import type { InfluxConfig } from '../../src/settings.ts'
import { noteNodeId } from '../../src/state/data-dir-lock.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { openStores } from '../../src/store/open-stores.ts'
import type { Sink, WriteResult } from '../../src/store/sink.ts'
import type { InfluxBucket } from '../support/influxd.ts'
import { cpuMs, writtenBytes } from '../support/process-figures.ts'

export const DAYS = 90
export const PROCESSES = 50

const [FAULTS, NAMES, METAS] = [40, 5, 4]
const DAY_US = 86_400e6
const LONGEST_LOG2_S = 10
/** Each store's way to be fed quickly; what Stint itself ships at once is smaller. */
const BATCH_EVENTS = { clickhouse: 50_000, influxdb: 10_000 } as const

/** A number from 0 to 1 that is the run's own. */
function chanceOf(run: number, what: number): number {
  let hash = Math.imul(run + 1, 0x9e3779b1) ^ Math.imul(what + 1, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

/** As clients make them: by chance, so that neighbours in time are nowhere near each other in the sorting key. */
export const uidOf = (run: number): string =>
  [4, 5].map((what) => Math.floor(chanceOf(run, what) * 2 ** 32).toString(16)).join('')

function* eventsOf(account: string, marks: number, untilUs: number): Generator<Event> {
  const runs = marks / 2
  const stepUs = (DAYS * DAY_US) / runs
  for (let run = 0; run < runs; run++) {
    const startUs = Math.floor(untilUs - (runs - run) * stepUs)
    const at = (us: number) => ({ stamp: { us, sub: 0 } })
    const meta = Math.floor(chanceOf(run, 0) * METAS)
    const common = { account, process: `process ${run % PROCESSES}`, meta: meta === 0 ? '' : `region ${meta}` }
    const uid = uidOf(run)
    yield { kind: 'start', ...common, uid, ...at(startUs) }
    const endUs = startUs + Math.floor(2 ** (chanceOf(run, 1) * LONGEST_LOG2_S) * 1e6)
    if (run % 1000 !== 999 && endUs < untilUs)
      yield { kind: 'end', ...common, uid, ...(run % 20 === 7 && { failed: true as const }), ...at(endUs) }
    if (run % 5 === 0)
      yield { kind: 'metrics', ...common, items: [[`metric ${(run / 5) % NAMES}`, chanceOf(run, 2)]], ...at(startUs) }
    if (run % 50 === 1) yield { kind: 'exception', ...common, exception: exceptionOf(run), ...at(startUs) }
  }
}

function exceptionOf(run: number): string {
  const fault = Math.floor(chanceOf(run, 3) * FAULTS)
  const frames = Array.from({ length: 8 }, (_, i) => `    at step${fault}_${i} (import.ts:${fault * 10 + i}:9)`)
  return [`Error: request ${run} failed at stage ${String.fromCharCode(97 + fault)}`, ...frames].join('\n')
}

function expectStored(result: WriteResult): void {
  if (result.kind !== 'stored') throw new Error(`${result.kind}: ${result.reason}`)
}

async function load(dataDir: string, account: string, marks: number, influx: InfluxConfig | undefined) {
  const log = createLog({ level: 'warn', pretty: false })
  const embeddedPath = join(dataDir, 'clickhouse')
  const stores = await openStores({ influx, clickhouse: undefined, embeddedPath, retentionDays: 0, log })
  const { points, exceptions } = stores.sinks
  for (const sink of [points, exceptions]) expectStored(await sink.prepare())
  const batchOf = (sink: Sink) => BATCH_EVENTS[sink.store as keyof typeof BATCH_EVENTS]
  const waiting = new Map<Sink, Event[]>([
    [points, []],
    [exceptions, []],
  ])
  let [loaded, others] = [0, 0]
  const flush = async (sink: Sink) => {
    const events = waiting.get(sink)!
    waiting.set(sink, [])
    if (events.length > 0) expectStored(await sink.write(events))
  }
  for (const event of eventsOf(account, marks, systemClock.wallUs())) {
    if (event.kind === 'start' || event.kind === 'end') loaded++
    else others++
    const sink = event.kind === 'exception' ? exceptions : points
    if (waiting.get(sink)!.push(event) === batchOf(sink)) await flush(sink)
  }
  for (const sink of waiting.keys()) await flush(sink)
  const bytesAtRest = influx === undefined ? await untilMerged(embeddedPath) : undefined
  await stores.close()
  return { marks: loaded, events: loaded + others, bytesAtRest }
}

/**
 * Parts are merged in the background for a while: a store that has come so far by and by has them merged. Returns the
 * bytes of what is left; those that went into others stay on the disk for eight minutes.
 */
async function untilMerged(path: string): Promise<number> {
  const client = await openClickHouseClient({ path }, 30_000)
  for (let quiet = 0; quiet < 5; await Bun.sleep(200)) {
    const [row] = await client.select<{ n: string }>('SELECT count() AS n FROM system.merges')
    quiet = Number(row!.n) === 0 ? quiet + 1 : 0
  }
  const sum = "SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 'stint'"
  const [row] = await client.select<{ bytes: string }>(sum)
  await client.close()
  return Number(row!.bytes)
}

/** The first account of a DATA_DIR that no Stint has open and which belongs to NODE_ID 0 from now on. */
export async function makeAccount(dataDir: string): Promise<{ id: string; secret: string }> {
  const log = createLog({ level: 'warn', pretty: false })
  const accounts = openAccounts({ path: join(dataDir, 'accounts.sqlite'), clock: systemClock, log, signup: 'first' })
  const { account, key } = await accounts.create({
    email: 'bench@example.com',
    password: crypto.randomUUID(),
    address: '127.0.0.1',
  })
  await accounts.close()
  noteNodeId(dataDir, 0) // or accounts without it look like those of another node
  return { id: account.id, secret: key.secret }
}

interface Loaded {
  readonly marks: number
  /** With metrics and exceptions. */
  readonly events: number
  /** Of the process that loads, with the engine until it has merged. */
  readonly cpuMs: number
  readonly writtenBytes: number
  /** Of the engine. */
  readonly bytesAtRest?: number
}

/** Fills the stores of a DATA_DIR in a process of its own. */
export async function loadMarks(
  store: 'embedded' | 'influxdb',
  dataDir: string,
  account: string,
  size: number,
  influx?: InfluxBucket,
) {
  const args = [dataDir, account, String(size), ...(influx === undefined ? [] : [JSON.stringify(influx)])]
  const child = Bun.spawn([process.execPath, import.meta.path, ...args], { stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the marks could not be loaded into ${store}`)
  const { marks, seconds, ...figures } = JSON.parse(text) as Loaded & { readonly seconds: number }
  process.stderr.write(`${store}: ${marks} marks loaded in ${seconds.toFixed(1)} s, ${Math.round(marks / seconds)}/s\n`)
  return { store, marks, ...figures, seconds: Number(seconds.toFixed(1)) }
}

if (import.meta.main) {
  const [dataDir, account, marks, influx] = process.argv.slice(2)
  const from = performance.now()
  const loaded = await load(dataDir!, account!, Number(marks), influx === undefined ? undefined : JSON.parse(influx))
  const figures = { cpuMs: cpuMs(process.pid), writtenBytes: writtenBytes('self') }
  console.log(JSON.stringify({ ...loaded, ...figures, seconds: (performance.now() - from) / 1000 }))
  process.exit(0) // the engine keeps threads
}
