// `bun run bench shipping [--events N] [--json]`: how fast a backlog drains from the spool into each store, beside the same batches sent by
// a plain fetch (InfluxDB) or the engine's own insert (ClickHouse, embedded), one after the other in one run.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../src/clock.ts'
import type { Event } from '../../src/event/event.ts'
import { fromRecord, toRecord } from '../../src/event/record.ts'
import { createLog } from '../../src/log.ts'
import { createShipper } from '../../src/ship/shipper.ts'
import { openSpool } from '../../src/spool/open-spool.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { openDeadLetters } from '../../src/state/dead-letters.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { pushLines } from '../../src/store/influx/encode-events.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import type { Sink } from '../../src/store/sink.ts'
import { influxd } from '../support/influxd.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, surroundings } from './machine.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'shipping'),
  options: { events: { type: 'string', default: '500000' }, json: { type: 'boolean', default: false } },
})
const events = Number(values.events)
const BATCH = 5000
const log = createLog({ level: 'warn', pretty: false })
const dir = tempDir('bench')
const startUs = systemClock.wallUs() - events * 100
const rows: { what: string; eventsPerSecond: number; seconds: number; rssMb: number }[] = []

const eventAt = (i: number): Event => ({
  kind: i % 2 === 0 ? 'start' : 'end',
  account: 'acc_bench',
  process: `process ${(i >> 1) % 50}`,
  meta: 'region eu',
  uid: `run-${i >> 1}`,
  stamp: { us: startUs + i * 100, sub: 0 },
})

async function fillSpool(name: string): Promise<Spool> {
  const spool = await openSpool({ dir: join(dir, name), maxBytes: 2 ** 36, minFreeBytes: 0, log })
  for (let i = 0; i < events; ) {
    let last: Promise<void> | undefined
    for (const end = Math.min(events, i + 2000); i < end; i++)
      last = spool.append(toRecord(eventAt(i)), eventAt(i).stamp.us)
    await last
  }
  return spool
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const from = performance.now()
  let peakRss = 0
  const watch = setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss())
  }, 50)
  await work()
  clearInterval(watch)
  const seconds = (performance.now() - from) / 1000
  rows.push({
    what,
    eventsPerSecond: Math.round(events / seconds),
    seconds: Number(seconds.toFixed(2)),
    rssMb: Math.round(peakRss / 2 ** 20),
  })
  process.stderr.write(`${what}: ${Math.round(events / seconds)}/s\n`)
}

async function drain(what: string, sink: Sink): Promise<void> {
  const spool = await fillSpool(what)
  const deadLetters = openDeadLetters({ path: join(dir, `${what}.sqlite`), maxBytes: 2 ** 30, clock: systemClock, log })
  const meter = { delivered() {}, expired() {}, dead() {}, deliverySeconds() {}, batch() {} }
  const shipper = createShipper({ destination: 'points', spool, sink, deadLetters, clock: systemClock, log, meter })
  await sink.prepare()
  await timed(`stint → ${what}`, async () => {
    shipper.start()
    while (spool.stats().records > 0) await Bun.sleep(5)
  })
  await shipper.stop()
  await spool.close()
  deadLetters.close()
}

/** The batches are decoded and encoded too, so that only Stint's own way is left out. */
function* batches(): Generator<Event[]> {
  for (let i = 0; i < events; i += BATCH)
    yield Array.from({ length: Math.min(BATCH, events - i) }, (_, k) => fromRecord(toRecord(eventAt(i + k))))
}

async function benchInflux(): Promise<void> {
  const server = await influxd()
  const ours = await server.freshBucket()
  await drain('InfluxDB', createInfluxSink({ ...ours, retentionDays: 0, log }))
  const theirs = await server.freshBucket()
  await timed('plain fetch → InfluxDB', async () => {
    const url = `${theirs.url}/api/v2/write?precision=ns&org=${encodeURIComponent(theirs.org)}&bucket=${encodeURIComponent(theirs.bucket)}`
    for (const batch of batches()) {
      const lines: string[] = []
      for (const event of batch) pushLines(lines, event)
      const answer = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Token ${theirs.token}` },
        body: lines.join('\n'),
      })
      if (answer.status !== 204) throw new Error(`InfluxDB answered ${answer.status}`)
    }
  })
}

async function benchClickHouse(): Promise<void> {
  const store = await openClickHouse({
    address: { path: join(dir, 'clickhouse') },
    holds: ['points', 'exceptions'],
    retentionDays: 0,
    log,
  })
  await drain('ClickHouse, embedded', store.createSink())
  const sink = store.createSink()
  await timed('plain inserts → ClickHouse, embedded', async () => {
    for (const batch of batches()) {
      const result = await sink.write(batch)
      if (result.kind !== 'stored') throw new Error(`ClickHouse: ${result.kind}`)
    }
  })
  await store.close()
}

const before = surroundings()
await benchInflux()
await benchClickHouse()
const after = surroundings()
if (values.json) console.log(JSON.stringify({ before, after, events, rows }))
else {
  console.log(`\n${inWords(before, after)}\n${events} events\n`)
  console.table(rows)
}
rmSync(dir, { recursive: true, force: true })
process.exit(0)
