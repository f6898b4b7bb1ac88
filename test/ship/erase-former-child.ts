// Erases an account from the embedded engine of DATA_DIR, which is no longer configured, and prints what was logged and what is left; a process of its own,
// because a process can hold one engine only.
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import { openFormerStores } from '../../src/ship/former-stores.ts'
import { openClickHouseScan } from '../../src/store/clickhouse/open.ts'

const lines: { msg: string }[] = []
const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
const config = readConfig()
const [account = ''] = process.argv.slice(2)
const results = []
for (const { store, erase } of openFormerStores({ config, log })) results.push({ store, result: await erase(account) })
const scan = await openClickHouseScan({ path: join(config.dataDir, 'clickhouse') })
const families = ['marks', 'metrics', 'exceptions'] as const
const left = await scan.count(families, { account })
const others = await scan.count(families, {})
await scan.close()
console.log(JSON.stringify({ results, logged: lines.map(({ msg }) => msg), left, others }))
