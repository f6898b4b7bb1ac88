// How a body must come: its content type, its coding, its size, its JSON.
import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { useApp } from '../../support/app.ts'
import type { Answer } from '../../support/caller.ts'
import { openRaw, sendRaw } from '../../support/raw-http.ts'

const app = await useApp()

const MARK = '{"process":"p"}'
const MAX_BYTES = 256 * 1024
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const padded = (size: number) => MARK.padEnd(size, ' ')

function expectFault(answer: Answer, code: string, title: string, detail: string, faultDetail: string): void {
  expect(answer.json).toEqual({
    type: `urn:stint:problem:${code}`,
    title,
    status: 422,
    code,
    detail,
    errors: [{ pointer: '', detail: faultDetail }],
  })
  expect(answer.status).toBe(422)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
}
const expectType = (answer: Answer, detail = 'must be application/json, in UTF-8') =>
  expectFault(
    answer,
    'content_type_unsupported',
    'The content type must be application/json',
    'The body is of a type that is not accepted.',
    detail,
  )
const expectMalformed = (answer: Answer, detail = answer.json.errors[0].detail) => {
  expect(detail).toMatch(/^is (empty|not valid UTF-8|not valid JSON: line \d+, column \d+: [a-z ]+)$/)

  expectFault(answer, 'json_malformed', 'The body is not valid JSON', 'The body could not be read as JSON.', detail)
}

describe('the content type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; CHARSET=Utf-8',
    'application/json ; charset = "UTF-8" ',
  ])('accepts %j', async (type) => {
    expect((await app.post('/v1/start', MARK, { 'content-type': type })).status).toBe(201)
  })

  const REFUSED = `
    application/jfoo | application/j | application/jsonp | application/json5 | application/xml |
    application/x-www-form-urlencoded | multipart/form-data; boundary=x | text/json | text/plain |
    text/plain;charset=UTF-8 | */* | application/* | application/ld+json | application/vnd.stint+json |
    application/problem+json | application/json-seq | application/json; charset=latin1 |
    application/json; charset=iso-8859-1 | application/json; charset=utf-16 | application/json; charset=utf8 |
    application/json; charset="utf-8 | application/json; charset='utf-8' | application/json; charset= |
    application/json; charset=utf-8; charset=utf-8 | application/json; profile=x | application/json; |
    application/json, application/json | json | xapplication/json`
  test.each(REFUSED.split('|').map((type) => type.trim()))('refuses %j', async (type) => {
    expectType(await app.post('/v1/start', MARK, { 'content-type': type }))
  })

  test('is needed', async () => {
    const head = `POST /v1/start HTTP/1.1\r\nhost: stint\r\nx-stint-api-key: ${app.keys.owner}\r\n`
    for (const type of ['', 'content-type:\r\n', 'content-type: \r\n']) {
      const answer = await sendRaw(app.port, `${head}${type}content-length: ${MARK.length}\r\n\r\n${MARK}`)
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([422, 'content_type_unsupported'])
    }
  })
})

describe('content codings', () => {
  test('identity is not a coding', async () => {
    expect((await app.post('/v1/start', MARK, { 'content-encoding': 'Identity' })).status).toBe(201)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'x'])('refuses %s', async (coding) => {
    const answer = await app.post('/v1/start', gzipSync(MARK), { 'content-encoding': coding })
    expectType(answer, 'must come without content-encoding; /v1/batch takes gzip and zstd')
  })
})

describe('JSON', () => {
  // All other forms: test/hardening/json-suite.test.ts.
  test.each(['{', '{"process":"p"}{"process":"p"}', ' '])('rejects %j', async (body) =>
    expectMalformed(await app.post('/v1/start', body)),
  )

  test('an empty body is reported as empty', async () => {
    expectMalformed(await app.post('/v1/start', ''), 'is empty')
    const head = `POST /v1/start HTTP/1.1\r\nhost: stint\r\ncontent-type: application/json\r\nx-stint-api-key: ${app.keys.owner}\r\n`
    const absent = await sendRaw(app.port, `${head}\r\n`)
    expect([absent.status, JSON.parse(absent.body).errors]).toEqual([422, [{ pointer: '', detail: 'is empty' }]])
  })

  test('a byte order mark before it is accepted, two are not', async () => {
    expect((await app.post('/v1/start', bytes([0xef, 0xbb, 0xbf], MARK))).status).toBe(201)
    expectMalformed(await app.post('/v1/start', bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], MARK)))
  })

  test('rejects what is not UTF-8', async () => {
    expectMalformed(await app.post('/v1/start', bytes('{"process":"a', [0xe4], 'b"}')), 'is not valid UTF-8')
  })

  test('answers JSON nested at any depth', async () => {
    const depth = 60_000
    const nested = '['.repeat(depth) + ']'.repeat(depth)
    const objects = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    for (const [path, body] of [
      ['/v1/start', nested],
      ['/v1/start', '['.repeat(200_000)],
      ['/v1/start', `{"process":${nested}}`],
      ['/v1/start', `{"process":"p","deep":${nested}}`],
      ['/v1/start', `{"process":"p","deep":${objects}}`],
      ['/v1/metrics', `{"process":"p","items":${nested}}`],
      ['/v1/metrics', `{"process":"p","items":{"a":${nested}}}`],
      ['/v1/metrics', `{"process":"p","items":${objects}}`],
      ['/v1/metrics', objects],
    ] as const) {
      const answer = await app.post(path, body)
      expect([answer.status, answer.json?.status]).toEqual([422, 422])
    }
    expect((await app.post('/v1/start', MARK)).status).toBe(201)
  })

  // JSON.parse takes 20 to 70 ms for 256 KiB of these, in which no other account is answered.
  test.each<[string, string]>([
    ['brackets', '['.repeat(131_072) + ']'.repeat(131_072)],
    ['objects', `${'{"":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
    ['numbered members', `{${Array.from({ length: 20_000 }, (_, i) => `"${i}":1`).join(',')}}`],
    ['strings', `[${'"",'.repeat(60_000)}""]`],
    ['strings without commas', '""'.repeat(131_072)],
  ])('a large body of more than 5000 values is refused before it is parsed: %s', async (_, body) => {
    const answer = await app.post('/v1/metrics', body)
    expectFault(
      answer,
      'fields_invalid',
      'The body is not valid',
      'The body has 1 error.',
      'must hold at most 5000 values',
    )
  })

  test('commas, quotes and brackets in a text are no values', async () => {
    for (const text of ['[{,"\\\\"]}'.repeat(1500), `${',['.repeat(5000)}"`, `\\${',"'.repeat(12_000)}`])
      expect((await app.post('/v1/start', { process: text })).json.errors[0].pointer).toBe('/process')
    const twice = JSON.stringify({ process: 'p' }).slice(1)
    expect((await app.post('/v1/start', `{${'"process":"q",'.repeat(900)}${twice}`)).status).toBe(201)
  })
})

