// A process of its own for kill.slow.ts, because a directory of the engine belongs to one process.
// `write DIR ROUND`: writes batches until it is killed, and prints the number of each when it is acknowledged. `read DIR`: prints what is stored.
import type { Exception } from '../../../src/event/event.ts'
import { openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { openStore } from './subjects.ts'

const BATCH = 100
const US = 1_795_211_562_000_000

const [mode, dir, round] = process.argv.slice(2)
const address = { path: dir!, database: 'stint' }
const store = await openStore(address)
const sink = store.createSink()
const prepared = await sink.prepare()
if (prepared.kind !== 'stored') throw new Error(JSON.stringify(prepared))

if (mode === 'write') {
  for (let batch = 0; ; batch++) {
    const events = Array.from({ length: BATCH }, (_, i): Exception => {
      const stamp = { us: US + (Number(round) * 1_000_000 + batch) * 1000 + i, sub: 0 }
      return {
        kind: 'exception',
        account: 'a',
        process: `round ${round}`,
        meta: `${batch}`,
        stamp,
        exception: 'x'.repeat(500),
      }
    })
    const result = await sink.write(events)
    if (result.kind !== 'stored') throw new Error(JSON.stringify(result))
    process.stdout.write(`${batch}\n`)
  }
}
const client = await openClickHouseClient(address, 30_000)
const rows = await client.select(
  'SELECT process, meta AS batch, toUInt32(count()) AS events FROM stint.exceptions GROUP BY process, meta',
)
process.stdout.write(JSON.stringify(rows))
await client.close()
await store.close()
