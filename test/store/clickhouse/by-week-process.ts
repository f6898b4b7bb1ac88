// A process that uses the embedded engine in a directory, and can be killed: `by-week-process.ts DIR make`, `DIR kill STATEMENT`, which
// partitions the marks by week and kills itself there, or `DIR read`, which opens the store as a start does and prints all rows.
import { type ClickHouseClient, openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { partitionByWeek } from '../../../src/store/clickhouse/partition-by-week.ts'
import { createSchema } from '../../../src/store/clickhouse/schema.ts'
import { ACCOUNTS, someHistory } from '../../copy/some-history.ts'
import { partitionByMonth, partitionsOf } from './by-month.ts'
import { openStore, readRows, silent } from './subjects.ts'

const DATABASE = 'stint'
const [path = '', mode, statement = ''] = process.argv.slice(2)
const address = { path, database: DATABASE }
const client = await openClickHouseClient(address, 30_000)

/** SIGKILL in one statement: it has a moment to be in the middle. */
function killIn(statement: number): ClickHouseClient {
  let statements = 0
  return {
    ...client,
    async run(sql) {
      if (statements++ === statement) {
        void client.run(sql)
        await Bun.sleep(2)
        process.kill(process.pid, 'SIGKILL')
      }
      await client.run(sql)
    },
  }
}

async function make(): Promise<void> {
  const store = await openStore(address)
  const sink = store.createSink()
  await sink.prepare()
  for (let i = 0; i < 2; i++) await sink.write([...someHistory(20_000)])
  await partitionByMonth(client, DATABASE)
  await store.close()
}

async function read(): Promise<object> {
  const store = await openStore(address)
  while ((await store.createSink().prepare()).kind === 'retry');
  const rows = []
  for (const account of ACCOUNTS) rows.push(...(await readRows(client, DATABASE, account)))
  await store.close()
  const texts = rows.map((row) => JSON.stringify(row)).toSorted()
  return {
    rows: texts.length,
    hash: Bun.hash(texts.join('\n')).toString(),
    tables: await partitionsOf(client, DATABASE),
  }
}

if (mode === 'make') await make()
if (mode === 'kill') {
  const options = { schema: createSchema(DATABASE), database: DATABASE, tables: ['marks'] as const, log: silent }
  await partitionByWeek(killIn(Number(statement)), { ...options, isClosed: () => false })
}
if (mode === 'read') console.log(JSON.stringify(await read()))
process.exit(0) // the engine keeps threads
