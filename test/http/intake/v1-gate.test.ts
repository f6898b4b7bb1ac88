// What is judged before a body is read, and in which order: key → rate → room in the spool → path → method → size → content type → JSON → fields.
import { describe, expect, test } from 'bun:test'
import { type AppOptions, startApp, type TestApp, useApp } from '../../support/app.ts'
import type { Answer } from '../../support/caller.ts'
import { openRaw, sendRaw } from '../../support/raw-http.ts'

const app = await useApp()

const JSON_TYPE = { 'content-type': 'application/json' }
const MARK = '{"process":"p"}'
const PATHS = ['/v1/start', '/v1/end', '/v1/metrics', '/v1/exception']

describe('without a valid key nothing else is revealed', () => {
  const refusedKeys = () => [
    undefined,
    '',
    'stint_0000000000000000000000000000000000',
    `${app.keys.owner.slice(0, -1)}${app.keys.owner.endsWith('A') ? 'B' : 'A'}`,
    app.keys.owner.toUpperCase(),
    `${app.keys.owner}x`,
    `${app.keys.owner}, ${app.keys.owner}`,
    app.keys.revoked,
    'k'.repeat(8000),
  ]

  test('every invalid key gets the same answer on every path and method, whatever the body, and nothing is stored', async () => {
    const requests: [string, RequestInit][] = [
      ...PATHS.map((path): [string, RequestInit] => [path, { method: 'POST', headers: JSON_TYPE, body: MARK }]),
      ['/v1/start', { method: 'POST', headers: JSON_TYPE, body: '{malformed' }],
      ['/v1/start', { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' }],
      ['/v1/start', { method: 'POST', headers: JSON_TYPE, body: ' '.repeat(300 * 1024) }],
      ['/v1/start', { method: 'GET' }],
      ['/v1/start', { method: 'DELETE' }],
      ['/v1/nothing', { method: 'POST', headers: JSON_TYPE, body: MARK }],
      ['/v1/', { method: 'GET' }],
      ['/v1', { method: 'GET' }],
    ]
    const answers = new Set<string>()
    const before = (await app.events()).length
    for (const key of refusedKeys())
      for (const [path, init] of requests) {
        const answer = await app.fetch(path, { ...init, key })
        expect(answer.status).toBe(401)
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(answer.headers.get('www-authenticate')).not.toBeNull()
        answers.add(answer.text)
      }
    expect([...answers].map((text) => JSON.parse(text))).toEqual([
      {
        type: 'urn:stint:problem:key_invalid',
        title: 'The API key is missing or not valid',
        status: 401,
        code: 'key_invalid',
        detail: 'Send a valid API key in the header x-stint-api-key.',
      },
    ])
    expect((await app.events()).length).toBe(before)
  })

  test('ignores a key in the query, a cookie, authorization or another header', async () => {
    const { owner } = app.keys
    const post = { method: 'POST', headers: JSON_TYPE, body: MARK }
    const query = `x-stint-api-key=${owner}&api_key=${owner}`
    expect((await app.fetch(`/v1/start?${query}`, post)).status).toBe(401)
    for (const header of [
      { authorization: `Basic ${owner}` },
      { cookie: `x-stint-api-key=${owner}` },
      { 'x-api-key': owner },
      { x_stint_api_key: owner },
    ])
      expect((await app.fetch('/v1/start', { ...post, headers: { ...JSON_TYPE, ...header } })).status).toBe(401)
  })

  test('the header name is case-insensitive, and space around the key is ignored', async () => {
    const head = `POST /v1/start HTTP/1.1\r\nhost: stint\r\ncontent-type: application/json\r\ncontent-length: ${MARK.length}\r\n`
    const answer = await sendRaw(app.port, `${head}X-STINT-Api-Key:   ${app.keys.owner}  \r\n\r\n${MARK}`)
    expect(answer.status).toBe(201)
  })

  test('the connection stays usable after a 401 whose body was never read', async () => {
    const connection = await openRaw(app.port)
    const body = 'x'.repeat(1_000_000)
    await connection.write(`POST /v1/start HTTP/1.1\r\nhost: stint\r\ncontent-length: ${body.length}\r\n\r\n`)
    await connection.write(body)
    expect((await connection.answer()).status).toBe(401)
    const head = `POST /v1/start HTTP/1.1\r\nhost: stint\r\ncontent-type: application/json\r\nx-stint-api-key: ${app.keys.owner}\r\n`
    await connection.write(`${head}content-length: ${MARK.length}\r\n\r\n${MARK}`)
    expect((await connection.answer()).status).toBe(201)
    connection.close()
  })
})

test('a read-only key is refused before the rest of the request is checked', async () => {
  for (const [path, init] of [
    ['/v1/start', { method: 'POST', headers: JSON_TYPE, body: MARK }],
    ['/v1/start', { method: 'POST', body: '{malformed' }],
    ['/v1/nothing', { method: 'GET' }],
  ] as [string, RequestInit][]) {
    const answer = await app.fetch(path, { ...init, key: app.keys.reader })
    expect(answer.status).toBe(403)
    expect(answer.json).toEqual({
      type: 'urn:stint:problem:scope_missing',
      title: 'The key lacks the scope for this',
      status: 403,
      code: 'scope_missing',
      detail: 'This key may not write events.',
    })
  }
})

describe('paths and methods, with a key', () => {
  const UNKNOWN =
    '/v1 /v1/ /v1/nothing /v1/start/ /v1/start/x /v1//start /v1/Start /v1/START /v1/st%61rt /v1/start%2F ' +
    '/v1/start;a=1 /v1/metric /v1/timings'
  test.each(UNKNOWN.split(' '))('%s is 404 for every method', async (path) => {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const answer = await app.fetch(path, {
        method,
        key: app.keys.owner,
        ...(method === 'POST' && { headers: JSON_TYPE, body: MARK }),
      })
      expect(answer.status).toBe(404)
      expect(answer.json).toMatchObject({ code: 'not_found', status: 404, type: 'urn:stint:problem:not_found' })
    }
  })

  test('HEAD is 405 without a body', async () => {
    const answer = await app.fetch('/v1/start', { method: 'HEAD', key: app.keys.owner })
    expect([answer.status, answer.headers.get('allow'), answer.text]).toEqual([405, 'POST', ''])
  })

  test('query parameters are ignored', async () => {
    const path = '/v1/start?process=q&x-stint-api-key=no&at=never'
    expect((await app.post(path, MARK)).status).toBe(201)
    expect((await app.events()).at(-1)).toMatchObject({ process: 'p' })
  })

  test('resolves absolute targets and dot segments', async () => {
    const rest = `host: stint\r\ncontent-type: application/json\r\nx-stint-api-key: ${app.keys.owner}\r\ncontent-length: ${MARK.length}\r\n\r\n${MARK}`
    for (const target of ['http://stint/v1/start', '/x/../v1/start', '/./v1/start'])
      expect((await sendRaw(app.port, `POST ${target} HTTP/1.1\r\n${rest}`)).status).toBe(201)
  })

  test.each(['//v1/start', '/%76%31/start', '/V1/start', '/v2/start'])(
    'a path outside /v1 is a plain 404 and does not bypass the key: %s',
    async (target) => {
      const head = `POST ${target} HTTP/1.1\r\nhost: stint\r\ncontent-type: application/json\r\ncontent-length: ${MARK.length}\r\n\r\n`
      const answer = await sendRaw(app.port, head + MARK)
      expect(answer.status).toBe(404)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'not_found' })
    },
  )
})

