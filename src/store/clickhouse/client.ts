// The only file that uses @clickhouse/client and chDB. One client for both: a server over HTTP, or the engine in this
// process. Never use `clickhouse_settings`: on chDB they persist on the connection and allow injection; write inline.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { type Secret, textOf } from '../../secret.ts'
import { decodeInTurns, mapInTurns } from '../../turns.ts'
import type { Asker } from '../source.ts'
import { assertAwaited, createFairTurns } from './fair-turns.ts'
import { ClickHouseFault, toFault } from './judge-failure.ts'
import { parseRows } from './parse-rows.ts'
import { shieldProcess } from './shield-process.ts'

export interface ServerAddress {
  /** `http://host:8123`; a path is kept as a prefix (a proxy's). */
  readonly url: string
  readonly user: string
  readonly password: Secret
  readonly database: string
  /** The servers are shards and replicas of this cluster; absent: one server. */
  readonly cluster?: string | undefined
}

/** The embedded engine. A process can hold one directory only, and a directory one process. */
export interface EmbeddedAddress {
  readonly path: string
  /** `stint` when absent. */
  readonly database?: string
}

export type ClickHouseAddress = ServerAddress | EmbeddedAddress

export type Params = Readonly<Record<string, string | number>>

/** All methods throw ClickHouseFault and nothing else. */
export interface ClickHouseClient {
  /**
   * Runs one statement; resolves when it is done. `params` bind `{name:Type}`. An INSERT names its `rows`: a server
   * must confirm that it wrote as many, as a proxy may send 200 by itself.
   */
  run(sql: string, params?: Params, rows?: number): Promise<void>
  /** The rows of a SELECT without FORMAT. Not begun once the asker's signal aborted; later `kill` and limits end it. */
  select<Row>(sql: string, params?: Params, asker?: Asker): Promise<Row[]>
  /** The same with each row as an array of its columns: less to send and to parse. */
  selectArrays<Row extends readonly unknown[]>(sql: string, params?: Params): Promise<Row[]>
  /** Ends the statements with this `log_comment`; where that is not permitted, they run on. Never rejects. */
  kill(comment: string): Promise<void>
  close(): Promise<void>
}

/** The embedded engine is not there or cannot open its directory; the message tells the operator what to do. */
export class EngineUnavailableError extends Error {
  override readonly name = 'EngineUnavailableError'
}

export const isEmbedded = (address: ClickHouseAddress): address is EmbeddedAddress => 'path' in address

/**
 * `connections` are those to the embedded engine. Throws EngineUnavailableError; a server that is down fails only its
 * statements.
 */
export async function openClickHouseClient(
  address: ClickHouseAddress,
  timeoutMs: number,
  connections = 1,
): Promise<ClickHouseClient> {
  const log = { level: ClickHouseLogLevel.OFF } // it would print failed queries with their text
  if (isEmbedded(address)) {
    const { path } = address
    const connect = async () => bindOnConnection(wrap(createClient({ connection: await connectEngine(path), log })))
    const open = async () => {
      const clients: ClickHouseClient[] = []
      for (let i = 0; i < connections; i++) {
        const client = await connect()
        await client.run('SET max_query_size = 0') // the sink's statements hold whole batches; lasts for the connection
        clients.push(client)
      }
      return inTurn(clients, connections > 1 ? await connect() : undefined)
    }
    return isReadOnly(path) ? openOnceWritable(path, open) : open()
  }
  const url = new URL(address.url)
  const { pathname } = url
  url.pathname = '' // or it would be taken for the database
  const client = createClient({
    url,
    pathname,
    username: address.user,
    password: textOf(address.password),
    request_timeout: timeoutMs,
    use_multipart_params_auto: true, // long ones go into the body: a proxy may cut an address at 8 KiB
    clickhouse_settings: { wait_end_of_query: 1 }, // in the URL: a query that fails midway is an error
    log,
  })
  return wrap(client, address, assertConfirmed)
}

