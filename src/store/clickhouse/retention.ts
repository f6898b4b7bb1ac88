// RETENTION_DAYS on existing tables. Those that Stint made follow the setting; ClickHouse applies it to the stored
// parts in the background. A table with a TTL of its operator's own, or of a user who may not alter it, is left as it
// is and logged with the statement.
import type { Family } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from './client.ts'
import { CLUSTER_DDL_SETTINGS } from './cluster.ts'
import { ACCESS_DENIED, isFault } from './judge-failure.ts'
import { BY_PARTS } from './migrations.ts'
import type { Schema } from './schema.ts'

export interface StoredTable {
  readonly name: string
  readonly engine: string
}

interface RetentionOptions {
  readonly schema: Schema
  readonly tables: readonly Family[]
  readonly retentionDays: number
  readonly log: Logger
}

/** Rejects with a fault of the store other than a denial. */
export async function applyRetention(
  client: ClickHouseClient,
  found: readonly StoredTable[],
  { schema, tables, retentionDays, log }: RetentionOptions,
  isMade: (table: Family) => boolean,
): Promise<void> {
  const left: string[] = []
  for (const table of tables) {
    const stored = found.find(({ name }) => schema.stored(table).endsWith(`\`${name}\``))
    const actual = stored && daysOf(stored)
    if (actual === undefined) continue
    const alter = `ALTER TABLE ${schema.stored(table)}${schema.cluster?.onCluster ?? ''}`
    const isDone = async (change: string) => {
      const statement = `${alter} ${change}`
      const isRun = actual !== 'foreign' && isMade(table) && (await mayRun(client, statement, schema))
      if (!isRun) left.push(statement)
      return isRun
    }
    if (retentionDays > 0 && actual !== 'foreign' && !stored?.engine.includes(BY_PARTS))
      await isDone(`MODIFY SETTING ${BY_PARTS}`)
    if (actual === retentionDays) continue
    const change = retentionDays === 0 ? 'REMOVE TTL' : `MODIFY TTL toDateTime(at) + INTERVAL ${retentionDays} DAY`
    if (await isDone(change))
      log.warn(
        { table: stored?.name, from_days: actual, to_days: retentionDays },
        'ClickHouse: the retention of the table follows RETENTION_DAYS',
      )
  }
  if (left.length > 0)
    log.warn(
      { statements: left },
      'ClickHouse: RETENTION_DAYS differs from the tables, which are left as they are; ' +
        'to change them run the statements',
    )
}

/** 0 = keep forever; `foreign`: not a TTL of Stint. */
function daysOf({ engine }: StoredTable): number | 'foreign' {
  const ttl = / TTL (.*?)(?: SETTINGS |$)/s.exec(engine)?.[1]
  if (ttl === undefined) return 0
  const days = /^toDateTime\(at\) \+ toIntervalDay\((\d+)\)$/.exec(ttl)?.[1]
  return days === undefined ? 'foreign' : Number(days)
}

/** False if the user may not. The rewriting of parts is not waited for. */
async function mayRun(client: ClickHouseClient, statement: string, { cluster }: Schema): Promise<boolean> {
  try {
    await client.run(`${statement} SETTINGS mutations_sync = 0${cluster ? `, ${CLUSTER_DDL_SETTINGS}` : ''}`)
    return true
  } catch (error) {
    if (!isFault(error, ACCESS_DENIED)) throw error
    return false
  }
}
