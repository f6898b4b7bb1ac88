// Two nodes on one PostgreSQL: keys end on both, and what a node keeps by itself. Restarts and restores: nodes.slow.ts.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { loadKeyRing } from '../../../src/account/key-ring.ts'
import { createFollowChanges } from '../../../src/account/shared/follow-changes.ts'
import { openReplica } from '../../../src/account/shared/replica.ts'
import { loadSuspensions } from '../../../src/account/suspensions.ts'
import { run } from '../../../src/state/database.ts'
import { openPostgres } from '../../../src/state/postgres.ts'
import { createLogLines } from '../../spool/spool-trial.ts'
import { missing } from '../../support/needs.ts'
import { until } from '../../support/until.ts'
import { ADA, BOB, createManualClock, freshDir } from '../accounts-cast.ts'
import { freshUrl, useNodes } from './use-nodes.ts'

const { openNode, atEnd } = useNodes()
type Node = Awaited<ReturnType<typeof openNode>>

describe.skipIf(missing('postgresql') !== undefined)('nodes on one PostgreSQL', () => {
  test.each([
    ['a user that it refuses', (url: URL) => (url.username = 'nobody'), 'refuses the user or the password'],
    ['a database that it lacks', (url: URL) => (url.pathname = '/none'), 'has no database of the name'],
    ['a port where nobody is', (url: URL) => (url.port = '1'), 'does not answer'],
  ])('name %s', async (_, change, reason) => {
    const wrong = new URL(await freshUrl())
    change(wrong)
    const postgres = openPostgres(wrong.href)
    atEnd(() => postgres.close())
    const read = postgres.read(function* () {
      yield { sql: 'SELECT 1', values: [] }
    })
    await expect(read).rejects.toMatchObject({ detail: expect.stringContaining(`PostgreSQL ${reason}`) })
  })

  test('keys of a deleted account fail on every node, and each node erases its data once', async () => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    const { account, key } = await a.create(ADA)
    const bob = await a.create(BOB)
    await until('the other node knows the key', () => b.findKey(key.secret) !== undefined)
    await a.delete(account.id, BOB.email)
    expect(a.findKey(key.secret)).toBeUndefined()
    await until('the key fails at the other node', () => b.findKey(key.secret) === undefined)
    for (const node of [a, b]) {
      await until('the node has learned of it', () => node.removals().length === 1)
      expect(node.removals()).toEqual([account.id])
      await until('the node knows the next operator', () => node.isOperator(bob.account.id))
      await node.removed([account.id])
    }
    await b.close()
    const again = await openNode(url, { replicaPath: b.replicaPath })
    expect(again.removals()).toEqual([])
  })

  test('accounts begin with a link once no node of 2.0 has been seen for three minutes', async () => {
    const url = await freshUrl()
    const node = await openNode(url, { isMailed: true })
    await node.create(ADA)
    const postgres = openPostgres(url)
    atEnd(postgres.close)
    const see = (agoS: number, report: object) =>
      postgres.write(function* () {
        yield* run('DELETE FROM node')
        const seen = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
        yield* run(`INSERT INTO node VALUES (7, ${seen} - $1, $2)`, agoS * 1e6, JSON.stringify(report))
      })
    expect(await node.signUp.isByLink()).toBe(true)
    await see(1, { changed: [], late: [] })
    expect(await node.signUp.isByLink()).toBe(false)
    await see(1, { changed: [], links: true, late: [] })
    expect(await node.signUp.isByLink()).toBe(true)
    await see(181, { changed: [], late: [] })
    expect(await node.signUp.isByLink()).toBe(true)
  })

  test('a dispute is known on every node', async () => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    await a.create(ADA)
    const { account, owner, seat } = await a.create(BOB)
    await a.people.proveAddress(owner.id)
    await until('the other node knows', () => b.disputedBy(account.id) === owner.id)
    await b.disputes.keep(seat)
    await until('the first one knows the choice', () => a.disputedBy(account.id) === undefined)
  })

  test('the local copy of a node is private and holds no password, e-mail address, session or key', async () => {
    const node = await openNode(await freshUrl())
    const { account, key, seat } = await node.create(ADA)
    const token = await node.sessions.create({ ...seat, userAgent: 'agent' })
    const dir = dirname(node.replicaPath)
    const text = readdirSync(dir)
      .map((name) => readFileSync(join(dir, name), 'latin1'))
      .join('')
    expect(text).toContain(account.id)
    expect(statSync(node.replicaPath).mode & 0o777).toBe(0o600)
    for (const secret of [
      ADA.email,
      ADA.password,
      '$argon2',
      token,
      Bun.SHA256.hash(token, 'hex'),
      key.secret.slice(12, 36),
    ])
      expect(text.includes(secret)).toBe(false)
  })

  test.each([
    ['made', (node: Node, account: string) => node.keys.create(account, 'new', ['write'])],
    ['rotated', (node: Node, account: string, id: string) => node.keys.rotate(account, id, 3600)],
  ])('a key that is %s at one node and revoked at another meanwhile is invalid at both', async (_, change) => {
    const url = await freshUrl()
    const [a, b] = await Promise.all([openNode(url), openNode(url)])
    const { account, key } = await a.create(ADA)
    const postgres = new SQL({ url, max: 1 })
    atEnd(() => postgres.end())
    const lock = await postgres.reserve()
    // what nodes read back looks at this table: `a` reads its own change after that of `b`
    await lock`BEGIN`
    await lock`LOCK TABLE removal IN ACCESS EXCLUSIVE MODE`
    const changing = change(a, account.id, key.id)
    await until('the new key is in the database', async () => (await b.keys.list(account.id)).length === 2)
    const keys = await b.keys.list(account.id)
    const revoking = keys.map(({ id }) => b.keys.revoke(account.id, id))
    const isRevoked = async () => (await b.keys.list(account.id)).every(({ revoked_at }) => revoked_at !== null)
    await until('all keys are revoked in the database', isRevoked)
    await lock`COMMIT`
    lock.release()
    const { secret } = await changing
    await Promise.all(revoking)
    await until('a knows what b did', () => a.findKey(key.secret) === undefined)
    for (const node of [a, b]) expect(node.findKey(secret)).toBeUndefined()
  })

  test('a revoked key is invalid although the local copy cannot be written; the copy is written later', async () => {
    const url = await freshUrl()
    const node = await openNode(url)
    const { account, key } = await node.create(ADA)
    const { log, lines } = createLogLines()
    const clock = createManualClock()
    const [replica, postgres] = [openReplica(join(freshDir(), 'known-keys.sqlite'), log), openPostgres(url)]
    atEnd(() => postgres.close())
    const { db } = replica.file
    const ring = loadKeyRing(db, clock)
    const suspensions = loadSuspensions(db, ring)
    const follow = createFollowChanges({ postgres, replica, ring, suspensions, clock, log, onRemoved: () => {} })
    await follow.catchUp()
    expect(ring.find(key.secret)).toBeDefined()
    db.run("CREATE TRIGGER fails BEFORE DELETE ON api_key BEGIN SELECT RAISE(ABORT, 'no space'); END")
    await node.keys.revoke(account.id, key.id)
    for (let i = 0; i < 3; i++) await follow.catchUp()
    expect(ring.find(key.secret)).toBeUndefined()
    expect(loadKeyRing(db, clock).find(key.secret)).toBeDefined()
    expect(lines.filter(({ level }) => level === 40)).toHaveLength(1) // once, not at each poll
    db.run('DROP TRIGGER fails')
    await follow.catchUp()
    expect(loadKeyRing(db, clock).find(key.secret)).toBeUndefined()
    replica.file.close()
  })
})
