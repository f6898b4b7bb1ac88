// Fills the stores that the environment names with the first events of the history, by their sinks; a process of its own, because a process can hold one embedded
// engine only: `fill-embedded.ts COUNT [once]`. Without `once` a third of them is written twice. Prints the milliseconds that writing took.
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import { destinationOf, type Event } from '../../src/event/event.ts'
import { openStores } from '../../src/store/open-stores.ts'
import { someHistory } from './some-history.ts'

const BATCH = 10_000

const [count = '', once] = process.argv.slice(2)
const config = readConfig()
const stores = await openStores({
  ...config,
  embeddedPath: join(config.dataDir, 'clickhouse'),
  log: pino({ level: 'silent' }),
})
for (const sink of Object.values(stores.sinks)) await sink.prepare()

let tookMs = 0
let batches = 0
async function write(events: readonly Event[]): Promise<void> {
  const began = performance.now()
  for (const [destination, part] of Map.groupBy(events, (event) => destinationOf(event.kind))) {
    const result = await stores.sinks[destination].write(part)
    if (result.kind !== 'stored') throw new Error(result.reason)
    if (once === undefined && batches % 3 === 0) await stores.sinks[destination].write(part) // the stores keep one
  }
  tookMs += performance.now() - began
  batches++
}

let batch: Event[] = []
for (const event of someHistory(Number(count))) {
  batch.push(event)
  if (batch.length === BATCH) {
    await write(batch)
    batch = []
  }
}
await write(batch)
console.log(Math.round(tookMs))
await stores.close()
