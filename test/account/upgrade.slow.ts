// The version before, from git, and this one: a DATA_DIR of it opens here and then no longer there; on one PostgreSQL its running node continues.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { ROOT } from '../support/readme.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const before = checkOut(readReleased('1.0.0').commit) ?? ''
const PASSWORD = 'correct horse battery'

/** A server of the code in `dir`. */
async function serve(dir: string, dataDir: string, env: Record<string, string> = {}) {
  const port = takePort()
  const url = `http://127.0.0.1:${port}`
  const child = Bun.spawn(['bun', 'src/main.ts'], {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '', PORT: String(port), DATA_DIR: dataDir, SIGNUP: 'open', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await until('the server is ready, or has ended', async () => {
    if (child.exitCode !== null) return true
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    return answer?.status === 200
  })
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
    return { status: response.status, cookie, json: (text.startsWith('{') ? JSON.parse(text) : {}) as any }
  }
  return {
    call,
    hasEnded: () => child.exitCode !== null,
    signUp: (email: string) => call('POST', '/api/accounts', { email, password: PASSWORD }),
    signIn: (email: string, password = PASSWORD) => call('POST', '/api/session', { email, password }),
    send: async (secret: string) =>
      (await call('POST', '/v1/metrics', { process: 'p', items: { n: 1 } }, { 'x-stint-api-key': secret })).status,
    said: async () => (await said).join(''),
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

describe.skipIf(before === '')('the version before', () => {
  test('leaves a DATA_DIR in which every account has one owner; it refuses that afterwards', async () => {
    const dataDir = join(tempDir('upgrade'), 'data')
    const old = await serve(before, dataDir)
    const ada = await old.signUp('ada@example.com')
    const bob = await old.signUp('bob@example.com')
    const cookie = { cookie: ada.cookie }
    const spare = await old.call('POST', '/api/keys', { name: 'all', scopes: ['read', 'manage'] }, cookie)
    const watch = { name: 'w', process: 'p', failed: {} }
    const watched = await old.call('POST', '/api/watches', watch, cookie)
    expect([ada.status, bob.status, spare.status]).toEqual([201, 201, 201])
    await old.stop()

    const now = await serve(ROOT, dataDir)
    const { account, key } = ada.json
    const session = await now.call('GET', '/api/session', undefined, cookie)
    expect(session.json).toMatchObject({
      account: { id: account.id, email: 'ada@example.com', operator: true },
      person: { email: 'ada@example.com' },
      role: 'owner',
      accounts: [{ id: account.id, role: 'owner' }],
    })
    const { members } = (await now.call('GET', '/api/members', undefined, cookie)).json
    expect(members).toMatchObject([{ email: 'ada@example.com', role: 'owner' }])
    const { keys } = (await now.call('GET', '/api/keys', undefined, cookie)).json
    expect(keys.map(({ id }: { id: string }) => id)).toEqual([spare.json.key.id, key.id])
    expect([await now.send(key.secret), await now.send(bob.json.key.secret)]).toEqual([201, 201])
    const manager = { 'x-stint-api-key': spare.json.key.secret }
    const { watches } = (await now.call('GET', '/api/watches', undefined, manager)).json
    expect(watches.map(({ id }: { id: string }) => id)).toEqual(watched.status === 201 ? [watched.json.watch.id] : [])
    expect((await now.signIn('bob@example.com')).json).toMatchObject({
      role: 'owner',
      account: { id: bob.json.account.id },
    })
    await now.stop()

    const again = await serve(before, dataDir)
    expect(again.hasEnded()).toBe(true)
    expect(await again.said()).toContain('was written by a newer Stint')
  })

  test.skipIf(missing('postgresql') !== undefined)(
    'continues on one PostgreSQL beside a node of this version, and gives nobody more than their role',
    async () => {
      const DATABASE_URL = await (await sharedPostgres()).createDatabase()
      const old = await serve(before, join(tempDir('old-node'), 'data'), { DATABASE_URL, NODE_ID: '1' })
      const ada = await old.signUp('ada@example.com')
      const now = await serve(ROOT, join(tempDir('new-node'), 'data'), { DATABASE_URL, NODE_ID: '2' })
      const { key } = ada.json
      expect([await old.send(key.secret), await now.send(key.secret)]).toEqual([201, 201])

      // what the old node makes is whole here
      const bob = await old.signUp('bob@example.com')
      expect((await now.call('GET', '/api/session', undefined, { cookie: bob.cookie })).json).toMatchObject({
        role: 'owner',
        person: { email: 'bob@example.com' },
      })
      const made = await old.call('POST', '/api/keys', { name: 'x' }, { cookie: bob.cookie })
      await until('the new node knows the key', async () => (await now.send(made.json.key.secret)) === 201)
      expect((await now.call('GET', '/api/keys', undefined, { cookie: bob.cookie })).json.keys[0].creator.email).toBe(
        'bob@example.com',
      )

      // a member of this version has no rights there
      const owner = await now.signIn('ada@example.com')
      const invited = await now.call(
        'POST',
        '/api/invitations',
        { email: 'cy@example.com', role: 'viewer' },
        { cookie: owner.cookie },
      )
      const token = /token=(\w+)/.exec(invited.json.invitation.url)![1]
      const cy = await now.call('POST', '/api/invitations/accept', { token, password: PASSWORD })
      expect((await old.call('GET', '/api/keys', undefined, { cookie: cy.cookie })).status).toBe(401)
      expect((await old.signIn('cy@example.com')).status).toBe(401)

      // passwords: a new one here ends the old one there, and the other way round
      const change = (current_password: string, new_password: string) => ({ current_password, new_password })
      const cookie = { cookie: owner.cookie }
      expect((await now.call('POST', '/api/password', change(PASSWORD, 'a new beginning'), cookie)).status).toBe(204)
      expect((await old.signIn('ada@example.com')).status).toBe(401)
      const there = change(PASSWORD, 'bobs new beginning')
      expect((await old.call('POST', '/api/password', there, { cookie: bob.cookie })).status).toBe(204)
      expect((await now.signIn('bob@example.com', 'bobs new beginning')).status).toBe(201)
      expect((await now.signIn('bob@example.com')).status).toBe(401)
      expect([await old.send(key.secret), await now.send(key.secret)]).toEqual([201, 201])
      await Promise.all([old.stop(), now.stop()])
    },
  )
})
