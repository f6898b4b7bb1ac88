// Every route of the router × everybody who may come: who is answered what. A route without a row here fails the test, so none can be
// forgotten; and every answer, whatever its status, has the headers that keep browsers from doing harm with it.
import { beforeAll, describe, expect, test } from 'bun:test'
import { useApp } from '../support/app.ts'
import { type ApiCaller, keyHeader as key, signInAt, signUpAt } from '../support/caller.ts'

/** The callers. `stranger` is the key or session of another account. */
const CALLERS = [
  'nobody',
  'owner',
  'writer',
  'reader',
  'revoked',
  'rotated',
  'stranger',
  'garbage',
  'session',
  'strangers session',
  'ended session',
] as const
type CallerName = (typeof CALLERS)[number]
type Expectation = Readonly<Record<CallerName, number>>

const everybody = (status: number): Expectation =>
  Object.fromEntries(CALLERS.map((name) => [name, status])) as Expectation
/** Only a key with the scope `write` reaches the check of the body, which is invalid here. */
const WRITE: Expectation = { ...everybody(401), owner: 422, writer: 422, stranger: 422, reader: 403 }
/** OTLP's JSON form of nothing is an empty object. */
const EXPORT: Expectation = { ...WRITE, owner: 200, writer: 200, stranger: 200 }
const read = (status: number): Expectation => ({
  ...everybody(401),
  owner: status,
  reader: status,
  stranger: status,
  session: status,
  'strangers session': status,
  writer: 403,
})
/** A change by key or session: the key must have the scope `write`. */
const change = (status: number): Expectation => ({ ...read(status), writer: status, reader: 403 })
/** Routes that need a session; a key does not count. */
const session = (status: number, strangers = status): Expectation => ({
  ...everybody(401),
  session: status,
  'strangers session': strangers,
})

/** A session, or a key with the scope `manage`, which none of these keys has. */
const manage = (status: number, strangers = status): Expectation => ({
  ...session(status, strangers),
  owner: 403,
  writer: 403,
  reader: 403,
  stranger: 403,
})

