// The only file that uses the client library. Every request has a timeout, and every failure becomes an InfluxFault
// with a short text that holds neither the token nor callers' data (the server echoes whole lines).
import {
  chunksToLinesIterable,
  type FluxTableMetaData,
  HttpError,
  InfluxDB,
  linesToTables,
  type ParameterizedQuery,
  type SendOptions,
  setLogger,
} from '@influxdata/influxdb-client'
import { type Secret, textOf } from '../../secret.ts'
import { rest, spend } from '../../turns.ts'
import { boundedRequests } from './bounded-request.ts'

export {
  escape as lineEscape,
  flux,
  fluxDateTime,
  fluxDuration,
  fluxExpression,
  fluxInteger,
  type ParameterizedQuery as FluxText,
} from '@influxdata/influxdb-client'

const MAX_TEXT = 500
const ANNOTATED = ['datatype', 'group', 'default']
/** Every table ends with an empty line, and so does an answer without one. */
const [END, NO_ROWS] = ['\r\n\r\n', '\r\n']
const [FIRST_TIME, LAST_TIME] = ['1970-01-01T00:00:00Z', '2262-01-01T00:00:00Z']

// Removes everything from the first to the last quote: callers' lines, which must not be in a log or a reason.
const ECHO = /unable to parse '.*'/s

export interface InfluxAddress {
  readonly url: string
  readonly token: Secret
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
    readonly timedOut = false,
  ) {
    super(message)
  }
}

/** Reads a column of the row as text, '' where it is null or missing. */
export type GetColumn = (label: string) => string

/** A busy server answers a ping at once. */
const PING_MS = 5_000

/** All methods throw InfluxFault and nothing else. */
export type InfluxClient = ReturnType<typeof createInfluxClient>

