// ClickHouse's HTTP interface in front of the embedded engine, so that @clickhouse/client meets the real engine over a real socket where no server can be
// had. What it does not know (a setting in the URL, a path) it refuses: a client that begins to rely on more fails here instead of passing by luck.
import { writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { shieldProcess } from '../../src/store/clickhouse/shield-process.ts'
import { enginePath, freshDatabase } from './engine.ts'

export type ClickHouseBridge = Awaited<ReturnType<typeof startClickHouseBridge>>

export const CREDENTIALS = { user: 'stint', password: 'pass-word-that-must-never-be-printed' }
const VERSION = '26.7.2.1'

/** As a server's http_max_field_value_size is by default. */
const FIELD_MAX = 131_072

/** Settings of the HTTP layer: they say how the answer is sent. Answers are always sent whole here. */
const HTTP_SETTINGS = new Set(['wait_end_of_query', 'enable_http_compression', 'query_id', 'default_format'])

/** Statuses of the server's HTTPHandler; every other code is a 500. */
const STATUSES: Readonly<Record<number, number>> = {
  6: 400, 25: 400, 26: 400, 27: 400, 36: 400, 38: 400, 41: 400, 43: 400, 53: 400, 62: 400, 72: 400, 457: 400,
  46: 404, 47: 404, 50: 404, 56: 404, 60: 404, 81: 404, 115: 404,
  159: 408, 192: 403, 193: 403, 194: 401, 516: 403, 497: 403, 209: 503, 439: 503,
} // biome-ignore format: a table

class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly type: string,
    message: string,
  ) {
    super(message)
  }
}

export interface BridgeOptions {
  /** The engine's directory; the one of this process when absent. */
  readonly path?: string
  /** Any free one when absent. */
  readonly port?: number
  /**
   * The engine is every one of so many shards of the cluster `CLUSTER`, in a process that has not opened it yet. Its Distributed tables are real; a question that
   * asks two shards sees every row twice. DDL queues and replication need Keeper and other hosts: see `withoutKeeper`.
   */
  readonly shards?: number
}

/** Only to be called where `engineMissing` is undefined. */
export async function startClickHouseBridge(options: BridgeOptions = {}) {
  const { createChdbConnection } = await import('chdb/connection')
  const path = options.path ?? enginePath()
  const session = options.shards === undefined ? undefined : await openCluster(path, options.shards)
  const connection = shieldProcess(() => createChdbConnection({ path }))
  const statements: string[] = []
  const refusals = new Map<string, { pattern: RegExp; code: number; type: string; message: string }>()
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: `USE` holds for the whole connection. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work)
    last = turn.catch(() => connection.command({ query: 'SELECT 1' })) // what a failed query left would come out with the next
    return turn
  }

  async function execute(request: Request, url: URL): Promise<Response> {
    const form = /^multipart\/form-data\b/.test(request.headers.get('content-type') ?? '')
      ? await request.formData()
      : []
    for (const [name, value] of form) url.searchParams.append(name, String(value))
    const query = url.searchParams.get('query') ?? ''
    const body = request.bodyUsed ? '' : await request.text()
    const sql = query === '' ? body : body === '' ? query : `${query}\n${body}`
    if (sql.trim() === '') throw new Refusal(62, 'SYNTAX_ERROR', 'Syntax error: empty query')
    if (request.method === 'GET' && !/^\s*(select|show|exists|describe|explain|with)\b/i.test(sql)) {
      throw new Refusal(164, 'READONLY', 'Cannot execute query in readonly mode.')
    }
    const params: Record<string, string> = {}
    for (const [name, value] of url.searchParams) {
      if (value.length > FIELD_MAX) throw new Refusal(1000, 'POCO_EXCEPTION', 'Field value too long')
      if (name.startsWith('param_')) params[name.slice(6)] = unescapeParam(value)
      else if (!['query', 'database', 'user', 'password'].includes(name) && !HTTP_SETTINGS.has(name)) {
        throw new Refusal(
          115,
          'UNKNOWN_SETTING',
          `Setting ${name} is neither a builtin setting nor known to the bridge.`,
        )
      }
    }
    const database = url.searchParams.get('database') ?? 'default'
    statements.push(sql.split(/\bFORMAT \w+\n/, 1)[0]!)
    for (const { pattern, code, type, message } of refusals.values()) {
      if (pattern.test(sql)) throw new Refusal(code, type, message)
    }
    const answer = await inTurn(async () => {
      await connection.command({ query: `USE \`${database.replaceAll('`', '')}\`` })
      return connection.exec({ query: session === undefined ? sql : withoutKeeper(sql), query_params: params })
    })
    const id = crypto.randomUUID()
    return new Response(Readable.toWeb(answer.stream) as unknown as ReadableStream, {
      headers: {
        'x-clickhouse-query-id': id,
        'x-clickhouse-summary': JSON.stringify({ written_rows: String(countRows(sql)) }),
        'x-clickhouse-timezone': 'UTC',
      },
    })
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === '/ping') return new Response('Ok.\n')
      if (url.pathname !== '/') return new Response('There is no handle', { status: 404 })
      try {
        authenticate(request, url)
        return await execute(request, url)
      } catch (error) {
        return refuse(error as Error & { code?: unknown })
      }
    },
  })

  return {
    url: `http://127.0.0.1:${server.port}`,
    ...CREDENTIALS,
    /** One that is not there yet. */
    database: freshDatabase(),
    /** The statements so far, as they came; without the rows of an INSERT. */
    statements: statements as readonly string[],
    /** From now on statements that match are answered with this exception of the server's; undefined = none is. */
    refuse(pattern: RegExp, refusal: { code: number; type: string; message: string } | undefined): void {
      if (refusal === undefined) refusals.delete(pattern.source)
      else refusals.set(pattern.source, { pattern, ...refusal })
    },
    async stop(): Promise<void> {
      await server.stop(true)
      await last
      await connection.close()
      session?.close()
    },
  }
}

