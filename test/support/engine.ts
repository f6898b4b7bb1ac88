// One embedded ClickHouse per test process, in memory: a process can hold one directory only. It is opened at the first use
// and removed with the process; tests keep apart by database.
import { rmSync } from 'node:fs'
import type { EmbeddedAddress } from '../../src/store/clickhouse/client.ts'
import { missing } from './needs.ts'
import { inMemoryDir } from './temp-dir.ts'

/** Why the engine cannot be had here; undefined when it can. Throws when STINT_TEST_REQUIRE asks for it. */
export const engineMissing: string | undefined = missing('chdb')

let path: string | undefined

/** The engine's directory in this process, for a test that opens the embedded store. */
export function enginePath(): string {
  if (path === undefined) {
    const dir = inMemoryDir()
    process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
    path = dir
  }
  return path
}

let databases = 0

/** A name that no other test has used. */
export const freshDatabase = (): string => `test_${process.pid}_${++databases}`

/** An embedded store's address with a database that is not there yet. */
export const freshEmbedded = (): EmbeddedAddress => ({ path: enginePath(), database: freshDatabase() })
