// Writes events to ClickHouse. The sorting key holds an event's identity, so a repeated write changes no answer. No
// insert tokens: ClickHouse logs a token before the part is in place, and after a kill in between drops the retry.
import { type Event, FAMILIES, type Family } from '../../event/event.ts'
import { rememberFingerprints } from '../../event/fingerprint.ts'
import type { Stamp } from '../../event/stamp.ts'
import { attempt, checkByCanary, type Pace, type Sink, type WriteResult } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import { CLUSTER_DDL_SETTINGS, CLUSTER_INSERT_SETTINGS, findCanaryProcess } from './cluster.ts'
import { toRows } from './encode-events.ts'
import { isFault, judgeFailure, UNKNOWN_DATABASE, UNKNOWN_TABLE } from './judge-failure.ts'
import { findLackingRoom } from './room-to-erase.ts'
import type { Schema } from './schema.ts'
import { listOf } from './selection.ts'
import { TABLES } from './tables.ts'
import { createWriteByShard } from './write-by-shard.ts'

interface ClickHouseSinkOptions {
  /** Both belong to the store, which closes them. */
  readonly writer: ClickHouseClient
  /** Runs statements that may take long. */
  readonly keeper: ClickHouseClient
  readonly schema: Schema
  readonly tables: readonly Family[]
  /** The engine in this process. */
  readonly isEmbedded: boolean
  prepare(): Promise<WriteResult>
}

/** The columns of a line of grouped metrics. */
const GROUPED =
  'account String, process String, meta String, uid String, name Array(String), value Array(Float64), at ' +
  "DateTime64(9, 'UTC'), stamp_rest UInt32, content UInt64"

/** `async_insert`: the answer must mean "stored". `insert_deduplicate`: see above. The last keeps a metric exact. */
const SETTINGS = 'async_insert = 0, insert_deduplicate = 0, precise_float_parsing = 1'

/** Every part and every merge of the embedded engine is synced: an insert writes some 250 kB, whatever its size. */
const EMBEDDED_PACE: Pace = { atOnce: 10, everyMs: 10_000 }

/** A mutation rewrites each part that it touches, whatever the number of accounts in it. */
const ERASED_AT_ONCE = 200

const DAY_US = 86_400_000_000

export function createClickHouseSink(options: ClickHouseSinkOptions): Sink {
  const { writer, keeper, schema, tables, isEmbedded, prepare } = options
  const { cluster } = schema
  const settings = cluster === undefined ? SETTINGS : `${SETTINGS}, ${CLUSTER_INSERT_SETTINGS}`
  const insert = (table: Family, lines: readonly string[]) => {
    const into = `INSERT INTO ${schema.raw(table)} (${TABLES[table].columns.join(', ')})`
    return isEmbedded && table === 'metrics'
      ? writer.run(
          `${into} SELECT * FROM format(JSONCompactEachRow, $columns$${GROUPED}$columns$, ${quote(lines)}) ARRAY ` +
            `JOIN name, value SETTINGS ${settings}`,
        )
      : writer.run(`${into} SETTINGS ${settings} FORMAT JSONCompactEachRow\n${lines.join('\n')}`, {}, lines.length)
  }

  const encoding = { groupsMetrics: isEmbedded, fingerprintOf: rememberFingerprints() }
  const writeAll = (events: readonly Event[]) =>
    attempt(judgeFailure, async () => {
      for (const [table, lines] of await toRows(events, encoding)) await insert(table, lines)
    })
  const write = cluster === undefined ? writeAll : createWriteByShard(keeper, cluster, writeAll)

  return {
    store: 'clickhouse',
    ...(isEmbedded && { pace: EMBEDDED_PACE }),
    erasesAtOnce: ERASED_AT_ONCE,
    prepare,
    write,
    /** One canary for each shard: a shard that fails must not make good events look bad. */
    async check(like) {
      if (cluster === undefined) return checkByCanary(writeAll, startOfDay)(like)
      let process: string | undefined
      const found = await attempt(judgeFailure, async () => {
        process = await findCanaryProcess(keeper, cluster, like)
      })
      return found.kind === 'stored' ? checkByCanary(writeAll, startOfDay, process)(like) : found
    },

    async erase(accounts) {
      // in a cluster each host has disks of its own
      const reason = cluster ? undefined : await findLackingRoom(keeper, FAMILIES.map(schema.stored))
      if (reason !== undefined) return { kind: 'wait', reason }
      const { list, params } = listOf('accounts', accounts)
      return attempt(judgeFailure, async () => {
        for (const table of FAMILIES) {
          // a table of points exists only if they were stored here once
          const unlessMissing = (error: unknown) => {
            if (tables.includes(table) || !isFault(error, UNKNOWN_TABLE, UNKNOWN_DATABASE)) throw error
          }
          // a mutation, not a lightweight delete: the rows shall leave the disk too
          const settings = `mutations_sync = 2${cluster ? `, ${CLUSTER_DDL_SETTINGS}` : ''}`
          const where = `WHERE has(${list}, account) SETTINGS ${settings}`
          const on = cluster?.onCluster ?? ''
          const sql = `ALTER TABLE ${schema.stored(table)}${on} DELETE ${where}`
          await keeper.run(sql, params).catch(unlessMissing)
        }
      })
    },

    async close() {},
  }
}

/** One canary per day, however often a check is asked for; partitions are weeks. */
const startOfDay = ({ us }: Stamp): Stamp => ({ us: us - (us % DAY_US), sub: 0 })

/** JSON as a text of SQL between two $lines$: within it there is no `$`. */
const quote = (lines: readonly string[]): string => `$lines$${lines.join('\n').replaceAll('$', '\\u0024')}$lines$`
