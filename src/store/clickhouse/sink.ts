// Writes events to ClickHouse. The sorting key holds an event's identity, so writing it again changes nothing that a query sees. No insert tokens: ClickHouse
// logs a token before the part is in place, and a kill between the two makes the retry vanish.
import type { Event } from '../../event/event.ts'
import type { Sink, WriteResult } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import { COLUMNS, type Table, toRows } from './encode-events.ts'
import { judgeFailure } from './judge-failure.ts'
import type { Schema } from './schema.ts'

export interface ClickHouseSinkOptions {
  /** Both belong to the store, which closes them. */
  readonly writer: ClickHouseClient
  /** For what may take long. */
  readonly keeper: ClickHouseClient
  readonly schema: Schema
  readonly tables: readonly Table[]
  prepare(): Promise<WriteResult>
}

const STORED: WriteResult = { kind: 'stored', expired: 0 }

/** `async_insert`: the answer must mean "stored". `insert_deduplicate`: see above. The last one keeps a metric's last digit. */
const SETTINGS = 'async_insert = 0, insert_deduplicate = 0, precise_float_parsing = 1'

/** No account has this name. */
const CHECK_ACCOUNT = '_check'
const DAY_US = 86_400_000_000

export function createClickHouseSink({ writer, keeper, schema, tables, prepare }: ClickHouseSinkOptions): Sink {
  const insert = (table: Table, lines: readonly string[]) =>
    writer.run(
      `INSERT INTO ${schema.raw(table)} (${COLUMNS[table].join(', ')}) SETTINGS ${SETTINGS} FORMAT JSONCompactEachRow\n${lines.join('\n')}`,
    )

  async function write(events: readonly Event[]): Promise<WriteResult> {
    try {
      for (const [table, lines] of await toRows(events)) await insert(table, lines)
      return STORED
    } catch (error) {
      return judgeFailure(error)
    }
  }

  return {
    store: 'clickhouse',
    prepare,
    write,

    async check(like) {
      const result = await write([canaryOf(like)])
      return result.kind === 'refused' ? { kind: 'wait', reason: result.reason } : result
    },

    async erase(account) {
      try {
        for (const table of tables) {
          // a mutation, not a lightweight delete: the rows shall leave the disk too
          const sql = `ALTER TABLE ${schema.raw(table)} DELETE WHERE account = {account:String} SETTINGS mutations_sync = 2`
          await keeper.run(sql, { account })
        }
        return STORED
      } catch (error) {
        return judgeFailure(error)
      }
    },

    async close() {},
  }
}

/** The plainest event for the same table and month: what refuses this one refuses all. One a day, however often it is asked for. */
function canaryOf({ kind, stamp }: Event): Event {
  const at = { us: stamp.us - (stamp.us % DAY_US), sub: 0 }
  const common = { account: CHECK_ACCOUNT, process: 'check', meta: '', stamp: at }
  switch (kind) {
    case 'metrics':
      return { kind, ...common, items: [['check', 0]] }
    case 'exception':
      return { kind, ...common, exception: 'check' }
    default:
      return { kind, ...common, uid: '' }
  }
}