/** Throws unless ClickHouse confirms the rows. Only its headers prove that: the status and an empty body do not. */
function assertConfirmed(headers: Readonly<Record<string, unknown>>, rows: number | undefined): void {
  const summary = headers['x-clickhouse-summary']
  if (summary === undefined && headers['x-clickhouse-query-id'] === undefined)
    throw new ClickHouseFault("an answer without ClickHouse's headers: a proxy in front of it answered", undefined)
  if (rows === undefined) return
  const written = Number(/"written_rows":\s*"?(\d+)/.exec(String(summary))?.[1] ?? 0)
  if (written < rows)
    throw new ClickHouseFault(`ClickHouse confirmed ${written} of ${rows} rows in X-ClickHouse-Summary`, undefined)
}

type Connection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>

async function connectEngine(path: string): Promise<Connection> {
  const { createChdbConnection } = await import('chdb/connection').catch((cause: Error) => {
    throw new EngineUnavailableError(
      'The embedded ClickHouse is not available: the optional dependency chdb is not installed, has no build for ' +
        'this platform, or cannot be loaded by a compiled stint (use bun run stint). ' +
        'Set CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD and CLICKHOUSE_DATABASE to use a ClickHouse server.',
      { cause },
    )
  })
  try {
    return shieldProcess(() => createChdbConnection({ path })) as unknown as Connection // another copy of the interface
  } catch (cause) {
    const reason = (cause as Error).message.split('\n', 1)[0]
    throw new EngineUnavailableError(
      `The embedded ClickHouse cannot open ${path}: ${reason} ${hasLostLinks(path) ? LINKS_LOST : SERVER_INSTEAD}`,
      { cause },
    )
  }
}

/** The engine would end on it. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Until then each statement fails like those to a server that is away, so that a start can take events. */
function openOnceWritable(path: string, open: () => Promise<ClickHouseClient>): ClickHouseClient {
  let opening: Promise<ClickHouseClient> | undefined
  const opened = () => {
    if (opening === undefined && isReadOnly(path))
      return Promise.reject(new ClickHouseFault(`the directory ${path} cannot be written`, undefined))
    opening ??= open().catch((error: Error) => {
      opening = undefined
      throw new ClickHouseFault(error.message, undefined)
    })
    return opening
  }
  return {
    run: async (...statement) => (await opened()).run(...statement),
    select: async <Row>(...statement: Parameters<ClickHouseClient['select']>) =>
      (await opened()).select<Row>(...statement),
    selectArrays: async <Row extends readonly unknown[]>(...statement: Parameters<ClickHouseClient['selectArrays']>) =>
      (await opened()).selectArrays<Row>(...statement),
    kill: async (comment) => (await opening)?.kill(comment),
    close: async () => (await opening?.catch(() => undefined))?.close(),
  }
}

const SERVER_INSTEAD = 'To use a ClickHouse server instead, set CLICKHOUSE_URL.'
const LINKS_LOST =
  'Its symbolic links are directories: DATA_DIR was copied by a tool that follows links (cp -L, scp -r). ' +
  'Copy it again with links kept (cp -a, rsync -a, tar).'

/** In the engine's own directory each database is a link into store/. */
function hasLostLinks(path: string): boolean {
  const metadata = join(path, 'metadata')
  const databases = existsSync(metadata) ? readdirSync(metadata, { withFileTypes: true }) : []
  return databases.some((entry) => entry.isDirectory())
}

/**
 * Each connection runs one statement at a time, in turn per account, and an empty one after a failure: rows that chDB
 * wrote before a timeout come out in front of the connection's next answer, which may be another account's.
 */
function inTurn(clients: readonly ClickHouseClient[], killer?: ClickHouseClient): ClickHouseClient {
  const clear = (connection: number) => clients[connection]!.run('SELECT 1').catch(() => {}) // fails only if all does
  const turns = createFairTurns(clients.length, clear)
  let killed = Promise.resolve()
  return {
    run: (sql, params, rows) => turns.take(undefined, (connection) => clients[connection]!.run(sql, params, rows)),
    select: (sql, params, asker) => turns.take(asker, (connection) => clients[connection]!.select(sql, params)),
    selectArrays: (sql, params) =>
      turns.take(undefined, (connection) => clients[connection]!.selectArrays(sql, params)),
    kill: (comment) => (killed = killed.then(() => killer?.kill(comment))),
    async close() {
      await Promise.all([...clients, killer].map((client) => client?.close())) // at once: a question may take long
    },
  }
}

const KILL = "KILL QUERY WHERE Settings['log_comment'] = {comment:String} ASYNC"
const noop = () => {}

function wrap(
  client: ReturnType<typeof createClient>,
  server?: Pick<ServerAddress, 'user' | 'password'>,
  assertDone: typeof assertConfirmed = () => {},
): ClickHouseClient {
  const guard = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      throw error instanceof ClickHouseFault ? error : toFault(error as Error, textOf(server?.password ?? ''))
    }
  }
  /** With each request, as the password may be another one by then. */
  const auth = () => server && { auth: { username: server.user, password: textOf(server.password) } }
  const read = async (sql: string, params: Params) => {
    if (server === undefined) return parseRows(await readEngine(sql, params))
    const answer = await client.query({ query: sql, query_params: params, format: 'JSONCompact', ...auth() })
    return parseRows(await answer.text())
  }
  /** The engine hands over an answer as one piece: `query` would decode it within one turn of the event loop. */
  const readEngine = async (sql: string, params: Params): Promise<string> => {
    const { stream } = await client.exec({ query: `${sql}\nFORMAT JSONCompact`, query_params: params })
    return decodeInTurns(stream)
  }
  return {
    run: (sql, params = {}, rows) =>
      guard(
        client
          .command({ query: sql, query_params: params, ...auth() })
          .then(({ response_headers }) => assertDone(response_headers, rows)),
      ),

    async select<Row>(sql: string, params: Params = {}, asker?: Asker) {
      assertAwaited(asker)
      const { names, rows } = await guard(read(sql, params))
      const toObject = (row: readonly unknown[]) => Object.fromEntries(names.map((name, i) => [name, row[i]]))
      return mapInTurns(rows, toObject, () => names.length) as Promise<Row[]>
    },

    selectArrays: async <Row extends readonly unknown[]>(sql: string, params: Params = {}) =>
      (await guard(read(sql, params))).rows as unknown as Row[],

    kill: (comment) => client.command({ query: KILL, query_params: { comment }, ...auth() }).then(noop, noop),

    close: () => client.close(),
  }
}

