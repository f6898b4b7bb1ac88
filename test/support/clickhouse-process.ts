// The ClickHouse bridge as a process of its own, which can be killed: `clickhouse-process.ts DIR PORT [SHARDS]`.
import { join } from 'node:path'
import { CREDENTIALS, startClickHouseBridge } from './clickhouse-bridge.ts'
import { freshDatabase } from './engine.ts'
import { createFaultServer } from './fault-server.ts'
import { takePort } from './ports.ts'
import { inMemoryDir } from './temp-dir.ts'

export type ClickHouseProcess = ReturnType<typeof createClickHouse>

/** Not started yet, in a directory of its own in `dir`. `shards` as startClickHouseBridge has it. */
export function createClickHouse(database = freshDatabase(), shards?: number, dir = inMemoryDir()) {
  const port = String(takePort())
  const url = `http://127.0.0.1:${port}`
  const engine = join(dir, 'engine')
  const command = [process.execPath, import.meta.path, engine, port, ...(shards === undefined ? [] : [String(shards)])]
  return {
    ...createFaultServer(command, async () => (await fetch(`${url}/ping`)).ok),
    address: { url, ...CREDENTIALS, database },
    /** With which Stint uses it. */
    settings: {
      CLICKHOUSE_URL: url,
      CLICKHOUSE_USER: CREDENTIALS.user,
      CLICKHOUSE_PASSWORD: CREDENTIALS.password,
      CLICKHOUSE_DATABASE: database,
    },
  }
}

if (import.meta.main) {
  const [path, port, shards] = process.argv.slice(2)
  await startClickHouseBridge({ path: path!, port: Number(port), ...(shards && { shards: Number(shards) }) })
}