const EXPECTED: Readonly<Record<string, Expectation>> = {
  'POST /v1/start': WRITE,
  'POST /v1/end': WRITE,
  'POST /v1/metrics': WRITE,
  'POST /v1/exception': WRITE,
  'POST /v1/batch': WRITE,
  'POST /otlp/v1/traces': EXPORT,
  'POST /otlp/v1/logs': EXPORT,
  'POST /otlp/v1/metrics': EXPORT,
  'GET /ping/*': everybody(404),
  'HEAD /ping/*': everybody(404),
  'POST /ping/*': everybody(404),
  'GET /api/overview': read(200),
  'GET /api/timings': read(200),
  'GET /api/timings/latest': read(200),
  'GET /api/timings/summary': read(200),
  'GET /api/metrics': read(200),
  'GET /api/exceptions': read(200),
  'GET /api/exceptions/groups': read(200),
  'GET /api/exceptions/export': read(200),
  'GET /api/outputs': read(200),
  'PATCH /api/exceptions/groups/:fingerprint': manage(422),
  'GET /api/processes': read(200),
  'GET /api/processes/notes': manage(200),
  'PUT /api/processes/note': manage(422),
  'GET /api/series': read(200),
  'GET /api/prometheus': read(200),
  'GET /api/health': read(200),
  'GET /api/dead': read(200),
  // a session of the first account, which none of these is, and no key
  'DELETE /api/health/lost-watches': { ...change(403), owner: 403, writer: 403 },
  'POST /api/dead/held': { ...change(403), owner: 403, writer: 403 },
  // a session of the operator, which none of these is
  'GET /api/operator/accounts': manage(403),
  'POST /api/operator/accounts/:id/suspend': manage(403),
  'POST /api/operator/accounts/:id/resume': manage(403),
  'DELETE /api/operator/accounts/:id': manage(403),
  'POST /api/dead/:id/replay': change(404),
  'DELETE /api/dead/:id': change(404),
  'GET /api/watches': manage(200),
  'POST /api/watches': manage(422),
  'POST /api/watches/preview': manage(422),
  'GET /api/watches/:id': manage(404),
  'PATCH /api/watches/:id': manage(422),
  'DELETE /api/watches/:id': manage(404),
  'POST /api/watches/:id/badge': manage(404),
  'DELETE /api/watches/:id/badge': manage(404),
  'GET /api/channels': manage(200),
  'POST /api/channels': manage(422),
  'GET /api/channels/confirm': everybody(404),
  'POST /api/channels/confirm': everybody(404),
  'GET /api/channels/unsubscribe': everybody(404),
  'POST /api/channels/unsubscribe': everybody(404),
  'GET /api/channels/:id': manage(404),
  'PATCH /api/channels/:id': manage(422),
  'DELETE /api/channels/:id': manage(404),
  'POST /api/channels/:id/test': manage(404),
  'POST /api/channels/:id/secret': manage(404),
  'GET /api/maintenance': manage(200),
  'POST /api/maintenance': manage(422),
  'GET /api/maintenance/:id': manage(404),
  'PATCH /api/maintenance/:id': manage(422),
  'DELETE /api/maintenance/:id': manage(404),
  'GET /api/changes': read(200),
  'GET /api/alerts': manage(200),
  'GET /api/alerts/:id': read(404),
  'POST /api/alerts/:id/dismiss': manage(404),
  'POST /api/alerts/:id/resolve': manage(404),
  'POST /api/alerts/:id/ack': manage(404),
  'DELETE /api/alerts/:id/ack': manage(404),
  'GET /badge/:name': everybody(404),
  'GET /api/sign-up': everybody(200),
  'POST /api/accounts': everybody(422),
  'POST /api/accounts/confirm': everybody(422),
  'POST /api/address/confirm': everybody(422),
  'POST /api/address/confirmation': session(404),
  'GET /api/dispute': session(404),
  'POST /api/dispute': session(422),
  'POST /api/session': everybody(422),
  'GET /auth/oidc': everybody(404),
  'GET /auth/oidc/callback': everybody(404),
  'POST /api/password': session(422),
  'POST /api/password/forgot': everybody(422),
  'POST /api/password/reset': everybody(422),
  'POST /api/keys': manage(422),
  // The id is that of a key or session of the owner's: another's session does not find it.
  'GET /api/keys': manage(200),
  'POST /api/keys/:id/rotate': manage(422),
  'GET /api/sessions': session(200),
  'DELETE /api/sessions/:id': session(204, 404),
  'DELETE /api/keys/:id': manage(204, 404),
  'GET /api/session': everybody(200),
  'POST /api/session/account': session(422),
  'PATCH /api/account': session(422),
  'GET /api/members': session(200),
  'PATCH /api/members/:id': session(422),
  'DELETE /api/members/:id': session(404),
  'POST /api/invitations': session(422),
  'DELETE /api/invitations/:id': session(404),
  'POST /api/invitations/look': everybody(422),
  'POST /api/invitations/accept': everybody(422),
  'POST /api/keys/:id/take': session(200, 404),
  'GET /api/audit': session(200),
  'GET /livez': everybody(200),
  'GET /readyz': everybody(200),
  'GET /metrics': everybody(200),
  'GET /': everybody(200),
  'GET /console/:name': everybody(404),
  'GET /clients': everybody(200),
  'GET /clients/recipes': everybody(200),
  'GET /clients/stint.d.mts': everybody(200),
  'GET /clients/stint.d.ts': everybody(200),
  'GET /clients/stint.js': everybody(200),
  'GET /clients/stint.mjs': everybody(200),
  'GET /clients/stint.py': everybody(200),
  'GET /clients/stint.sh': everybody(200),
  'GET /swagger': everybody(200),
  'GET /swagger/*': everybody(308),
  'GET /swagger/json': everybody(200),
  'GET /swagger/assets/page.js': everybody(200),
  'GET /swagger/assets/swagger-ui-bundle.js': everybody(200),
  'GET /swagger/assets/swagger-ui.css': everybody(200),
  // Last: nothing is left to ask with.
  'DELETE /api/sessions': session(204),
  'DELETE /api/session': session(204),
  'DELETE /api/account': session(422),
}

