import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ADA, BOB } from '../../account/accounts-cast.ts'
import { startApp } from '../../support/app.ts'
import { type Answer, faultsOf, signInAt } from '../../support/caller.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { serveAccounts } from './serve-accounts.ts'

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
})

function serve(options: Parameters<typeof serveAccounts>[0] = {}) {
  const server = serveAccounts(options)
  stops.push(server.stop)
  return server
}

const isCurrent = ({ current }: { current: boolean }) => current
type Member = Awaited<ReturnType<ReturnType<typeof serveAccounts>['signUp']>>

const code = ({ status, json }: Pick<Answer, 'status' | 'json'>) => `${status} ${json.code}`

describe('POST /api/accounts', () => {
  test('gives the account, its key and a session', async () => {
    const { call, accounts } = serve()
    const made = await call('POST', '/api/accounts', { email: 'Ada@example.com', password: ADA.password })
    expect(made.status).toBe(201)
    expect(made.headers.get('content-type')).toBe('application/json')
    expect(made.headers.get('cache-control')).toBe('no-store')
    const { account, key } = made.json
    expect(made.json).toEqual({
      account: {
        id: expect.stringMatching(/^acc_[0-9a-z]{16}$/),
        email: 'ada@example.com',
        name: 'ada@example.com',
        created_at: '2026-11-20T00:00:00.000Z',
        operator: true,
      },
      key: {
        id: expect.stringMatching(/^key_/),
        name: 'first key',
        prefix: key.secret.slice(0, 12),
        scopes: ['write', 'read'],
        secret: expect.stringMatching(/^stint_[0-9A-Za-z]{42}$/),
      },
    })
    expect(accounts.findKey(key.secret)?.account).toBe(account.id)
    const me = await call('GET', '/api/session', undefined, { cookie: made.cookie })
    expect(me.json).toEqual({
      signed_in: true,
      sign_up: expect.objectContaining({ open: expect.any(Boolean), provider: null }),
      account,
      person: { id: expect.stringMatching(/^per_\w{16}$/), email: ADA.email, password: true, unconfirmed: false },
      role: 'owner',
      disputed: false,
      suspended: false,
      accounts: [{ id: account.id, name: ADA.email, role: 'owner' }],
    })
  })

  test.each<[string, unknown, string[]]>([
    ['no field', {}, ['/email']],
    ['no password', { email: ADA.email }, ['/password']],
    ['an unknown field', { email: ADA.email, password: ADA.password, pasword: 'x' }, ['/pasword']],
    ['everything at once', { email: 1, password: null, 'a/b~c': 1 }, ['/email', '/password', '/a~1b~0c']],
    ['no address', { email: 'ada', password: ADA.password }, ['/email']],
    ['a short password', { email: ADA.email, password: '1234567' }, ['/password']],
    ['a long password', { email: ADA.email, password: 'x'.repeat(1025) }, ['/password']],
    ['two faulty values', { email: 'nobody', password: 'short' }, ['/password', '/email']],
    ['a code of the wrong type', { email: ADA.email, password: ADA.password, setup_code: 5 }, ['/setup_code']],
    ['null for a code', { email: ADA.email, password: ADA.password, setup_code: null }, ['/setup_code']],
    ['a list', [], ['']],
    ['a string', '"x"', ['']],
    ['null', 'null', ['']],
  ])('refuses %s', async (_, body, where) => {
    const answer = await serve().call('POST', '/api/accounts', body)
    expect(faultsOf(answer)).toEqual([422, 'fields_invalid', ...where])
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  test('accepts a password of 1024 characters beyond the BMP', async () => {
    const { call } = serve()
    const body = { email: ADA.email, password: `${'\u{1f600}'.repeat(1023)}!` }
    expect((await call('POST', '/api/accounts', body)).status).toBe(201)
    expect((await call('POST', '/api/session', body)).status).toBe(201)
  })

  test('takes the setup code, and reports a wrong one', async () => {
    const { call, accounts } = serve({ setupCodeRequired: true })
    const signUp = async (setup_code?: string) =>
      code(await call('POST', '/api/accounts', { email: ADA.email, password: ADA.password, setup_code }))
    expect([await signUp(), await signUp('guess')]).toEqual(['403 setup_code_invalid', '403 setup_code_invalid'])
    expect(await signUp(accounts.setupCode())).toBe('201 undefined')
  })

  test('GET /api/sign-up reports whether sign-up is open', async () => {
    const { call, accounts } = serve({ signup: 'first', setupCodeRequired: true, setupCode: 'sesame' })
    const state = async (cookie = '') => {
      const { passwords, provider, ...rest } = (await call('GET', '/api/sign-up', undefined, { cookie }))
        .json as unknown as Record<string, unknown>
      expect([passwords, provider]).toEqual([true, null])
      return rest
    }
    expect(await state()).toEqual({ by_link: false, open: true, setup_code_required: true, signed_in: false })
    expect((await call('GET', '/auth/oidc')).status).toBe(404)
    const made = await accounts.create({ ...ADA, setupCode: 'sesame' })
    const cookie = `stint_session=${await accounts.sessions.create({ ...made.seat, userAgent: '' })}`
    expect(await state()).toEqual({ by_link: false, open: false, setup_code_required: false, signed_in: false })
    expect(await state(cookie)).toEqual({ by_link: false, open: false, setup_code_required: false, signed_in: true })
  })
})

describe('a body', () => {
  const { call } = serve()
  const good = JSON.stringify({ email: 'x@example.com', password: 'wrong password' })
  const send = (body: string, headers: Record<string, string>) => call('POST', '/api/session', body, headers)

  test.each<[string, string, string, string]>([
    ['text/plain', good, 'text/plain', '422 content_type_unsupported'],
    ['a form', 'email=x&password=y', 'application/x-www-form-urlencoded', '422 content_type_unsupported'],
    ['another +json', good, 'application/problem+json', '422 content_type_unsupported'],
    ['another charset', good, 'application/json; charset=utf-16', '422 content_type_unsupported'],
    ['a charset', good, 'Application/JSON; charset="UTF-8"', '401 credentials_invalid'],
    ['broken JSON', '{"email":', 'application/json', '422 json_malformed'],
    ['nothing', '', 'application/json', '422 json_malformed'],
    ['too much', good.replace('wrong', 'w'.repeat(20_000)), 'application/json', '413 body_too_large'],
  ])('of %s', async (_, body, type, expected) => {
    expect(code(await send(body, { 'content-type': type }))).toBe(expected)
  })

  test('without a length is counted while it arrives', async () => {
    const { url } = serve()
    const chunks = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(4096)))
        await Bun.sleep(0)
      },
    })
    const answer = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chunks,
    }).catch(() => undefined)
    // Either the answer or a cut connection: never an endless read.
    expect([413, undefined]).toContain(answer?.status)
  })
})

