// The ClickHouse bridge as a process of its own, which can be killed: `fault-clickhouse-child.ts DIR PORT [SHARDS]`.
import { startClickHouseBridge } from './clickhouse-bridge.ts'

const [path, port, shards] = process.argv.slice(2)
await startClickHouseBridge({ path: path!, port: Number(port), ...(shards && { shards: Number(shards) }) })