// chDB's driver runs statements with parameters one after the other over all connections: one account's long question
// would stop all others. So a statement of their own sets them on the connection; the engine still binds them.

/** As the engine reads a parameter: as a field of TSV. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}

/** A literal of SQL, of printable ASCII without quotes and backslashes; all other bytes are `\xHH`. */
function quote(value: string | number): string {
  const field = String(value).replace(/[\\\t\n\r\0\b\f]/g, (char) => ESCAPES[char]!)
  const text = field.replace(/[^ -&(-[\]-~]+/g, (part) => {
    const bytes = Array.from(Buffer.from(part), (byte) => byte.toString(16).padStart(2, '0'))
    return bytes.map((hex) => `\\x${hex}`).join('')
  })
  return `'${text}'`
}

/** Sets the parameters on the connection, which must run one call at a time. Omitted ones are empty. */
function bindOnConnection(client: ClickHouseClient): ClickHouseClient {
  const known = new Set<string>()

  async function bind(params: Params = {}): Promise<void> {
    for (const name of Object.keys(params)) known.add(name)
    if (known.size === 0) return
    await client.run(`SET ${[...known].map((name) => `param_${name} = ${quote(params[name] ?? '')}`).join(', ')}`)
  }

  return {
    async run(sql, params, rows) {
      await bind(params)
      await client.run(sql, {}, rows)
    },
    async select(sql, params, asker) {
      await bind(params)
      return client.select(sql, {}, asker)
    },
    async selectArrays(sql, params) {
      await bind(params)
      return client.selectArrays(sql)
    },
    kill: (comment) =>
      bind({ comment })
        .then(() => client.run(KILL))
        .catch(noop),
    close: () => client.close(),
  }
}