/** Which id is put for `:id`, of the account that the session is of. */
const idOf = (route: string, person: Person) =>
  route.includes('/api/keys/') ? person.keyId : route.includes('/api/sessions/') ? person.sessionId : '1'

interface Person {
  cookie: string
  keyId: string
  sessionId: string
  secret: string
  bySession: ApiCaller
}

const app = await useApp({ signup: 'open' })
let credentials: Record<CallerName, Record<string, string>>
let shared: Person
/** Routes that end a session, a key or an account. */
const TAKES = /^DELETE \/api\/(session|account|keys|sessions)|\/api\/keys\/:id/

let people = 0
/** A new account with a session, and a key and another session to lose. */
async function join(): Promise<Person> {
  const email = `p${++people}@example.com`
  const { cookie, secret, bySession } = await signUpAt(app.url, email)
  const spare = await bySession.post('/api/keys', { name: 'spare' })
  await signInAt(app.url, email)
  const { sessions } = (await bySession.get('/api/sessions')).json
  const sessionId = sessions.find((one: { current: boolean }) => !one.current).id
  return { cookie, secret, bySession, keyId: spare.json.key.id, sessionId }
}

beforeAll(async () => {
  shared = await join()
  const stranger = await join()
  const rotating = await join()
  const { keys } = (await rotating.bySession.get('/api/keys')).json
  const first = keys.find((one: { name: string }) => one.name === 'first key')
  await rotating.bySession.post(`/api/keys/${first.id}/rotate`, {})
  const gone = await join()
  await gone.bySession.delete('/api/session')
  credentials = {
    nobody: {},
    owner: key(app.keys.owner),
    writer: key(app.keys.writer),
    reader: key(app.keys.reader),
    revoked: key(app.keys.revoked),
    rotated: key(rotating.secret),
    stranger: key(stranger.secret),
    garbage: key('stint_garbage'),
    session: {},
    'strangers session': { cookie: stranger.cookie },
    'ended session': { cookie: gone.cookie },
  }
})

