// What ClickHouse's answer to a write means for the events of the batch, by its exception code: the HTTP status says little (500 for a bad row, 404 for a missing
// table). Kept unless the code says "never": a code that nobody foresaw waits for the operator.
import type { WriteResult } from '../sink.ts'
import { ClickHouseFault } from './fault.ts'

/** A row that cannot be parsed or does not fit its column: the same batch will fail forever. */
const ROW_CODES = new Set([
  25, // CANNOT_PARSE_ESCAPE_SEQUENCE: a lone surrogate
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED: a wrong type
  38, // CANNOT_PARSE_DATE
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  407, // DECIMAL_OVERFLOW: a time out of range
])

/** A fault that passes by itself. */
const PASSING_CODES = new Set([
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  198, // DNS_ERROR
  201, // QUOTA_EXCEEDED: quotas are per interval
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED: the server stops
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY: a replica without its keeper
  252, // TOO_MANY_PARTS: merges are behind
  254, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  341, // UNFINISHED: a replica is away while a mutation waits for all
  369, // ALL_REPLICAS_ARE_STALE
  394, // QUERY_WAS_CANCELLED
  439, // CANNOT_SCHEDULE_TASK
  473, // DEADLOCK_AVOIDED
  999, // KEEPER_EXCEPTION
])

/** Of an error of `ClickHouseClient`; any other is thrown on. */
export function judgeFailure(error: unknown): WriteResult {
  if (!(error instanceof ClickHouseFault)) throw error
  const { code, message: reason } = error
  if (error.tooLarge) return { kind: 'too_large', reason }
  if (code === undefined) return { kind: 'retry', reason }
  if (ROW_CODES.has(code)) return { kind: 'refused', reason }
  // 252 has two meanings: merges are behind, or the batch spans more months than an INSERT may
  if (code === 252 && reason.includes('Too many partitions')) return { kind: 'too_large', reason }
  if (PASSING_CODES.has(code)) return { kind: 'retry', reason }
  return { kind: 'wait', reason } // credentials (516, 192–194), rights (497), database or table (81, 60), disk (243), …
}