export function createInfluxClient(address: InfluxAddress, timeoutMs: number, pingMs = PING_MS) {
  const { url, org, bucket } = address
  setLogger({ error() {}, warn() {} }) // it would print every failed write with its own minified source
  const inFlight = new Set<AbortController>()

  async function withDeadline<T>(
    run: (influx: InfluxDB, abort: AbortController) => Promise<T>,
    signal?: AbortSignal,
    limitMs = timeoutMs,
  ): Promise<T> {
    const abort = new AbortController()
    const giveUp = () => abort.abort(new Error('nobody waits for the answer any more'))
    if (signal?.aborted) throw new InfluxFault('nobody waits for the answer any more', undefined, undefined)
    signal?.addEventListener('abort', giveUp)
    const tooLate = new Error(`no answer within ${limitMs} ms`)
    const timer = setTimeout(() => abort.abort(tooLate), limitMs)
    inFlight.add(abort)
    const token = textOf(address.token)
    try {
      // The library's own timeout neither ends the request nor covers an answer that trickles; only a signal does
      // both, and only a client's options (not those of a write or a query) take one: so one client a request.
      const transportOptions = { signal: abort.signal, 'follow-redirects': boundedRequests }
      return await run(new InfluxDB({ url, token, timeout: 2 * limitMs, transportOptions }), abort)
    } catch (error) {
      const reason: unknown = abort.signal.aborted ? abort.signal.reason : error
      const fault = toFault(reason, token, reason === tooLate)
      abort.abort() // the server need not go on with an answer that nobody reads
      throw fault
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      inFlight.delete(abort)
    }
  }

  /** Resolves to a 2xx answer's JSON or text. Only the header proves that InfluxDB answered: a proxy may send a 2xx. */
  const send = (path: string, body: string | object, options: SendOptions, limitMs?: number): Promise<unknown> =>
    withDeadline(
      async (influx, { signal }) => {
        let isOwn = false
        let status: number | undefined
        const onHeaders = (headers: Readonly<Record<string, unknown>>, statusCode?: number) => {
          status = statusCode
          isOwn = Object.keys(headers).some((name) => name.toLowerCase().startsWith('x-influxdb-'))
        }
        const answer: unknown = await influx.transport.request(path, body, { ...options, signal }, onHeaders)
        if (!isOwn)
          throw new Error(`${status} without InfluxDB's X-Influxdb-… headers: a proxy in front of it answered`)
        return answer
      },
      undefined,
      limitMs,
    )

  /** The server's management API: resolves to the JSON of a 2xx answer. */
  const request = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> =>
    send(path, body ?? '', { method, headers: { accept: 'application/json' } })

  const writePath = `/api/v2/write?org=${encodeURIComponent(org)}&bucket=${encodeURIComponent(bucket)}&precision=ns`

  const queryPath = `/api/v2/query?org=${encodeURIComponent(org)}`

  /** Throws at the end unless the answer is whole. */
  async function* readAnswer(
    influx: InfluxDB,
    query: ParameterizedQuery,
    annotations: readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const body = JSON.stringify({ query: String(query), dialect: { header: true, annotations } })
    const headers = { 'content-type': 'application/json', accept: 'application/csv' }
    let end = ''
    for await (const bytes of influx.transport.iterate(queryPath, body, { method: 'POST', headers, signal })) {
      end = (end + Buffer.from(bytes.subarray(-END.length)).toString('latin1')).slice(-END.length)
      yield bytes
    }
    if (end !== END && end !== NO_ROWS)
      throw new Error('the answer ends in the middle: InfluxDB or a proxy in front of it closed the connection')
  }

  return {
    bucket,
    /** Resolves when the server has stored all lines. */
    async writeLines(lines: readonly string[]): Promise<void> {
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      await send(writePath, lines.join('\n'), { method: 'POST', headers })
    },

    /** Shows the rows of all tables in the answer's order, until `visit` has had enough or `signal` aborts. */
    readRows: (
      query: ParameterizedQuery,
      visit: (get: GetColumn) => 'enough' | undefined,
      signal?: AbortSignal,
    ): Promise<void> =>
      withDeadline(async (influx, abort) => {
        let stopped = false
        const rows = linesToTables({
          next(values: string[], table: FluxTableMetaData) {
            if (stopped) return
            const get = (label: string) => {
              const { index, defaultValue } = table.column(label, false)
              return values[index] || defaultValue
            }
            refuseErrorTable(table, get)
            stopped = visit(get) === 'enough'
          },
          error() {},
          complete() {},
        })
        for await (const line of chunksToLinesIterable(readAnswer(influx, query, ANNOTATED, abort.signal))) {
          rows.next(line)
          if (stopped) break
          if (spend(4)) await rest()
        }
      }, signal),

    /** Streams the answer's CSV without annotations: many times faster than `readRows`. `take` may stop it. */
    readCsv: (
      query: ParameterizedQuery,
      take: (bytes: Uint8Array) => 'enough' | Promise<void> | undefined,
      signal?: AbortSignal,
    ): Promise<void> =>
      withDeadline(async (influx, abort) => {
        for await (const bytes of readAnswer(influx, query, [], abort.signal)) {
          const taken = take(bytes)
          if (taken === 'enough') break
          if (taken !== undefined) await taken
        }
      }, signal),

    /** Deletes all points of all times that the predicate (a comparison of tags) selects. */
    async erase(predicate: string): Promise<void> {
      const query = `org=${encodeURIComponent(org)}&bucket=${encodeURIComponent(bucket)}`
      await request('POST', `/api/v2/delete?${query}`, { start: FIRST_TIME, stop: LAST_TIME, predicate })
    },

    request,

    /** Whether the server answers anything at all. */
    isUp: (): Promise<boolean> =>
      send('/ping', '', { method: 'GET' }, pingMs).then(
        () => true,
        () => false,
      ),

    /** Gives up on what is in flight. */
    close(): void {
      for (const abort of inFlight) abort.abort(new Error('the client was closed'))
    },
  }
}

export async function collectRows<T>(
  client: InfluxClient,
  query: ParameterizedQuery,
  toItem: (get: GetColumn) => T,
  signal?: AbortSignal,
): Promise<T[]> {
  const items: T[] = []
  const take = (get: GetColumn) => {
    items.push(toItem(get))
    return undefined
  }
  await client.readRows(query, take, signal)
  return items
}

/** A query that fails after its first rows are out ends with 200 and a table of errors. */
function refuseErrorTable(table: FluxTableMetaData, get: (column: string) => string): void {
  const [first, second] = table.columns
  if (first?.label === 'error' && second?.label === 'reference') throw new Error(get('error'))
}

function toFault(error: unknown, token: string, timedOut: boolean): InfluxFault {
  const clean = (text: string) => {
    const own = text.replace(ECHO, "unable to parse '…'")
    const safe = token === '' ? own : own.replaceAll(token, '[token]')
    return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}…` : safe
  }
  if (error instanceof HttpError) {
    return new InfluxFault(clean(`${error.statusCode} ${error.message}`), error.statusCode, retryAfterMs(error))
  }
  const { code, message } = error as { code?: string; message?: string }
  return new InfluxFault(
    clean(code === undefined ? `${message}` : `${code}: ${message}`),
    undefined,
    undefined,
    timedOut,
  )
}

function retryAfterMs({ headers }: HttpError): number | undefined {
  const header = headers?.['retry-after']
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined
}
