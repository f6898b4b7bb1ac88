// The operator's accounts over HTTP: who may, what a suspended account still can, and what every door answers.
import { beforeAll, describe, expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'
import { type Answer, type ApiCaller, createCaller, PASSWORD, signInAt, signUpAt } from '../../support/caller.ts'
import { enter, join } from '../../support/people.ts'

type SignedUp = Awaited<ReturnType<typeof signUpAt>>

const app = await useApp({ signup: 'open' })
const operator = await signInAt(app.url)
const bob = await signUpAt(app.url, 'bob@example.com')

const code = ({ status, json }: Answer) => `${status} ${json?.code ?? ''}`.trim()
const deleteAs = (caller: ApiCaller, path: string, body?: object) => caller.call('DELETE', path, body)
const suspend = (id: string, by = operator) => by.post(`/api/operator/accounts/${id}/suspend`, undefined)
const resume = (id: string, by = operator) => by.post(`/api/operator/accounts/${id}/resume`, undefined)
const actionsOf = async (caller: ApiCaller) =>
  ((await caller.get('/api/audit')).json.entries as { action: string; target: string; detail: string }[]).map(
    ({ action, target, detail }) => [action, target, detail],
  )

describe('no key and no other session has the powers of the operator', () => {
  const ROUTES = (id: string) => [
    ['GET', '/api/operator/accounts'],
    ['POST', `/api/operator/accounts/${id}/suspend`],
    ['POST', `/api/operator/accounts/${id}/resume`],
    ['DELETE', `/api/operator/accounts/${id}`, { id }],
  ]
  async function refusalsOf(caller: ApiCaller): Promise<string[]> {
    const answers: string[] = []
    for (const [method, path, body] of ROUTES(bob.account))
      answers.push(code(await caller.call(method as string, path as string, body)))
    return [...new Set(answers)]
  }

  test('an owner of another account', async () =>
    expect(await refusalsOf(bob.bySession)).toEqual(['403 operator_only']))
  test.each(['viewer', 'member'] as const)('a %s of the operator’s account', async (role) => {
    const cookie = await enter(app, await join(app, role))
    expect(await refusalsOf(createCaller(app.url, { cookie }))).toEqual(['403 role_missing'])
  })
  test('a key of the operator that may manage', async () => {
    const { key } = (await operator.post('/api/keys', { name: 'k', scopes: ['read', 'write', 'manage'] })).json
    expect(await refusalsOf(createCaller(app.url, { key: key.secret }))).toEqual(['403 operator_only'])
  })
  test('nobody', async () => expect(await refusalsOf(createCaller(app.url))).toEqual(['401 session_invalid']))
  test('another site', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const answer = await operator.call('POST', `/api/operator/accounts/${bob.account}/suspend`, undefined, headers)
    expect(code(answer)).toBe('403 cross_site')
    expect((await bob.byKey.get('/api/timings')).status).toBe(200)
  })
})

test('the list has the figures of an account, pages by a cursor, and refuses what it does not know', async () => {
  const eve = await signUpAt(app.url, 'eve@example.com')
  await eve.byKey.post('/v1/start', { process: 'p' })
  await eve.byKey.post('/v1/exception', { process: 'p', exception: 'boom' })
  const found = (await operator.get('/api/operator/accounts?q=EVE')).json
  expect(found).toMatchObject({ found: 1, total: 3, suspended: 0, next: null })
  expect(found.accounts).toEqual([
    {
      ...{ id: eve.account, name: 'eve@example.com', email: 'eve@example.com', created_at: expect.any(String) },
      ...{ operator: false, suspended_at: null, seen_at: expect.any(String) },
      ...{ bytes: expect.any(Number), events: 2, exceptions: 1, emails: 0 },
    },
  ])
  expect(found.accounts[0].bytes).toBeGreaterThan(60)
  const first = (await operator.get('/api/operator/accounts?sort=events&limit=1')).json
  expect(first.accounts[0].id).toBe(eve.account)
  const rest = (await operator.get(`/api/operator/accounts?sort=events&limit=2&cursor=${first.next}`)).json
  expect(rest.accounts).toHaveLength(2)
  expect(rest.next).toBeNull()
  for (const wrong of ['sort=name', 'cursor=1', 'limit=0', 'state=all', 'what=1'])
    expect(code(await operator.get(`/api/operator/accounts?${wrong}`))).toBe('422 question_invalid')
  expect(await deleteAs(operator, `/api/operator/accounts/${eve.account}`, { id: eve.account })).toMatchObject({
    status: 204,
  })
})

