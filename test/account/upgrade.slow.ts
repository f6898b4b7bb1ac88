// Version 2.0, from git, and this one: everything in its DATA_DIR and its PostgreSQL is here, and on one PostgreSQL its
// nodes work beside this one also after a restart.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { ROOT } from '../support/readme.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

/** The last commit of 2.0. */
const before = checkOut(readReleased('2.0.0').commit) ?? ''
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
    // by the name that both versions read: since 2.1 it has the port
    const cookie = (response.headers.get('set-cookie')?.split(';')[0] ?? '').replace(
      /^stint_session_\d+/,
      'stint_session',
    )
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

type Server = Awaited<ReturnType<typeof serve>>

/** What a person has who signs up: accounts, keys, a session, people, a watch with its channel, a group's state. */
async function fill(old: Server) {
  const ada = await old.signUp('ada@example.com')
  const cookie = { cookie: ada.cookie }
  const make = async (path: string, body: object, headers: Record<string, string> = cookie) => {
    const { status, json } = await old.call('POST', path, body, headers)
    expect(status).toBe(201)
    return json
  }
  const { key: manager } = await make('/api/keys', { name: 'all', scopes: ['read', 'manage'] })
  const { key: revoked } = await make('/api/keys', { name: 'revoked' })
  await old.call('DELETE', `/api/keys/${revoked.id}`, undefined, cookie)
  const { invitation } = await make('/api/invitations', { email: 'cy@example.com', role: 'viewer' })
  const token = /token=(\w+)/.exec(invitation.url)![1]
  const cy = await old.call('POST', '/api/invitations/accept', { token, password: PASSWORD })
  expect(cy.status).toBe(201)
  await make('/api/invitations', { email: 'dan@example.com', role: 'member' })
  const { channel } = await make('/api/channels', { name: 'on call', kind: 'webhook', url: 'https://192.0.2.1/' })
  const watch = { name: 'jobs', process: 'p', failed: {}, long: '1h', channels: [channel.id] }
  await make('/api/watches', watch)
  await make('/api/maintenance', { process: 'q', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z' })
  expect(await old.send(ada.json.key.secret)).toBe(201)
  return { ...ada.json, cookie, cy: { cookie: cy.cookie }, manager, revoked }
}

/** Each list that a person sees, but for what changes by itself. */
async function readAll(server: Server, { cookie, cy }: Awaited<ReturnType<typeof fill>>) {
  const read = async (path: string, headers = cookie) => (await server.call('GET', path, undefined, headers)).json
  const session = await read('/api/session')
  const { unconfirmed: _, ...person } = session.person // since 2.1
  const { keys } = await read('/api/keys')
  const { channels } = await read('/api/channels')
  const { watches } = await read('/api/watches')
  const { entries } = await read('/api/audit')
  return {
    session: { person, role: session.role, account: session.account, accounts: session.accounts },
    viewer: (await read('/api/session', cy)).role,
    keys: keys.map(({ last_used_at: _, ...key }: { last_used_at: unknown }) => key),
    members: await read('/api/members'),
    watches: watches.map(({ id, name, long, channels }: Record<string, unknown>) => ({ id, name, long, channels })),
    channels: channels.map(({ id, name, kind, url }: Record<string, unknown>) => ({ id, name, kind, url })),
    maintenances: (await read('/api/maintenance')).maintenances,
    entries,
  }
}

describe.skipIf(before === '')('version 2.0', () => {
  test('leaves a DATA_DIR in which this version finds everything', async () => {
    const dataDir = join(tempDir('upgrade'), 'data')
    const old = await serve(before, dataDir)
    const made = await fill(old)
    const there = await readAll(old, made)
    expect([there.keys.length, there.watches.length, there.channels.length]).toEqual([3, 1, 1])
    expect(there.entries.length).toBeGreaterThan(4)
    await old.stop()

    const now = await serve(ROOT, dataDir)
    expect(await readAll(now, made)).toEqual(there)
    expect([await now.send(made.key.secret), await now.send(made.revoked.secret)]).toEqual([201, 401])
    expect((await now.signIn('ada@example.com')).status).toBe(201)
    await now.stop()
  })

  describe.skipIf(missing('postgresql') !== undefined)('on PostgreSQL', () => {
    test('leaves a database in which this version finds everything', async () => {
      const DATABASE_URL = await (await sharedPostgres()).createDatabase()
      const old = await serve(before, join(tempDir('old-node'), 'data'), { DATABASE_URL })
      const made = await fill(old)
      const there = await readAll(old, made)
      await old.stop()
      const now = await serve(ROOT, join(tempDir('new-node'), 'data'), { DATABASE_URL })
      expect(await readAll(now, made)).toEqual(there)
      await now.stop()
    })

    test('two nodes work beside this version; one that restarts finds it, too', async () => {
      const DATABASE_URL = await (await sharedPostgres()).createDatabase()
      const dirs = ['node-1', 'node-2', 'node-3'].map((name) => join(tempDir(name), 'data'))
      const start = (i: number, code: string) => serve(code, dirs[i]!, { DATABASE_URL, NODE_ID: `${i + 1}` })
      const first = await start(0, before)
      const { cookie, key, cy } = await fill(first)
      const third = await start(2, before)
      const second = await start(1, ROOT)
      expect([await first.send(key.secret), await second.send(key.secret)]).toEqual([201, 201])

      for (const [here, there] of [
        [first, second],
        [second, first],
        [third, second],
        [second, third],
      ] as const) {
        const { json } = await here.call('POST', '/api/keys', { name: 'x' }, cookie)
        await until('the other node knows the key', async () => (await there.send(json.key.secret)) === 201)
        expect((await here.call('DELETE', `/api/keys/${json.key.id}`, undefined, cookie)).status).toBe(204)
        await until('the key is revoked on the other node', async () => (await there.send(json.key.secret)) === 401)
        expect((await there.call('GET', '/api/session', undefined, cy)).json.role).toBe('viewer')
        const signedIn = { cookie: (await here.signIn('ada@example.com')).cookie }
        expect((await there.call('GET', '/api/session', undefined, signedIn)).json.role).toBe('owner')
      }

      await first.stop()
      const again = await start(0, before)
      expect([await again.send(key.secret), await second.send(key.secret)]).toEqual([201, 201])
      const gone = await again.signUp('bob@example.com')
      await until(
        'an account of one is known on the other',
        async () => (await second.send(gone.json.key.secret)) === 201,
      )
      const bob = { cookie: gone.cookie }
      const body = { id: gone.json.account.id, password: PASSWORD }
      expect((await again.call('DELETE', '/api/account', body, bob)).status).toBe(204)
      await until('its keys end with it', async () => (await second.send(gone.json.key.secret)) === 401)
      await Promise.all([again, second, third].map((it) => it.stop()))
    })
  })
})

test.skipIf(before === '' || missing('postgresql') !== undefined)(
  'a node of 2.0 beside this version takes no ping of a key of one process',
  async () => {
    const DATABASE_URL = await (await sharedPostgres()).createDatabase()
    const dir = join(tempDir('node-1'), 'data')
    const first = await serve(before, dir, { DATABASE_URL, NODE_ID: '1' })
    const { cookie, key } = await fill(first)
    const second = await serve(ROOT, join(tempDir('node-2'), 'data'), { DATABASE_URL, NODE_ID: '2' })
    expect([await first.send(key.secret), await second.send(key.secret)]).toEqual([201, 201])
    const uuid = crypto.randomUUID()
    const create = async (more: object) =>
      (
        await second.call(
          'POST',
          '/api/keys',
          { name: 'x', scopes: ['ping'], process: 'p', ...more },
          { cookie: cookie.cookie },
        )
      ).json.key
    const [brought, random] = [await create({ secret: uuid }), await create({})]
    expect([brought.process, random.process]).toEqual(['p', 'p'])
    const after = (
      await first.call('POST', '/api/keys', { name: 'later', scopes: ['ping'] }, { cookie: cookie.cookie })
    ).json.key
    await until(
      'the other node knows the newest key',
      async () => (await first.call('GET', `/ping/${after.secret}/p`)).status === 200,
    )
    const paths = [`/ping/${uuid}/fail`, `/ping/${uuid}`, `/ping/${random.secret}/fail`, `/ping/${random.secret}/p`]
    const statuses = async (at: Server) => {
      const found: number[] = []
      for (const path of paths) found.push((await at.call('GET', path)).status)
      return found
    }
    expect(await statuses(first)).toEqual([404, 404, 404, 404])
    expect(await statuses(second)).toEqual([200, 200, 404, 200])
    await Promise.all([first.stop(), second.stop()])
  },
)
