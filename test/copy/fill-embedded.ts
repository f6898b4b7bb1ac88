// Fills the embedded engine of a DATA_DIR with the first events of the history; a process of its own, because a process can hold one directory only.
import { join } from 'node:path'
import pino from 'pino'
import { destinationOf } from '../../src/event/event.ts'
import { openStores } from '../../src/store/open-stores.ts'
import { someHistory } from './some-history.ts'

const [dataDir = '', count = ''] = process.argv.slice(2)
const stores = await openStores({
  influx: undefined,
  clickhouse: undefined,
  embeddedPath: join(dataDir, 'clickhouse'),
  retentionDays: 0,
  log: pino({ level: 'silent' }),
})
await stores.sinks.points.prepare()
const events = [...someHistory(Number(count))]
const began = performance.now()
for (let i = 0; i < events.length; i += 10_000) {
  const batch = Map.groupBy(events.slice(i, i + 10_000), ({ kind }) => destinationOf(kind))
  for (const [destination, part] of batch) {
    const result = await stores.sinks[destination].write(part)
    if (result.kind !== 'stored') throw new Error(result.reason)
    if (i % 3 === 0) await stores.sinks[destination].write(part) // twice: the stores keep one
  }
}
console.log(Math.round(performance.now() - began))
await stores.close()
