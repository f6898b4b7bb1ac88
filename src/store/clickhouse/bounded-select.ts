// Questions to ClickHouse are bounded in time and memory: on chDB an aborted query goes on computing and blocks its connection, only the engine's own limits end it.
import { type Asker, StoreError } from '../source.ts'
import type { ClickHouseClient, Params } from './client.ts'
import { ClickHouseFault } from './fault.ts'

/** Inline, see client.ts. The last one writes an infinite sum as text: JSON has no number for it, and null would read as 0. */
const SETTINGS = 'max_execution_time = 30, max_memory_usage = 3000000000, output_format_json_quote_denormals = 1'

/** The rows of a SELECT without SETTINGS and FORMAT. Throws StoreError. */
export type Select = <Row>(sql: string, params: Params, asker: Asker) => Promise<Row[]>

/** `settings` are added to those of every question. */
export function createBoundedSelect(client: ClickHouseClient, settings?: string): Select {
  const all = settings === undefined ? SETTINGS : `${SETTINGS}, ${settings}`
  return async <Row>(sql: string, params: Params, asker: Asker) => {
    try {
      return await client.select<Row>(`${sql}\nSETTINGS ${all}`, params, asker)
    } catch (error) {
      if (!(error instanceof ClickHouseFault)) throw error
      throw new StoreError(`ClickHouse: ${error.message}`, { cause: error })
    }
  }
}