describe('a suspended account', () => {
  let cy: SignedUp
  let keys: Record<'manage' | 'ping', string>
  beforeAll(async () => {
    cy = await signUpAt(app.url, 'cy@example.com')
    const create = async (scope: string) =>
      (await cy.bySession.post('/api/keys', { name: scope, scopes: [scope] })).json.key.secret
    keys = { manage: await create('manage'), ping: await create('ping') }
    const watch = { name: 'nightly', process: 'nightly', late: { every: '1h' }, channels: [] }
    expect((await cy.bySession.post('/api/watches', watch)).text).toContain('nightly')
    await cy.byKey.post('/v1/start', { process: 'before' })
    const suspended = await suspend(cy.account)
    expect([suspended.status, suspended.json.account]).toEqual([
      200,
      expect.objectContaining({ id: cy.account, suspended_at: expect.any(String) }),
    ])
  })

  test('is answered 403 by every door that a key opens', async () => {
    const doors = [
      await cy.byKey.post('/v1/start', { process: 'p' }),
      await cy.byKey.post('/v1/batch', [{ kind: 'start', process: 'p' }]),
      await cy.byKey.post('/otlp/v1/traces', {}),
      await cy.byKey.get('/api/timings'),
      await cy.byKey.get('/api/overview'),
      await createCaller(app.url, { key: keys.manage }).get('/api/watches'),
      await createCaller(app.url, { key: keys.manage }).post('/api/keys', { name: 'n', scopes: ['manage'] }),
      await createCaller(app.url).get(`/ping/${keys.ping}/nightly`),
    ]
    expect([...new Set(doors.map(code))]).toEqual(['403 account_suspended'])
    expect(await app.refused()).toContain('start account_suspended')
    expect((await bob.byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
  })

  test('can be read and exported by its people, who sign in as ever, and changes nothing', async () => {
    const me = await signInAt(app.url, 'cy@example.com')
    const session = await me.get('/api/session')
    expect(session.json).toMatchObject({ signed_in: true, suspended: true })
    for (const path of [
      '/api/exceptions',
      '/api/timings',
      '/api/exceptions/export',
      '/api/keys',
      '/api/members',
      '/api/audit',
    ])
      expect((await me.get(path)).status).toBe(200)
    const { watches } = (await me.get('/api/watches')).json
    expect(watches).toMatchObject([{ name: 'nightly', state: 'unknown' }])
    expect((await me.get('/api/alerts')).json.unjudged).toEqual([
      expect.objectContaining({ condition: null, reason: 'The operator suspended the account' }),
    ])
    const changes = [
      await me.post('/api/keys', { name: 'n', scopes: ['write'] }),
      await me.post('/api/invitations', { email: 'dan@example.com', role: 'owner' }),
      await me.post('/api/channels', { name: 'c', kind: 'webhook', url: 'https://example.com/hook' }),
      await deleteAs(me, `/api/watches/${watches[0].id}`),
      await me.patch('/api/account', { name: 'n' }),
    ]
    expect([...new Set(changes.map(code))]).toEqual(['403 account_suspended'])
    const changed = { current_password: PASSWORD, new_password: 'another long password' }
    expect((await me.post('/api/password', changed)).status).toBe(204)
    expect((await deleteAs(me, '/api/session')).status).toBe(204)
  })

  test('works again once it is resumed, and both are in the operator’s audit log', async () => {
    expect((await resume(cy.account)).json.account).toMatchObject({ id: cy.account, suspended_at: null })
    expect((await cy.byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    const me = await signInAt(app.url, 'cy@example.com', 'another long password')
    expect((await me.get('/api/watches')).json.watches).toMatchObject([{ state: 'ok' }])
    const [resumed, suspended] = await actionsOf(operator)
    expect([resumed, suspended]).toEqual([
      ['account_resumed', cy.account, 'cy@example.com'],
      ['account_suspended', cy.account, 'cy@example.com'],
    ])
  })
})

test('a suspended account can be deleted by its owner', async () => {
  const fay = await signUpAt(app.url, 'fay@example.com')
  await suspend(fay.account)
  const body = { id: fay.account, password: PASSWORD }
  expect((await deleteAs(fay.bySession, '/api/account', body)).status).toBe(204)
})

test('the operator’s own account is neither suspended nor deleted, and an unknown one is not found', async () => {
  expect(code(await suspend(app.account))).toBe('409 operator_needed')
  expect(code(await deleteAs(operator, `/api/operator/accounts/${app.account}`, { id: app.account }))).toBe(
    '409 operator_needed',
  )
  const none = 'acc_0000000000000000'
  for (const answer of [await suspend(none), await resume(none)]) expect(code(answer)).toBe('404 not_found')
  expect(code(await deleteAs(operator, `/api/operator/accounts/${none}`, { id: none }))).toBe('404 not_found')
})

test('an account of somebody else goes with its keys, people and data, when the body names it', async () => {
  const gil = await signUpAt(app.url, 'gil@example.com')
  await gil.byKey.post('/v1/start', { process: 'p' })
  const path = `/api/operator/accounts/${gil.account}`
  expect(code(await deleteAs(operator, path))).toBe('422 content_type_unsupported')
  expect(code(await deleteAs(operator, path, { id: bob.account }))).toBe('422 fields_invalid')
  expect((await gil.byKey.get('/api/timings')).status).toBe(200)
  expect((await deleteAs(operator, path, { id: gil.account })).status).toBe(204)
  expect(code(await gil.byKey.post('/v1/start', { process: 'p' }))).toBe('401 key_invalid')
  expect((await gil.bySession.get('/api/session')).json.signed_in).toBe(false)
  expect(
    (await createCaller(app.url).post('/api/session', { email: 'gil@example.com', password: PASSWORD })).status,
  ).toBe(401)
  expect((await operator.get('/api/operator/accounts?q=gil@')).json.accounts).toEqual([])
  expect(app.rooms.accounts.removals()).toContain(gil.account)
  expect((await actionsOf(operator))[0]).toEqual(['account_deleted', gil.account, 'gil@example.com'])
})

test('/metrics says how many are suspended, and nothing about one', async () => {
  await suspend(bob.account)
  const { text } = await createCaller(app.url).get('/metrics')
  expect(text).toContain('stint_accounts_suspended 1')
  expect(text).not.toContain(bob.account)
  await resume(bob.account)
})
