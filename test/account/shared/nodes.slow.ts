// Several nodes on one PostgreSQL, in one process: what each knows, when, and from where, also over restarts and restores.
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres } from '../../../src/state/postgres.ts'
import { missing } from '../../support/needs.ts'
import { startPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { ADA, codeOf } from '../accounts-cast.ts'
import { freshUrl, useNodes } from './use-nodes.ts'

const { openNode, atEnd } = useNodes()

describe.skipIf(missing('postgresql') !== undefined)('nodes on one PostgreSQL', () => {
  test('nodes that start concurrently on an empty database create its tables once', async () => {
    const url = await freshUrl()
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)])
    const made = await Promise.allSettled(nodes.map((node, i) => node.create({ ...ADA, address: `192.0.2.${i}` })))
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const [only] = made.filter((one) => one.status === 'fulfilled')
    for (const node of nodes)
      await until('every node knows the account', () => node.isOperator(only!.value.account.id) && node.count() === 1)
  })

  test('each node counts its own series, also while PostgreSQL is away and over a restart', async () => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url, { seriesMax: 2 }), openNode(url, { seriesMax: 2 })])
    const { account } = await a.create(ADA)
    await until('the other node knows the account', () => b.count() === 1)
    expect(a.series.admit(account.id, 'p', '', ['1', '2'])).toBe(true)
    expect(a.series.admit(account.id, 'p', '', ['3'])).toBe(false)
    expect(b.series.admit(account.id, 'p', '', ['3'])).toBe(true)
    await a.close()
    const again = await openNode(url, { seriesMax: 2, replicaPath: a.replicaPath })
    expect(again.series.admit(account.id, 'p', '', ['2', '1'])).toBe(true)
    expect(again.series.admit(account.id, 'p', '', ['3'])).toBe(false)
    await Promise.all([again.close(), b.close()])
  })

  test('an account that a restored database lacks loses its keys, and its data stays', async () => {
    const url = await freshUrl()
    const node = await openNode(url)
    const { key } = await node.create(ADA)
    const sql = new SQL(url, { max: 1 })
    await sql.unsafe('DELETE FROM account')
    await sql.close()
    await until('the key fails', () => node.findKey(key.secret) === undefined)
    await until('the account is gone', () => node.count() === 0)
    expect(node.removals()).toEqual([])
    await node.close()
  })

  test('a node that restarts while PostgreSQL is away knows its keys, and learns of the others afterwards', async () => {
    const server = await startPostgres()
    atEnd(() => server.close())
    const url = await server.createDatabase()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    const { account, key } = await a.create(ADA)
    const second = await a.keys.create(account.id, 'second', ['write'])
    await until('the other node knows the key', () => b.findKey(second.secret) !== undefined)
    await b.close()
    await a.keys.revoke(account.id, key.id)
    await server.stop()
    const again = await openNode(url, { replicaPath: b.replicaPath })
    expect([key, second].map(({ secret }) => again.findKey(secret) !== undefined)).toEqual([true, true])
    await server.start()
    await until('the revoked key fails', () => again.findKey(key.secret) === undefined)
    expect(again.findKey(second.secret)).toBeDefined()
    await Promise.all([again.close(), a.close()])
  })

  test('a node follows a database that was restored from a backup or replaced', async () => {
    const [url, other] = [await freshUrl(), await freshUrl()]
    const node = await openNode(url)
    const { account, key } = await node.create(ADA)
    const sql = new SQL(url, { max: 1 })
    const saved = await sql.unsafe('SELECT version FROM change_counter')
    const later = await node.keys.create(account.id, 'later', ['write'])
    await sql.unsafe('DELETE FROM api_key WHERE id = $1', [later.id])
    await sql.unsafe('UPDATE change_counter SET version = $1', [saved[0].version])
    await sql.close()
    await until('the key that the backup does not have fails', () => node.findKey(later.secret) === undefined)
    expect(node.findKey(key.secret)).toBeDefined()
    await node.close()
    const moved = await openNode(other, { replicaPath: node.replicaPath })
    expect([moved.findKey(key.secret), moved.count()]).toEqual([undefined, 0])
  })

  test('a node notices a history that lacks its newest changes although the counter has passed its own', async () => {
    const [url, replicaUrl] = [await freshUrl(), `${await freshUrl()}_replica`]
    const [node, stopped] = [await openNode(url), await openNode(url)]
    const { account, key } = await node.create(ADA)
    const revokedLater = await node.keys.create(account.id, 'revoked later', ['write'])
    await copyDatabase(url, replicaUrl)
    await until('PostgreSQL answers again', () => node.keys.list(account.id).then(Boolean, () => false))
    const lost = await node.keys.create(account.id, 'lost', ['write'])
    await until('the other node knows the key', () => stopped.findKey(lost.secret) !== undefined)
    await stopped.close()

    const atReplica = await openNode(replicaUrl)
    await atReplica.keys.revoke(account.id, revokedLater.id)
    const created = await atReplica.keys.create(account.id, 'created at the replica', ['write'])
    for (let i = 0; i < 5; i++) await atReplica.keys.create(account.id, `more ${i}`, ['read'])
    await atReplica.close()
    const validAt = ({ findKey }: typeof node) =>
      [key, created, revokedLater, lost].map(({ secret }) => findKey(secret) !== undefined)
    expect(validAt(node)).toEqual([true, false, true, true])
    await moveDatabase(replicaUrl, url)

    await until('the node knows a key of the new history', () => node.findKey(created.secret) !== undefined)
    const restarted = await openNode(url, { replicaPath: stopped.replicaPath })
    for (const one of [node, restarted]) expect(validAt(one)).toEqual([true, true, false, false])
  })

  test('refuses a first start without PostgreSQL or on the database of a newer Stint, with the reason', async () => {
    await expect(openNode('postgres://stint:secret-word@127.0.0.1:1/stint')).rejects.toThrow(
      /^PostgreSQL cannot be used: (?!.*secret-word).*check DATABASE_URL$/,
    )
    const url = await freshUrl()
    await (await openNode(url)).close()
    const sql = new SQL(url, { max: 1 })
    await sql.unsafe('UPDATE stint_schema SET version = 999')
    await sql.close()
    await expect(openNode(url)).rejects.toThrow(/was written by a newer Stint .*start that version/)
  })

  test('an interrupted transaction changes nothing, and the next one works', async () => {
    const url = await freshUrl()
    const node = await openNode(url)
    const { account } = await node.create(ADA)
    const sql = new SQL(url, { max: 1 })
    const postgres = openPostgres(url)
    atEnd(() => postgres.close())
    const cut = postgres.write(function* () {
      yield { sql: 'DELETE FROM api_key', values: [] }
      yield { sql: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] }
    })
    expect(await codeOf(() => cut)).toBe('store_unavailable')
    expect(await node.keys.list(account.id)).toHaveLength(1)
    await sql.unsafe(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await sql.close()
    await until('the pool has recovered', () =>
      node.keys.create(account.id, 'next', ['write']).then(
        () => true,
        () => false,
      ),
    )
  })
})

/** Work on databases that nobody is connected to, as the administrator. */
async function asAdministrator(url: string, work: (sql: SQL, name: string) => Promise<void>): Promise<void> {
  const [name] = url.split('/').slice(-1) as [string]
  const sql = new SQL(url.replace(/[^/]*$/, 'postgres'), { max: 1 })
  await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await until('no connection is left', async () => {
    const left = await sql.unsafe('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    return left.length === 0
  })
  await work(sql, name)
  await sql.close()
}

/** The state of a replica that receives nothing more. */
const copyDatabase = (url: string, copyUrl: string): Promise<void> =>
  asAdministrator(url, async (sql, name) => {
    await sql.unsafe(`CREATE DATABASE ${copyUrl.split('/').at(-1)} TEMPLATE ${name}`)
    await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  })

/** A failover: the other database has the address from now on. */
const moveDatabase = (fromUrl: string, url: string): Promise<void> =>
  asAdministrator(url, async (sql, name) => {
    await sql.unsafe(`ALTER DATABASE ${name} RENAME TO ${name}_lost`)
    await asAdministrator(fromUrl, async (_, from) => {
      await sql.unsafe(`ALTER DATABASE ${from} RENAME TO ${name}`)
      await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    })
  })
