// The one file that knows Bun's PostgreSQL client. Invariants:
// * Values are bound, never part of a statement's text; secrets come here only as hashes.
// * A writing transaction takes its room's turn with its first statement: it locks one row until it commits, so writers
//   of all nodes take turns.
// * Nobody waits longer than 5 s: a pool that does not answer is replaced, and PostgreSQL ends what a dead node has
//   left open.
import { SQL } from 'bun'
import { Problem } from '../problem.ts'
import { type Secret, textOf } from '../secret.ts'
import type { Result, Script, SqlDatabase, Statement, Value } from './database.ts'
import { ADDED_STEPS, LATER_STEPS, POSTGRES } from './postgres-schema.ts'
import { checkSchemaVersion, newestVersion, stepsFrom } from './schema.ts'

const CONNECTIONS = 8
const WATCH_CONNECTIONS = 4
const ANSWER_WITHIN_MS = 5_000
const CONNECT_WITHIN_S = 4
/** 'Stnt': the advisory lock of those who migrate. */
const MIGRATION_LOCK = 0x53746e74
const DATABASE = 'the database of DATABASE_URL'

/** The limits end with the transaction, so they hold behind a connection pooler as well. */
const LIMITS =
  "set_config('idle_in_transaction_session_timeout', '10000', true), set_config('statement_timeout', '10000', true)"

/** For each room that writes: its maximum number of connections, and the first statement of a write. */
const ROOMS = {
  accounts: {
    connections: CONNECTIONS,
    takeTurn: `UPDATE change_counter SET version = version + 1 RETURNING ${LIMITS}`,
  },
  leases: { connections: 1, takeTurn: `SELECT ${LIMITS}` },
  watches: { connections: WATCH_CONNECTIONS, takeTurn: `SELECT ${LIMITS} FROM watch_lease FOR UPDATE` },
  /** Blocks wait for no judge. */
  feed: { connections: 1, takeTurn: `SELECT ${LIMITS}` },
} as const

/** Opens no connection yet: the first use does, and brings the schema up to date. */
export function openPostgres(url: Secret, room: keyof typeof ROOMS = 'accounts'): SqlDatabase {
  const { connections, takeTurn } = ROOMS[room]
  const createPool = (text: string) =>
    new SQL(text, { max: connections, connectionTimeout: CONNECT_WITHIN_S, bigint: true, prepare: false })
  let usedUrl = textOf(url)
  let pool = createPool(usedUrl)
  let migrated: Promise<void> | undefined

  /** Shared by all who come first; tried again after a failure. */
  function migrateOnce(sql: SQL): Promise<void> {
    migrated ??= migrate(sql).catch((cause) => {
      migrated = undefined
      throw cause
    })
    return migrated
  }

  async function withPool<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const used = pool
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new NoAnswer()), ANSWER_WITHIN_MS)
    try {
      return await Promise.race([migrateOnce(used).then(() => work(used)), late.promise])
    } catch (cause) {
      if (cause instanceof NoAnswer || (isRefused(cause) && textOf(url) !== usedUrl)) replace(used)
      throw isAway(cause) ? awayProblem(cause) : cause
    } finally {
      clearTimeout(timer)
    }
  }

  function replace(broken: SQL): void {
    if (pool !== broken) return
    usedUrl = textOf(url)
    pool = createPool(usedUrl)
    migrated = undefined
    void broken.close({ timeout: 0 }).catch(() => {}) // its connections are lost already
  }

  return {
    read: (script) => withPool((sql) => runScript(sql, script())),
    write: (script) =>
      withPool((sql) =>
        sql.begin(async (tx) => {
          await tx.unsafe(takeTurn)
          return runScript(tx, script())
        }),
      ),
    close: () => pool.close({ timeout: 1 }),
  }
}

async function runScript<T>(sql: SQL, script: Script<T>): Promise<T> {
  let step = script.next()
  while (!step.done) step = script.next(await runStatement(sql, step.value))
  return step.value
}

async function runStatement(sql: SQL, { sql: text, values }: Statement): Promise<Result> {
  const result = await sql.unsafe(text, values.map(withoutNul))
  return { rows: result.map(toRow), changes: result.count ?? 0 }
}

/** A text of PostgreSQL cannot hold U+0000. */
const withoutNul = (value: Value): Value => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value)

/** Every BIGINT here is below 2⁵³: times in ms or µs, counts, hashes of 53 bits. */
const toRow = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )

/**
 * Nodes that start at once wait for the one that migrates. Throws an Error for the operator when the schema is older
 * than that of 2.0, or newer than this one.
 */
async function migrate(sql: SQL): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await tx.unsafe('CREATE TABLE IF NOT EXISTS stint_schema (version INTEGER NOT NULL)')
    const [row] = await tx.unsafe<{ version: number; added?: number; later?: number }[]>('SELECT * FROM stint_schema')
    const { version = 0, added = 0, later = 0 } = row ?? {}
    const isOf11 = added < ADDED_STEPS
    if (row !== undefined) checkSchemaVersion(POSTGRES, isOf11 ? 0 : version, DATABASE)
    const steps = [...stepsFrom(POSTGRES, version), ...LATER_STEPS.slice(later)]
    if (steps.length === 0) return
    for (const step of steps) await tx.unsafe(step)
    for (const count of ['added', 'later'])
      await tx.unsafe(`ALTER TABLE stint_schema ADD COLUMN IF NOT EXISTS ${count} INTEGER NOT NULL DEFAULT 0`)
    await tx.unsafe('DELETE FROM stint_schema')
    await tx.unsafe('INSERT INTO stint_schema (version, added, later) VALUES ($1, $2, $3)', [
      ...[newestVersion(POSTGRES), ADDED_STEPS, LATER_STEPS.length],
    ])
  })
}

class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  constructor() {
    super(`PostgreSQL gave no answer within ${ANSWER_WITHIN_MS / 1000} s`)
  }
}

/**
 * Classes of SQLSTATE that a statement of ours is to blame for; every other one is the state of the server or of the
 * connection.
 */
const OUR_FAULT = /^(21|22|23|42|P0)/

function isAway(cause: unknown): boolean {
  if (cause instanceof NoAnswer) return true
  if (!(cause instanceof SQL.SQLError)) return false
  const { errno } = cause as { errno?: string }
  return errno === undefined || !OUR_FAULT.test(errno)
}

/** Where a sentence names why. */
export const WHILE_AWAY = 'events are accepted, and nothing is judged or notified meanwhile.'

const awayProblem = (cause: unknown): Problem =>
  new Problem('store_unavailable', `${whyAway(cause)}: ${WHILE_AWAY} Try again later.`, {
    retryAfterS: 5,
    cause,
  })

/** The user or the password. */
const isRefused = (cause: unknown): boolean => String((cause as { errno?: unknown }).errno ?? '').startsWith('28')

/** Of an error that a method of Postgres rejected with, for the operator: silence is not a refused password. */
export function whyAway(error: unknown): string {
  const cause = (error instanceof Problem ? error.cause : error) as { errno?: unknown }
  if (isRefused(cause)) return 'PostgreSQL refuses the user or the password of DATABASE_URL'
  return cause.errno === '3D000'
    ? 'PostgreSQL has no database of the name in DATABASE_URL'
    : 'PostgreSQL does not answer'
}
