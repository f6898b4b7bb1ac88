// Every route with every role: what the table of src/wire/roles.ts says is what the server does, also after a body that arrived late.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { request as httpRequest } from 'node:http'
import { join as joinPath } from 'node:path'
import { Glob } from 'bun'
import { ACCESS, type AccessRule, includesRole, ROLES, type Role } from '../../src/wire/roles.ts'
import type { Route } from '../../src/wire/route.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { enter, join, ownerOf } from '../support/people.ts'
import { ROOT } from '../support/readme.ts'

const isRoute = (it: unknown): it is Route => typeof it === 'object' && it !== null && 'path' in it && 'access' in it
const WIRE = joinPath(ROOT, 'src/wire')
const MODULES: object[] = await Promise.all(
  [...new Glob('*.ts').scanSync(WIRE)].sort().map((it) => import(`${WIRE}/${it}`)),
)
/** All that a session may call, but what ends the session itself. */
const ROUTES = [...new Set(MODULES.flatMap((it) => Object.values(it).filter(isRoute)))].filter(
  ({ access, method, path }) =>
    (ACCESS[access] as AccessRule).role !== null && !(method === 'DELETE' && /^\/api\/sessions?$/.test(path)),
)

let app: TestApp
const cookies = {} as Record<Role | 'removed', string>
let cappedKey = ''
/** Called when a session was looked up, with its token. */
let onFound = (_token: string): void => {}
beforeAll(async () => {
  app = await startApp({
    signup: 'open',
    replace(rooms) {
      const { find, ...others } = rooms.accounts.sessions
      const noted = async (token: string) => {
        const found = await find(token)
        onFound(token)
        return found
      }
      return { ...rooms, accounts: { ...rooms.accounts, sessions: { ...others, find: noted } } }
    },
  })
  const { rooms, account } = app
  const { members } = rooms.accounts
  for (const role of ROLES) cookies[role] = await enter(app, await join(app, role))
  const gone = await join(app, 'owner', 'gone')
  cookies.removed = await enter(app, gone)
  await members.remove({ account, person: gone })
  const demoted = await join(app, 'member', 'demoted')
  const who = { id: demoted, email: 'demoted@example.com' }
  cappedKey = (await rooms.accounts.keys.create(account, 'k', ['read', 'write', 'manage'], who)).secret
  await members.changeRole({ account, person: demoted }, 'viewer')
})
afterAll(() => app.stop())

/** The id is nobody's, and a body has a fault, so that nothing changes for the routes after it. */
const ask = ({ method, path, body }: Route, headers: Record<string, string>) =>
  app.fetch(path.replace(/:\w+/, 'none_0000'), {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: '{"no such field":1}' }),
  })

test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (_, route) => {
  const rule: AccessRule = ACCESS[route.access]
  for (const role of ROLES) {
    const { status, json } = await ask(route, { cookie: cookies[role] })
    if (includesRole(role, rule.role!))
      expect([role, [200, 201, 204, 404, 422]]).toEqual([
        role,
        expect.arrayContaining([
          status === 403 && json.code === 'role_missing' && route.access === 'self' ? 404 : status,
        ]),
      ])
    else expect([role, status, json.code]).toEqual([role, 403, 'role_missing'])
  }
  expect((await ask(route, { cookie: cookies.removed })).json.code).toBe('session_invalid')
  const wrongTab = await ask(route, { cookie: cookies.owner, 'x-stint-account': 'acc_0000000000000000' })
  expect([wrongTab.status, wrongTab.json.code]).toEqual([409, 'account_changed'])
  if (rule.scope === null) return
  const capped = await ask(route, { 'x-stint-api-key': cappedKey })
  if (rule.role === 'viewer') expect(capped.status).not.toBe(403)
  else expect([capped.status, capped.json.code]).toEqual([403, 'role_missing'])
})

test('every route that changes something says what the audit log calls it', () => {
  const silent = ROUTES.filter(({ method, audit: action }) => method !== 'GET' && action === undefined)
  // four write their entry themselves: into the account that is entered, after the account is gone, by the choice, and by the link that
  // they send; a preview changes nothing
  expect(silent.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'DELETE /api/account',
    'POST /api/address/confirmation',
    'POST /api/dispute',
    'POST /api/session/account',
    'POST /api/watches/preview',
  ])
})

const WITH_BODY = ROUTES.filter(({ body }) => body !== undefined)

/** Sends the body's first character, calls `meanwhile` once the session was judged, and sends the rest. */
async function sendLate(method: string, path: string, body: unknown, token: string, meanwhile: () => Promise<unknown>) {
  const judged = new Promise<void>((resolve) => {
    onFound = (found) => found === token && resolve()
  })
  const text = JSON.stringify(body)
  const headers = {
    cookie: `stint_session=${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const sent = httpRequest(app.url + path, { method, headers })
  const answer = new Promise<string>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()))
  })
  sent.write(text.slice(0, 1))
  await judged
  await meanwhile()
  sent.end(text.slice(1))
  return JSON.parse(await answer)
}

test('maintenance, health and questions are among the routes that this file walks', () => {
  const walked = ROUTES.map(({ method, path }) => `${method} ${path}`)
  expect(walked).toContain('PATCH /api/maintenance/:id')
  expect(walked).toContain('GET /api/health')
  expect(walked).toContain('GET /api/timings')
  expect(WITH_BODY.length).toBeGreaterThan(10)
})

test.each(WITH_BODY.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s does nothing for a session that ended while the body arrived',
  async (_, { method, path, body }) => {
    const { sessions } = app.rooms.accounts
    const owner = await ownerOf(app)
    const token = await sessions.create({ ...owner, userAgent: '' })
    const example = Object.values(body!['application/json']!.examples!)[0]!.value
    const answer = await sendLate(method, path.replace(/:\w+/, 'none_0000'), example, token, async () =>
      sessions.revoke(owner.person, (await sessions.find(token))!.id),
    )
    expect(answer).toMatchObject({ status: 401, code: 'session_invalid' })
  },
)

test('what was done after a late body is in the audit log of the account in which it was done', async () => {
  const { sessions, create, audit, invitations } = app.rooms.accounts
  const other = await create({ email: 'fay@example.com', password: 'a long password', address: '' })
  const person = other.owner.id
  const invited = await invitations.create(await ownerOf(app), 'fay@example.com', 'member')
  await invitations.join(invited.token, { id: person, email: 'fay@example.com' })
  const token = await sessions.create({ account: app.account, person, userAgent: '' })
  const { id } = (await sessions.find(token))!
  const answer = await sendLate('POST', '/api/maintenance', { process: 'p', to: '2099-01-01T00:00:00Z' }, token, () =>
    sessions.enter(id, { account: other.account.id, person }),
  )
  expect(answer).toMatchObject({ maintenance: { process: 'p' } })
  const entries = await audit.list(other.account.id, { fromMs: 0, toMs: Date.now() + 60_000, limit: 10 })
  expect(entries.map(({ action }) => action)).toContain('maintenance_created')
})