export const CLUSTER = 'all_shards'

async function openCluster(path: string, shards: number): Promise<{ close(): void }> {
  const { Session } = await import('chdb')
  const shard =
    '<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host></replica></shard>'
  const config = `${path}.cluster.xml`
  writeFileSync(
    config,
    `<clickhouse><tcp_port>9000</tcp_port><remote_servers><${CLUSTER}>${shard.repeat(shards)}</${CLUSTER}></remote_servers></clickhouse>`,
  )
  return new Session(path, { connectionArgs: [`--config-file=${config}`] })
}

/** What an engine without Keeper can run of a statement: DDL on this host alone, tables without replicas. */
const withoutKeeper = (sql: string): string =>
  sql
    .replace(` ON CLUSTER \`${CLUSTER}\``, '')
    .replace(/ReplicatedReplacingMergeTree\('[^']*', '[^']*'(?:, (\w+))?\)/, 'ReplacingMergeTree($1)')

function authenticate(request: Request, url: URL): void {
  const basic = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
  const [user, ...rest] = basic === undefined ? [] : atob(basic).split(':')
  const name = user ?? request.headers.get('x-clickhouse-user') ?? url.searchParams.get('user')
  const key =
    basic === undefined ? (request.headers.get('x-clickhouse-key') ?? url.searchParams.get('password')) : rest.join(':')
  if (name === CREDENTIALS.user && key === CREDENTIALS.password) return
  throw new Refusal(
    516,
    'AUTHENTICATION_FAILED',
    `${name ?? 'default'}: Authentication failed: password is incorrect, or there is no user with such name.`,
  )
}

/** Values of parameters come escaped as in TSV; chDB's own binding escapes again. */
function unescapeParam(value: string): string {
  const plain: Record<string, string> = { t: '\t', n: '\n', r: '\r', '0': '\0', b: '\b', f: '\f' }
  return value.replace(/\\(.)/gs, (_, char: string) => plain[char] ?? char)
}

/** Rows of an INSERT, as the server's summary counts them: with a FORMAT the lines behind it, of a SELECT without FROM one. */
function countRows(sql: string): number {
  if (!/^\s*INSERT\b/i.test(sql)) return 0
  const [, lines] = sql.split(/\bFORMAT \w+\n/)
  return lines === undefined ? 1 : lines.split('\n').filter((line) => line !== '').length
}

function refuse(error: Error & { code?: unknown; type?: unknown }): Response {
  const code = Number(error.code)
  const text =
    error.cause instanceof Error
      ? error.cause.message
      : `Code: ${code}. DB::Exception: ${error.message} (${error.type})`
  return new Response(`${text} (version ${VERSION})\n`, {
    status: STATUSES[code] ?? 500,
    headers: { 'x-clickhouse-exception-code': String(code), 'content-type': 'text/plain; charset=UTF-8' },
  })
}