describe('sessions', () => {
  const { call, as, signUp, from } = serve()
  let ada: Member
  let bob: Member
  let n = 0
  beforeEach(async () => {
    n++
    from(`192.0.2.${n}`)
    ada = await signUp({ ...ADA, email: `ada${n}@example.com` })
    bob = await signUp({ ...BOB, email: `bob${n}@example.com` })
  })
  const signIn = (email: string, password: string, cookie = '') =>
    call('POST', '/api/session', { email, password }, { cookie })

  test('sign-in sets an HttpOnly, SameSite cookie', async () => {
    const answer = await signIn(`ADA${n}@example.com`, ADA.password)
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({ account: ada.account, role: 'owner' })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^stint_session_\d+=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    )
    expect(answer.cookie).not.toBe(ada.cookie)
  })

  test('the cookie is Secure behind TLS', async () => {
    const { signUp, call } = serve({ secure: true })
    const { cookie } = await signUp(ADA)
    const answer = await call('POST', '/api/session', { email: ADA.email, password: ADA.password })
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-stint_session=\w{43}; Path=\/; .*; Secure$/)
    expect(answer.headers.get('set-cookie')).not.toContain('Domain')
    expect((await call('DELETE', '/api/session', undefined, { cookie })).headers.get('set-cookie')).toEndWith(
      '; Secure',
    )
  })

  test('behind TLS only the __Host- cookie counts', async () => {
    const { signUp, call } = serve({ secure: true })
    const { cookie, account } = await signUp(ADA)
    const plain = cookie.replace('__Host-', '')
    const ask = (cookie: string) => call('GET', '/api/session', undefined, { cookie })
    expect((await ask(`stint_session=planted; ${cookie}`)).json.account).toEqual(account)
    for (const planted of [plain, plain.replace('=', '_443='), `${plain}; __Host-stint_session=ended`])
      expect((await ask(planted)).json).toEqual({ signed_in: false, sign_up: expect.anything() })
  })

  test('two Stints on one host have cookies of their own, and a session of before 2.1 goes on', async () => {
    const token = ada.cookie.split('=')[1]
    const ask = (cookie: string, host: string) => call('GET', '/api/sessions', undefined, { cookie, host })
    const both = `stint_session_7070=${token}; stint_session_7071=another; stint_session=third`
    expect((await ask(both, 'localhost:7070')).status).toBe(200)
    expect(code(await ask(both, 'localhost:7071'))).toBe('401 session_invalid')
    expect((await ask(`stint_session=${token}; stint_session_7071=another`, 'localhost')).status).toBe(200)
    expect((await ask(`stint_session_80=${token}`, 'localhost')).status).toBe(200)
  })

  test('audits actions on accounts and keys, without secrets', async () => {
    const { signUp, as, call, audits } = serve()
    const me = await signUp(ADA)
    const account = me.account.id
    await call('POST', '/api/session', { email: ADA.email, password: 'guess one' })
    await call('POST', '/api/session', { email: ADA.email, password: ADA.password })
    const { key } = (await as(me, 'POST', '/api/keys', { name: 'x' })).json
    const rotated = (await as(me, 'POST', `/api/keys/${key.id}/rotate`)).json.key
    await as(me, 'DELETE', `/api/keys/${rotated.id}`)
    await as(me, 'POST', '/api/password', { current_password: ADA.password, new_password: 'another one of mine' })
    await as(me, 'DELETE', '/api/account', { id: account, password: 'guess two' })
    await as(me, 'DELETE', '/api/account', { id: account, password: 'another one of mine' })
    const by = { account, actor: ADA.email, address: '192.0.2.1' }
    expect(audits).toEqual([
      ['account_created', by],
      ['sign_in_failed', by],
      ['signed_in', by],
      ['key_created', { ...by, target: key.id, detail: 'x' }],
      ['key_rotated', { ...by, target: key.id, detail: rotated.id }],
      ['key_revoked', { ...by, target: rotated.id, detail: 'x' }],
      ['password_changed', by],
      ['sign_in_failed', by],
      ['account_deleted', by],
    ])
  })

  test('signing in again ends the session that was sent', async () => {
    const answer = await signIn(`ada${n}@example.com`, ADA.password, ada.cookie)
    expect(code(await as(ada, 'GET', '/api/sessions'))).toBe('401 session_invalid')
    expect((await as(answer, 'GET', '/api/session')).status).toBe(200)
  })

  test('signing out ends it on the server, and clears the cookie', async () => {
    const answer = await as(ada, 'DELETE', '/api/session')
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^stint_session_\d+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/,
    )
    expect(code(await as(ada, 'GET', '/api/sessions'))).toBe('401 session_invalid')
    expect(code(await as(ada, 'DELETE', '/api/session'))).toBe('401 session_invalid')
  })

  test('are listed with the current one marked, and can be ended', async () => {
    const phone = await signIn(`ada${n}@example.com`, ADA.password)
    const { json } = await as(phone, 'GET', '/api/sessions')
    expect(json.sessions).toHaveLength(2)
    expect(json.sessions.filter(isCurrent)).toHaveLength(1)
    const other = json.sessions.find((one: { current: boolean }) => !isCurrent(one))
    expect(other).toEqual({
      id: expect.stringMatching(/^ses_/),
      current: false,
      user_agent: expect.stringContaining('Bun'),
      created_at: '2026-11-20T00:00:00.000Z',
      last_seen_at: '2026-11-20T00:00:00.000Z',
      expires_at: '2026-11-27T00:00:00.000Z',
    })
    expect(code(await as(bob, 'DELETE', `/api/sessions/${other!.id}`))).toBe('404 not_found')
    expect((await as(phone, 'DELETE', `/api/sessions/${other!.id}`)).status).toBe(204)
    expect(code(await as(ada, 'GET', '/api/sessions'))).toBe('401 session_invalid')
    expect((await as(phone, 'GET', '/api/session')).status).toBe(200)
  })

  test('end everywhere at once', async () => {
    const phone = await signIn(`ada${n}@example.com`, ADA.password)
    const answer = await as(phone, 'DELETE', '/api/sessions')
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    for (const session of [phone, ada])
      expect(code(await as(session, 'GET', '/api/sessions'))).toBe('401 session_invalid')
    expect((await as(bob, 'GET', '/api/sessions')).status).toBe(200)
  })

  test('end with their account, as do its keys, and its data is erased', async () => {
    const { deleted, signUp, as, accounts } = serve()
    const me = await signUp(ADA)
    const { id } = me.account
    for (const body of [{ id }, { id, password: '' }, { id, password: 'wrong' }])
      expect(code(await as(me, 'DELETE', '/api/account', body))).toBe('403 password_wrong')
    for (const body of [{}, { password: ADA.password }, { id, password: 5 }])
      expect(code(await as(me, 'DELETE', '/api/account', body))).toBe('422 fields_invalid')
    const other = { id: 'acc_0000000000000000', password: ADA.password }
    expect(code(await as(me, 'DELETE', '/api/account', other))).toBe('409 account_changed')
    expect(deleted).toEqual([])
    expect((await as(me, 'DELETE', '/api/account', { id, password: ADA.password })).status).toBe(204)
    expect(deleted).toEqual([me.account.id])
    expect(accounts.findKey(me.key.secret)).toBeUndefined()
    expect(code(await as(me, 'GET', '/api/sessions'))).toBe('401 session_invalid')
    await signUp(ADA)
  })

  test.each(['x', '', 'stint_session=', 'stint_session=x', 'xstint_session=COOKIE', 'stint_session=COOKIE!', 'a=b; c'])(
    'the cookie %s is not a session',
    async (cookie) => {
      const token = ada.cookie.split('=')[1]!
      const answer = await call('GET', '/api/sessions', undefined, { cookie: cookie.replace('COOKIE', token) })
      expect(code(answer)).toBe('401 session_invalid')
    },
  )

  test('the cookie is found among others', async () => {
    const cookie = `a=b; ${ada.cookie}; stint_sessions=x`
    expect((await call('GET', '/api/session', undefined, { cookie })).status).toBe(200)
  })
})

