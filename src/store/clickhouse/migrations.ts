// The tables as numbered migrations. Every statement is repeatable, because a kill can come between any two. Never edit
// a released step: append a new one to change the tables.
import type { Destination, Family } from '../../event/event.ts'
import { createOnCluster } from './cluster.ts'
import type { Schema } from './schema.ts'
import { TABLES, TYPES } from './tables.ts'

export interface TableOptions {
  readonly schema: Schema
  /** 0 = keep forever. */
  readonly retentionDays: number
  /** The embedded engine: no replica and nobody else's configuration stands behind what it acknowledged. */
  readonly embedded: boolean
}

interface Migration {
  readonly number: number
  /** Only for a store that holds these events. */
  readonly holds: Destination
  /** The tables that it makes or changes. */
  readonly tables: readonly Family[]
  /** Changes nothing that older versions know: they may go on, so it is noted where they do not look. */
  readonly isAddition?: true
  statements(options: TableOptions): string[]
}

/** Steps from before the first release. Their tables lack the columns of an event's identity and cannot be read. */
export const UNRELEASED: ReadonlySet<number> = new Set([1, 2])

export const MIGRATIONS: readonly Migration[] = [
  {
    number: 3,
    holds: 'exceptions',
    tables: ['exceptions'],
    statements: (options) => createTable(options, 'exceptions'),
  },
  {
    number: 4,
    holds: 'points',
    tables: ['marks', 'metrics'],
    statements: (options) => [...createTable(options, 'marks'), ...createTable(options, 'metrics')],
  },
  {
    number: 5,
    holds: 'exceptions',
    tables: ['outputs'],
    isAddition: true,
    statements: (options) => createTable(options, 'outputs'),
  },
  {
    number: 6,
    holds: 'points',
    tables: ['marks', 'metrics'],
    isAddition: true,
    statements: (options) => [
      ...dropLeftovers(options, ['marks', 'metrics']),
      changeTable(options.schema, 'marks', CODECS),
      changeTable(options.schema, 'metrics', CODECS),
    ],
  },
  {
    number: 7,
    holds: 'exceptions',
    tables: ['exceptions', 'outputs'],
    isAddition: true,
    statements: ({ schema, ...options }) => [
      ...dropLeftovers({ schema, ...options }, ['exceptions']),
      changeTable(schema, 'exceptions', [...CODECS, 'MODIFY COLUMN exception String CODEC(ZSTD(1))']),
      changeTable(schema, 'outputs', [...CODECS, 'MODIFY COLUMN output String CODEC(ZSTD(1))']),
    ],
  },
  {
    number: 8,
    holds: 'points',
    tables: ['marks'],
    isAddition: true,
    statements: ({ schema }) => [changeTable(schema, 'marks', [UID_INDEX])],
  },
]

/** Most of a mark's bytes are its uid and its time. Parts that were written before change when they are merged. */
const CODECS = [
  'MODIFY COLUMN uid String CODEC(ZSTD(1))',
  "MODIFY COLUMN at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))",
]

/** Without its process a uid is no prefix of the sorting key: without this, the whole range is read for a run. */
const UID_INDEX = 'ADD INDEX IF NOT EXISTS uid_bloom uid TYPE bloom_filter(0.01) GRANULARITY 1'

const dropLeftovers = ({ schema, embedded }: TableOptions, tables: readonly Family[]): string[] =>
  embedded ? tables.map((table) => `DROP TABLE IF EXISTS ${schema.leftover(table)} SYNC`) : []

const changeTable = (schema: Schema, table: Family, changes: readonly string[]): string =>
  `ALTER TABLE ${schema.stored(table)}${schema.cluster?.onCluster ?? ''} ${changes.join(', ')}`

/** All off by default: an acknowledged insert would only be safe against the death of the process. */
const DURABLE = [
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'min_rows_to_fsync_after_merge = 1',
  'min_compressed_bytes_to_fsync_after_merge = 1',
  'old_parts_lifetime = 60', // merged parts are on disk: their sources need not stay for eight minutes
]

/** A week goes as a whole: else its part is written again every four hours, without the rows that have expired. */
export const BY_PARTS = 'ttl_only_drop_parts = 1'

function createTable({ schema, retentionDays, embedded }: TableOptions, table: Family): string[] {
  const columns = TABLES[table].columns.map((column) => `${column} ${TYPES[column] ?? 'String'}`).join(', ')
  const storage = [
    'PARTITION BY toMonday(at)', // by day a backlog would span more partitions than one INSERT may
    `ORDER BY (${TABLES[table].key.join(', ')})`,
    ...(retentionDays > 0 ? [`TTL toDateTime(at) + INTERVAL ${retentionDays} DAY`] : []),
    `SETTINGS ${[BY_PARTS, ...(embedded ? DURABLE : [])].join(', ')}`,
  ].join(' ')
  // an event's week follows from its key, so equal keys never lie in two partitions
  const select = (from: string) =>
    `SELECT ${TABLES[table].columns.join(', ')}, toUnixTimestamp64Nano(at) + stamp_rest AS stamp FROM ${from} FINAL ` +
    'SETTINGS do_not_merge_across_partitions_select_final = 1'
  if (schema.cluster !== undefined) return createOnCluster(schema.cluster, table, { columns, storage, select })
  return [
    `CREATE TABLE IF NOT EXISTS ${schema.raw(table)} (${columns}) ENGINE = ReplacingMergeTree ${storage}`,
    `CREATE VIEW IF NOT EXISTS ${schema.view(table)} AS ${select(schema.raw(table))}`,
  ]
}
