// Ping keys of one process: their two forms of address, and the secret that a caller brings from Healthchecks.
import { describe, expect, test } from 'bun:test'
import { startApp, useApp } from '../../support/app.ts'
import { type ApiCaller, signInAt, signUpAt } from '../../support/caller.ts'

const app = await useApp()
const session = await signInAt(app.url)
const createKey = (more: object, by: ApiCaller = session) =>
  by.post('/api/keys', { name: 'nightly', scopes: ['ping'], ...more })
const summary = async (process: string) =>
  (await app.events())
    .filter((event) => event.process === process)
    .sort(({ stamp: a }, { stamp: b }) => a.us - b.us || a.sub - b.sub)
    .map((event) => `${event.kind}${'failed' in event && event.failed ? ' failed' : ''}`)

describe('a UUID that a caller brings', () => {
  const uuid = crypto.randomUUID()

  test('is the address of its process, as Healthchecks has it, below /ping and without', async () => {
    const made = await createKey({ process: 'nightly "import"', secret: uuid })
    expect([made.status, made.json.key]).toMatchObject([
      201,
      { process: 'nightly import', scopes: ['ping'], secret: uuid, prefix: uuid.slice(0, 4) },
    ])
    const signals = ['/start', '/log', '/3', '/start', '', '/fail', '/', '/0']
    for (const [i, signal] of signals.entries())
      for (const prefix of ['/ping', '']) {
        const method = ['GET', 'POST', 'HEAD'][i % 3]!
        const answer = await app.fetch(`${prefix}/${uuid}${signal}?rid=${prefix.slice(1)}r${i}&create=1`, { method })
        expect([signal, prefix, answer.status, answer.text]).toEqual([
          signal,
          prefix,
          200,
          method === 'HEAD' ? '' : 'OK',
        ])
      }
    const kinds = await summary('nightly import')
    expect(kinds.filter((kind) => kind === 'start')).toHaveLength(4)
    expect(kinds.filter((kind) => kind === 'end failed')).toHaveLength(4)
    expect(kinds.filter((kind) => kind === 'end')).toHaveLength(6)
    expect((await app.fetch(`/${uuid.toUpperCase()}/start`)).status).toBe(200)
  })

  test.each([
    '/ping/UUID/nightly%20import',
    '/ping/UUID/nightly%20import/fail',
    '/UUID/256',
    '/UUID/start/1',
    '/ping/UUID/stop',
  ])('%s is no address', async (form) => {
    const before = (await app.events()).length
    expect((await app.fetch(form.replace('UUID', uuid))).status).toBe(404)
    expect((await app.events()).length).toBe(before)
  })

  test('takes GET, HEAD and POST alone', async () => {
    const answer = await app.fetch(`/${uuid}`, { method: 'PUT', body: 'x' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })

  test('is unique in the installation, and the refusal says nothing about whom', async () => {
    const answer = await createKey({ process: 'other', secret: uuid })
    expect([answer.status, answer.json.code]).toEqual([409, 'key_taken'])
    expect(answer.text).not.toMatch(/nightly|acc_|key_[0-9a-z]{16}/)
    expect((await createKey({ process: 'other', secret: uuid.toUpperCase() })).status).toBe(409)
  })

  test('opens nothing else, ends when it is revoked, and stays out of the log', async () => {
    for (const [path, method] of [
      ['/v1/start', 'POST'],
      ['/api/timings', 'GET'],
      ['/api/watches', 'GET'],
    ] as const)
      expect((await app.fetch(path, { method, key: uuid })).status).toBe(403)
    const { json } = await session.get('/api/keys')
    const { id } = json.keys.find(({ prefix }: { prefix: string }) => prefix === uuid.slice(0, 4))
    await session.delete(`/api/keys/${id}`)
    for (const path of [`/${uuid}`, `/ping/${uuid}/fail`]) expect((await app.fetch(path)).status).toBe(404)
    expect(app.log.join('\n')).not.toContain(uuid)
  })

  test('is a random one after rotating, for the same process', async () => {
    const secret = crypto.randomUUID()
    const { json } = await createKey({ process: 'rotating', secret })
    const rotated = (await session.post(`/api/keys/${json.key.id}/rotate`, {})).json.key
    expect([rotated.process, rotated.scopes, rotated.secret.slice(0, 6)]).toEqual(['rotating', ['ping'], 'stint_'])
    expect((await app.fetch(`/${secret}`)).status).toBe(404)
    expect((await app.fetch(`/ping/${rotated.secret}/rotating`)).text).toBe('OK')
    // the old address with the new key alone: `fail` is no process
    expect((await app.fetch(`/ping/${rotated.secret}/fail`)).status).toBe(404)
    expect(await summary('fail')).toEqual([])
  })

  test.each([
    [{ secret: crypto.randomUUID() }, '/secret'],
    [{ process: 'a', secret: 'a54e20ee-8f2c-11f0-9c0e-325096b39f47' }, '/secret'], // version 1
    [{ process: 'a', secret: 'my-job' }, '/secret'],
    [{ process: 'a', scopes: ['write'] }, '/process'],
    [{ process: '"' }, '/process'],
    [{ process: 'a', secret: crypto.randomUUID(), scopes: ['read'] }, '/process'],
  ])('%o is refused at %s', async (body, pointer) => {
    const answer = await createKey(body)
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer])
  })
})

test('a random key of one process pings that one, in the form of other keys', async () => {
  const { secret, process } = (await createKey({ process: 'only this' })).json.key
  expect([process, secret.slice(0, 6)]).toEqual(['only this', 'stint_'])
  expect((await app.fetch(`/ping/${secret}/only%20%22this/start`)).status).toBe(200)
  for (const other of ['fail', 'start', 'another', 'only', 'fail/fail'])
    expect((await app.fetch(`/ping/${secret}/${other}`)).status).toBe(404)
  expect((await app.fetch(`/${secret}`)).status).toBe(404)
  expect(await summary('only this')).toEqual(['start'])
})

test('with SIGNUP=open only the operator’s account brings a secret', async () => {
  await using open = await startApp({ signup: 'open' })
  const stranger = await signUpAt(open.url, 'eve@example.com')
  const secret = crypto.randomUUID()
  const refused = await createKey({ process: 'mine', secret }, stranger.bySession)
  expect([refused.status, refused.json.code]).toEqual([403, 'operator_only'])
  expect((await createKey({ process: 'mine' }, stranger.bySession)).status).toBe(201)
  expect((await createKey({ process: 'mine', secret }, await signInAt(open.url))).status).toBe(201)
  expect((await createKey({ process: 'mine', secret }, stranger.bySession)).json.code).toBe('operator_only')
})