describe('keys', () => {
  const { as, signUp, accounts } = serve()
  let ada: Member
  let n = 0
  beforeEach(async () => {
    n++
    ada = await signUp({ ...ADA, email: `ada${n}@example.com` })
  })

  test('are created with a name and scopes, listed without secret, revoked immediately', async () => {
    const made = await as(ada, 'POST', '/api/keys', { name: ' reader ', scopes: ['read'] })
    expect(made.status).toBe(201)
    const { key } = made.json
    expect(key).toEqual({
      id: expect.any(String),
      name: 'reader',
      prefix: key.secret.slice(0, 12),
      scopes: ['read'],
      secret: expect.any(String),
    })
    expect(accounts.findKey(key.secret)).toMatchObject({ read: true, write: false })
    const { json } = await as(ada, 'GET', '/api/keys')
    expect(json.keys.map((one: { name: string }) => one.name)).toEqual(['reader', 'first key'])
    expect(json.keys[0]).toEqual({
      id: key.id,
      name: 'reader',
      prefix: key.prefix,
      scopes: ['read'],
      created_at: '2026-11-20T00:00:00.000Z',
      last_used_at: '2026-11-20T00:00:00.000Z',
      expires_at: null,
      revoked_at: null,
      creator: { id: expect.stringMatching(/^per_/), email: `ada${n}@example.com` },
    })
    expect((await as(ada, 'DELETE', `/api/keys/${key.id}`)).status).toBe(204)
    expect(accounts.findKey(key.secret)).toBeUndefined()
    expect((await as(ada, 'GET', '/api/keys')).json.keys[0]!.revoked_at).toBe('2026-11-20T00:00:00.000Z')
  })

  test('have only the scope write by default', async () => {
    expect((await as(ada, 'POST', '/api/keys', { name: 'x' })).json.key.scopes).toEqual(['write'])
    const both = await as(ada, 'POST', '/api/keys', { name: 'x', scopes: ['read', 'write'] })
    expect(both.json.key.scopes).toEqual(['write', 'read'])
  })

  test.each<[unknown, string[]]>([
    [{}, ['/name']],
    [{ name: '' }, ['/name']],
    [{ name: '  ' }, ['/name']],
    [{ name: 'x'.repeat(101) }, ['/name']],
    [{ name: 'a\nb' }, ['/name']],
    [{ name: 5, scopes: [] }, ['/name', '/scopes']],
    [{ name: 'x', scopes: ['admin'] }, ['/scopes/0']],
    [{ name: 'x', scopes: ['read', 'read'] }, ['/scopes']],
    [{ name: 'x', scopes: 'read' }, ['/scopes']],
    [{ name: 'x', scopes: null }, ['/scopes']],
    [{ name: 'x', scope: ['read'] }, ['/scope']],
  ])('are not created from %j', async (body, where) => {
    const answer = await as(ada, 'POST', '/api/keys', body)
    expect(faultsOf(answer)).toEqual([422, 'fields_invalid', ...where])
  })

  test.each([-1, 1.5, '60', null, 30 * 86_400 + 1, 1e300])('do not overlap by %j seconds', async (overlap_seconds) => {
    const answer = await as(ada, 'POST', `/api/keys/${ada.key.id}/rotate`, { overlap_seconds })
    expect(faultsOf(answer)).toEqual([422, 'fields_invalid', '/overlap_seconds'])
  })
})

