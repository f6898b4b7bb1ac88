// Every route with every role: what the table of src/wire/roles.ts says is what the server does.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as accounts from '../../src/wire/accounts.ts'
import * as alerts from '../../src/wire/alerts.ts'
import * as audit from '../../src/wire/audit.ts'
import * as channels from '../../src/wire/channels.ts'
import * as dead from '../../src/wire/dead-letters.ts'
import * as keys from '../../src/wire/keys.ts'
import * as people from '../../src/wire/people.ts'
import { ACCESS, type AccessRule, includesRole, ROLES, type Role } from '../../src/wire/roles.ts'
import type { Route } from '../../src/wire/route.ts'
import * as sessions from '../../src/wire/sessions.ts'
import * as watches from '../../src/wire/watches.ts'
import { startApp, type TestApp } from '../support/app.ts'

const isRoute = (it: unknown): it is Route => typeof it === 'object' && it !== null && 'path' in it && 'access' in it
const MODULES = [accounts, alerts, audit, channels, dead, keys, people, sessions, watches]
/** All that a session may call, but what ends the session itself. */
const ROUTES = MODULES.flatMap((it) => Object.values(it).filter(isRoute)).filter(
  ({ access, method, path }) =>
    (ACCESS[access] as AccessRule).role !== null && !(method === 'DELETE' && path === '/api/session'),
)

let app: TestApp
const cookies = {} as Record<Role | 'removed' | 'elsewhere', string>
let cappedKey = ''
beforeAll(async () => {
  app = await startApp({ signup: 'open' })
  const { rooms, account } = app
  const { invitations, members, sessions: store } = rooms.accounts
  const [ada] = await members.list(account)
  const enter = async (person: string, into = account) =>
    `stint_session=${await store.create({ account: into, person, userAgent: '' })}`
  const join = async (name: string, role: Role) => {
    const invited = await invitations.create({ account, person: ada!.id }, `${name}@example.com`, role)
    return (await invitations.joinAsNew(invited.token, 'no hash')).person
  }
  for (const role of ROLES) cookies[role] = await enter(await join(role, role))
  const gone = await join('gone', 'owner')
  cookies.removed = await enter(gone)
  await members.remove({ account, person: gone })
  const eve = await rooms.accounts.create({ email: 'eve@example.com', password: 'a long password', address: '' })
  cookies.elsewhere = await enter(eve.owner.id, eve.account.id)
  const demoted = await join('demoted', 'member')
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
      expect([role, [200, 204, 404, 422]]).toEqual([
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
  // these two write their entry themselves: into the account that is entered, and after the account is gone
  expect(silent.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'DELETE /api/account',
    'POST /api/session/account',
  ])
})