describe('the size', () => {
  const expectTooLarge = (status: number, headers: Headers, body: string) => {
    expect(status).toBe(413)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(body)).toEqual({
      type: 'urn:stint:problem:body_too_large',
      title: 'The body is too large',
      status: 413,
      code: 'body_too_large',
      detail: `A body has at most ${MAX_BYTES} bytes, after decompression too; send less at once.`,
    })
  }
  const head = (extra: string, key = app.keys.owner) =>
    `POST /v1/start HTTP/1.1\r\nhost: stint\r\ncontent-type: application/json\r\nx-stint-api-key: ${key}\r\n${extra}\r\n`
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

  test('accepts 256 KiB and not a byte more', async () => {
    expect((await app.post('/v1/start', padded(MAX_BYTES))).status).toBe(201)
    const answer = await app.post('/v1/start', padded(MAX_BYTES + 1))
    expectTooLarge(answer.status, answer.headers, answer.text)
  })

  test('counts bytes, not characters', async () => {
    const meta = '😀'.repeat(66_000)
    const answer = await app.post('/v1/start', { process: 'p', meta })
    expectTooLarge(answer.status, answer.headers, answer.text)
  })

  test.each([200 * 2 ** 20, 2 ** 40, 2 ** 53])(
    'answers %d announced bytes with 413, and 401 without a key',
    async (length) => {
      const extra = `content-length: ${length}\r\n`
      const { status, headers, body } = await sendRaw(app.port, head(extra))
      expectTooLarge(status, headers, body)
      expect((await sendRaw(app.port, head(extra, app.keys.revoked))).status).toBe(401)
    },
  )

  test('accepts a chunked body up to the limit and not a byte more', async () => {
    const body = padded(MAX_BYTES)
    const parts = [body.slice(0, 100), body.slice(100, 200_000), body.slice(200_000)]
    for (const [last, status] of [
      ['0\r\n\r\n', 201],
      [chunk(' '), 413],
    ] as const) {
      const answer = await sendRaw(app.port, head('transfer-encoding: chunked\r\n'), ...parts.map(chunk), last)
      expect(answer.status).toBe(status)
    }
  })

  test('an endless chunked body does not fill the memory', async () => {
    const before = process.memoryUsage().rss
    const connection = await openRaw(app.port)
    await connection.write(head('transfer-encoding: chunked\r\n'))
    const block = chunk(' '.repeat(1_000_000))
    let status: number | undefined
    const answered = connection.answer().then((answer) => {
      status = answer.status
    })
    for (let sent = 0; sent < 150 && status === undefined; sent++) await connection.write(block)
    await answered
    expect(status).toBe(413)
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6)
    connection.close()
  })

  test('does not read a chunked body without a key', async () => {
    const answer = await sendRaw(app.port, head('transfer-encoding: chunked\r\n', app.keys.revoked), chunk(MARK))
    expect(answer.status).toBe(401)
  })

  test('joins UTF-8 that is split between chunks', async () => {
    const body = Buffer.from('{"process":"😀"}')
    const cut = body.indexOf(0xf0) + 2
    const part = (piece: Buffer) =>
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
    const answer = await sendRaw(
      app.port,
      head('transfer-encoding: chunked\r\n'),
      part(body.subarray(0, cut)),
      part(body.subarray(cut)),
      '0\r\n\r\n',
    )
    expect(answer.status).toBe(201)
    expect((await app.events()).at(-1)).toMatchObject({ process: '😀' })
  })
})