describe('CORS is off', () => {
  test('no answer has CORS headers, and a preflight is refused', async () => {
    const origin = { origin: 'https://elsewhere.example' }
    const answers: Answer[] = [
      await app.post('/v1/start', MARK, origin),
      await app.post('/v1/start', '{}', origin),
      await app.fetch('/v1/start', {
        method: 'OPTIONS',
        headers: {
          ...origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-stint-api-key',
        },
      }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 422, 401])
    for (const { headers } of answers)
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('the order of checks, pair by pair', () => {
  const full = { spoolMaxBytes: 1 }
  const big = ' '.repeat(257 * 1024)
  const code = (answer: Answer) => answer.json.code
  const send = (own: TestApp, path: string, init: RequestInit & { key?: string }) =>
    own.fetch(path, { method: 'POST', headers: JSON_TYPE, body: MARK, key: own.keys.owner, ...init })

  const text = { 'content-type': 'text/plain' }

  test.each<[string, AppOptions, string]>([
    ['rate before room', { rateLimit: 1, ...full }, 'rate_limited'],
    ['room', full, 'spool_full'],
  ])('key before %s before path, method, size, content type, JSON and fields', async (_, options, expected) => {
    await using own = await startApp(options)
    expect((await own.post('/v1/start', MARK)).status).toBe(201)
    expect(code(await send(own, '/v1/start', { key: own.keys.revoked }))).toBe('key_invalid')
    for (const init of [{}, { method: 'PUT' }, { body: big }, { headers: text }, { body: '{' }, { body: '{}' }])
      expect(code(await send(own, '/v1/start', init))).toBe(expected)
    expect(code(await send(own, '/v1/nothing', {}))).toBe(expected)
  })

  test.each<[string, string, RequestInit, string]>([
    ['path before method', '/v1/nothing', { method: 'PUT' }, 'not_found'],
    ['path before size', '/v1/nothing', { body: big }, 'not_found'],
    ['path before content type and JSON', '/v1/nothing', { headers: {}, body: '{' }, 'not_found'],
    ['method before size', '/v1/start', { method: 'PUT', body: big }, 'method_not_allowed'],
    [
      'method before content type and JSON',
      '/v1/start',
      { method: 'PUT', headers: {}, body: '{' },
      'method_not_allowed',
    ],
    ['size before content type', '/v1/start', { body: big, headers: text }, 'body_too_large'],
    ['size before JSON', '/v1/start', { body: big }, 'body_too_large'],
    ['content type before JSON', '/v1/start', { headers: text, body: '{' }, 'content_type_unsupported'],
    ['JSON before fields', '/v1/start', { body: '{"process":5' }, 'json_malformed'],
  ])('%s', async (_, path, init, expected) => {
    expect(code(await send(app, path, init))).toBe(expected)
  })
})

test('counts refusals by kind and code', async () => {
  await using own = await startApp()
  await own.post('/v1/start', '{}')
  await own.post('/v1/exception', '{')
  await own.fetch('/v1/end', { method: 'POST' })
  await own.fetch('/v1/nothing', { key: own.keys.owner })
  await own.fetch('/nothing', { key: own.keys.owner })
  expect((await own.refused()).sort()).toEqual([
    'end key_invalid',
    'exception json_malformed',
    'other not_found',
    'start fields_invalid',
  ])
})
