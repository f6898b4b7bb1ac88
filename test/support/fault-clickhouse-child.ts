// The ClickHouse bridge as a process of its own, which can be killed: `fault-clickhouse-child.ts DIR PORT`.
import { startClickHouseBridge } from './clickhouse-bridge.ts'

const [path, port] = process.argv.slice(2)
await startClickHouseBridge({ path: path!, port: Number(port) })
