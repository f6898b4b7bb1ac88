// The only file that knows the client library. Every request has a deadline, and every failure leaves as an InfluxFault
// whose text is short and holds neither the token nor what callers sent (the server echoes whole lines).
import {
  type FluxTableMetaData,
  HttpError,
  InfluxDB,
  type ParameterizedQuery,
  type SendOptions,
  setLogger,
} from '@influxdata/influxdb-client'

export {
  escape as lineEscape,
  flux,
  fluxDateTime,
  fluxExpression,
  fluxInteger,
  type ParameterizedQuery,
} from '@influxdata/influxdb-client'

const MAX_TEXT = 500

// From the first quote to the last: whole lines of the callers', which belong neither into a log nor into a reason.
const ECHO = /unable to parse '.*'/s

export interface InfluxAddress {
  readonly url: string
  readonly token: string
  /** Name or id. */
  readonly org: string
  readonly bucket: string
}

/** A request that came to nothing. `status` is undefined when the server gave no (whole) answer in time. */
export class InfluxFault extends Error {
  override readonly name = 'InfluxFault'

  constructor(
    message: string,
    readonly status: number | undefined,
    readonly retryAfterMs: number | undefined,
  ) {
    super(message)
  }
}

/** All methods throw InfluxFault and nothing else. */
export interface InfluxClient {
  /** Resolves when the server has stored all lines. */
  writeLines(lines: readonly string[]): Promise<void>
  /** Rows of all tables in the order of the answer; `get` reads a column as text, '' where it is null or missing. */
  collectRows<T>(query: ParameterizedQuery, toItem: (get: (column: string) => string) => T): Promise<T[]>
  /** The server's management API: resolves to the JSON of a 2xx answer. */
  request(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown>
  /** Gives up on what is in flight. */
  close(): void
}

export function createInfluxClient(address: InfluxAddress, timeoutMs: number): InfluxClient {
  const { url, token, org, bucket } = address
  setLogger({ error() {}, warn() {} }) // it would print every failed write with its own minified source
  const inFlight = new Set<AbortController>()

  async function withDeadline<T>(run: (influx: InfluxDB, signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), timeoutMs)
    inFlight.add(abort)
    try {
      // The library's own timeout neither ends the request nor covers an answer that trickles; only a signal does
      // both, and only a client's options (not those of a write or a query) take one: so one client a request.
      const { signal } = abort
      return await run(new InfluxDB({ url, token, timeout: timeoutMs * 2, transportOptions: { signal } }), signal)
    } catch (error) {
      throw toFault(error, token, abort.signal.aborted ? timeoutMs : undefined)
    } finally {
      clearTimeout(timer)
      inFlight.delete(abort)
    }
  }

  return {
    writeLines: (lines) =>
      withDeadline(async (influx) => {
        const batchSize = lines.length + 1 // at batchSize it would send by itself and swallow the failure
        const options = { batchSize, maxBatchBytes: Number.MAX_SAFE_INTEGER, flushInterval: 0, maxRetries: 0 }
        const api = influx.getWriteApi(org, bucket, 'ns', options)
        api.writeRecords(lines as string[])
        await api.flush()
      }),

    collectRows: (query, toItem) =>
      withDeadline((influx) =>
        influx.getQueryApi(org).collectRows(query, (values, table) => {
          const get = (column: string) => values[table.column(column, false).index] ?? ''
          refuseErrorTable(table, get)
          return toItem(get)
        }),
      ),

    request: (method, path, body) =>
      withDeadline(async (influx, signal) => {
        const options: SendOptions = { method, signal, headers: { accept: 'application/json' } }
        return (await influx.transport.request(path, body ?? '', options)) as unknown
      }),

    close() {
      for (const abort of inFlight) abort.abort()
    },
  }
}

/** A query that fails after its first rows are out ends with 200 and a table of errors. */
function refuseErrorTable(table: FluxTableMetaData, get: (column: string) => string): void {
  const [first, second] = table.columns
  if (first?.label === 'error' && second?.label === 'reference') throw new Error(get('error'))
}

function toFault(error: unknown, token: string, deadlineMs: number | undefined): InfluxFault {
  const clean = (text: string) => {
    const own = text.replace(ECHO, "unable to parse '…'")
    const safe = token === '' ? own : own.replaceAll(token, '[token]')
    return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}…` : safe
  }
  if (error instanceof HttpError) {
    return new InfluxFault(clean(`${error.statusCode} ${error.message}`), error.statusCode, retryAfterMs(error))
  }
  if (deadlineMs !== undefined) return new InfluxFault(`no answer within ${deadlineMs} ms`, undefined, undefined)
  const { code, message } = error as { code?: string; message?: string }
  return new InfluxFault(clean(`${code ?? 'failed'}: ${message ?? ''}`), undefined, undefined)
}

function retryAfterMs({ headers }: HttpError): number | undefined {
  const header = headers?.['retry-after']
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined
}
