// ClickHouse errors: turns a client error into text that may be logged, and its code into a verdict on the batch.
import type { WriteResult } from '../sink.ts'

/** Its message omits what ClickHouse quotes of rows and queries. `code` is ClickHouse's; absent for other failures. */
export class ClickHouseFault extends Error {
  override readonly name = 'ClickHouseFault'

  constructor(
    message: string,
    readonly code: number | undefined,
    /** Something on the way refused the request for its size. */
    readonly tooLarge = false,
  ) {
    super(message)
  }
}

const MAX_TEXT = 300

/** The part of a message that holds the query or a stack. */
const ECHO = /failed at position|: While executing|: while executing|In scope|Stack trace|\(version /

/** Messages about what was sent: all after the first clause may be a row or the query. */
const ECHOING_TYPES = /PARSE|SYNTAX|MISMATCH|INCORRECT|OVERFLOW|PARAMETER/

/** Recognises errors by their shape, because the client and chDB each have a ClickHouseError of their own. */
export function toFault(error: Error, password: string): ClickHouseFault {
  const { message, code, type } = error as Error & { code?: unknown; type?: unknown }
  if (typeof code === 'string' && /^\d+$/.test(code)) {
    const about = ECHOING_TYPES.test(String(type)) ? message.split(/[:'"`(]/, 1)[0] : message
    return new ClickHouseFault(clean(`${code} ${type ?? ''}: ${about}`, password), Number(code))
  }
  if (typeof code === 'string') return new ClickHouseFault(clean(`${code}: ${message}`, password), undefined)
  if (/timeout/i.test(message)) return new ClickHouseFault('no answer in time', undefined)
  if (/\b413\b|too large/i.test(message)) {
    return new ClickHouseFault('the request is too large for what is in front of ClickHouse', undefined, true)
  }
  return new ClickHouseFault(`an answer that is not ClickHouse's (${error.name})`, undefined)
}

function clean(text: string, password: string): string {
  const echo = text.search(ECHO)
  const own = (echo < 0 ? text : text.slice(0, echo)).replace(/'(?:[^'\\]|\\.)*('|$)|"(?:[^"\\]|\\.)*("|$)/gs, "'…'")
  const safe = password === '' ? own : own.replaceAll(password, '[password]')
  const flat = safe.replace(/\s+/g, ' ').trim()
  return flat.length > MAX_TEXT ? `${flat.slice(0, MAX_TEXT)}…` : flat
}

export const UNKNOWN_TABLE = 60
export const UNKNOWN_DATABASE = 81
export const ACCESS_DENIED = 497

export const isFault = (error: unknown, ...codes: number[]): boolean =>
  error instanceof ClickHouseFault && error.code !== undefined && codes.includes(error.code)

/** Somebody altered the table; a new column with its old type takes the waiting events. */
const NO_SUCH_COLUMN = 16
const ADD_COLUMN =
  'The table was changed: add the column again (ALTER TABLE … ADD COLUMN; types are in src/store/README.md). ' +
  'Delivery then resumes by itself'

const MAKE_AGAIN = 'If the table was dropped, restore it; or restart Stint, which makes it again, empty'

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

/**
 * Judges an error of `ClickHouseClient`; any other is rethrown. The HTTP status says little (500 for a bad row, 404 for
 * a missing table). Events are kept unless the code says "never": an unknown code waits for the operator.
 */
export function judgeFailure(error: unknown): WriteResult {
  if (!(error instanceof ClickHouseFault)) throw error
  const { code, message: reason } = error
  if (error.tooLarge) return { kind: 'too_large', reason }
  if (code === undefined) return { kind: 'retry', reason }
  if (ROW_CODES.has(code)) return { kind: 'refused', reason }
  // 252 has two meanings: merges are behind, or the batch spans more weeks than an INSERT may
  if (code === 252 && reason.includes('Too many partitions')) return { kind: 'too_large', reason }
  if (PASSING_CODES.has(code)) return { kind: 'retry', reason }
  if (code === UNKNOWN_TABLE) return { kind: 'wait', reason: `${reason} ${MAKE_AGAIN}` }
  if (code === NO_SUCH_COLUMN) return { kind: 'wait', reason: `${reason} ${ADD_COLUMN}` }
  // credentials (516, 192–194), rights (497), database (81), disk (243), …
  return { kind: 'wait', reason }
}