describe('requests of other sites', () => {
  const { call, signUp, url } = serve()
  let me: Member
  beforeEach(async () => {
    me ??= await signUp(ADA)
  })

  test('accepts own pages and clients other than browsers', async () => {
    const own: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin', origin: url },
      { 'sec-fetch-site': 'none' },
      { origin: url },
      {},
    ]
    const { cookie } = me
    for (const headers of own)
      expect((await call('POST', '/api/keys', { name: 'x' }, { cookie, ...headers })).status).toBe(201)
    const read = await call('GET', '/api/keys', undefined, { cookie, 'sec-fetch-site': 'cross-site' })
    expect(read.status).toBe(200)
  })

  test('recognises own pages by Host, also behind a proxy that terminates TLS', async () => {
    const head = `DELETE /api/sessions/none HTTP/1.1\r\nHost: stint.example\r\nOrigin: https://stint.example\r\n`
    const answer = await sendRaw(
      Number(new URL(url).port),
      `${head}Cookie: ${me.cookie.replace(/_\d+/, '_80')}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.status).toBe(404)
  })
})

test('a session reads data and manages keys, but sends no events', async () => {
  await using app = await startApp()
  const session = await signInAt(app.url)
  expect((await session.get('/api/processes')).status).toBe(200)
  expect((await session.get('/api/keys')).json.keys).toHaveLength(4)
  expect((await app.fetch('/api/keys', { key: app.keys.owner })).json.code).toBe('scope_missing')
  expect((await session.post('/v1/start', { process: 'p' })).json.code).toBe('key_invalid')
  expect((await session.post('/api/keys', { name: '' })).json).toMatchObject({
    code: 'fields_invalid',
    errors: [{ pointer: '/name' }],
  })
  expect((await session.delete('/api/session')).status).toBe(204)
  expect((await session.get('/api/processes')).status).toBe(401)
})