/** What browsers must be told with every answer. */
function assertHeaders(path: string, headers: Headers): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.has('strict-transport-security')).toBe(false)
  expect(headers.has('access-control-allow-origin')).toBe(false)
  expect(headers.has('server')).toBe(false)
  if (/^\/(api|v1)\//.test(path) || headers.get('content-type') === 'application/problem+json')
    expect(headers.get('cache-control')).toBe('no-store')
  if (headers.get('content-type')?.startsWith('text/html')) {
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
}

test('the table of routes matches the router', () => {
  const routes = app.routes.map(({ method, path }) => `${method} ${path}`)
  expect([...routes].sort()).toEqual(Object.keys(EXPECTED).sort())
})

describe.each(Object.entries(EXPECTED))('%s', (route, expectation) => {
  test('answers each kind of caller with the expected status and headers', async () => {
    const [method, pattern] = route.split(' ') as [string, string]
    const owner = TAKES.test(route) ? await join() : shared // what a route takes away is this route's own
    const as = { ...credentials, session: { cookie: owner.cookie } }
    const path = pattern.replace(':id', idOf(route, owner)).replace(':name', 'none.js').replace('/*', '/')
    // Permitted callers may delete what the others ask for, so they come last.
    const order = [...CALLERS].sort(
      (a, b) =>
        Number(a.includes('session')) - Number(b.includes('session')) ||
        Number(a === 'session') - Number(b === 'session'),
    )
    const found: Record<string, number> = {}
    for (const name of order) {
      if (name === 'strangers session' && /^DELETE \/api\/(session|account)$/.test(route)) {
        const { cookie } = await join()
        as['strangers session'] = { cookie }
      }
      const answer = await app.fetch(path, {
        method,
        headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', ...as[name] },
        ...((method === 'POST' || method === 'PATCH') && { body: '{"no such field":1}' }),
      })
      found[name] = answer.status
      assertHeaders(path, answer.headers)
    }
    expect(found).toEqual(expectation)
  })

  test('refuses other methods, with the headers', async () => {
    const [, pattern] = route.split(' ') as [string, string]
    const path = pattern.replace(':id', '1').replace(':name', 'none.js').replace('/*', '/')
    const isServed = (method: string) => app.routes.some((it) => it.method === method && it.path === pattern)
    const served = app.routes.filter((it) => it.path === pattern).map((it) => it.method)
    const allowed = [...new Set(served.includes('GET') ? [...served, 'HEAD'] : served)].sort().join(', ')
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      // A path with a name in it may be another route's too: /api/channels/confirm is no channel.
      if (isServed(method) || (method === 'PATCH' && NAMED.test(pattern))) continue
      const answer = await app.fetch(path, { method, headers: credentials.owner })
      expect([route, method, answer.status]).toEqual([route, method, 405])
      expect([route, answer.headers.get('allow')]).toEqual([route, allowed])
      assertHeaders(path, answer.headers)
    }
  })
})

const NAMED = /^\/api\/(channels\/(confirm|unsubscribe)|watches\/preview)$/

const CROSS_SITE: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', origin: app.url },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1:1' },
]

test('no session acts for a request of another site or with a foreign host name, whatever the route', async () => {
  const { cookie } = await join()
  const evil = `evil.example:${new URL(app.url).port}` // the cookie is of this port
  const { paths } = (await app.fetch('/swagger/json')).json as {
    paths: Record<string, Record<string, { security: object[] }>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.some((one) => 'session' in one))
      .map(([method]) => [method.toUpperCase(), path.replace(/\{\w+\}/, '1')] as const),
  )
  expect(routes.length).toBeGreaterThan(30)
  const strangers = [['POST', '/api/accounts'] as const, ['POST', '/api/session'] as const]
  for (const [method, path] of [...routes, ...strangers]) {
    for (const foreign of [{ host: evil }, ...(method === 'GET' ? [] : CROSS_SITE)]) {
      const headers = { cookie, 'content-type': 'application/json', ...foreign } as Record<string, string>
      const answer = await app.fetch(path, { method, headers, ...(method !== 'GET' && { body: '{}' }) })
      expect([method, path, foreign, answer.json?.code]).toEqual([method, path, foreign, 'cross_site'])
    }
  }
  const keyed = await app.fetch('/api/timings', { headers: { cookie, host: evil, ...credentials.owner } })
  expect(keyed.status).toBe(200)
})

test('headers do not leak from one answer to the next', async () => {
  const refused = await app.fetch('/v1/start', { method: 'GET', key: app.keys.owner })
  expect(refused.headers.get('allow')).toBe('POST')
  const unknown = await app.fetch('/api/none')
  expect([unknown.status, unknown.headers.get('allow'), unknown.headers.get('www-authenticate')]).toEqual([
    404,
    null,
    null,
  ])
  await join()
  expect((await app.fetch('/api/sign-up')).headers.get('set-cookie')).toBeNull()
})

test.each([
  '/',
  '/v1',
  '/v1/none',
  '/api',
  '/api/none',
  '/none',
  '/%00',
  '/..%2f',
  '/v1/start/',
  '//v1/start',
  '/swagger/none',
])('an unknown path such as %s has the headers, too', async (path) =>
  assertHeaders(path, (await app.fetch(path)).headers),
)
