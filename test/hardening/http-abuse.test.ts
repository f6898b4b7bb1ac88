// What Stint answers to HTTP/1.1 that no client should send. A request that can be understood in two ways (and so smuggled past a proxy) is
// refused and its connection closed; nothing of it is taken for an event or for another request. Bun's own refusals have an empty body.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { useApp } from '../support/app.ts'

const BODY = '{"process":"raw"}'
const WITHIN_MS = 60_000

const app = await useApp()

/** Everything that comes back until the connection is closed or `until` is there; its status lines. */
async function send(
  parts: readonly (string | Uint8Array)[],
  answers: number,
): Promise<{ statuses: number[]; closed: boolean; text: string }> {
  const socket = connect({ port: app.port, host: '127.0.0.1' })
  let text = ''
  let closed = false
  const statusesOf = () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map((match) => Number(match[1]))
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`neither closed nor ${answers} answers: ${text}`)), WITHIN_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (statusesOf().length >= answers && /\r\n\r\n/.test(text)) done()
    })
    socket.on('error', () => {}) // a reset is a way to close; 'close' follows
    socket.on('close', () => {
      closed = true
      done()
    })
    for (const part of parts) socket.write(part)
  })
  socket.destroy()
  return { statuses: statusesOf(), closed, text }
}

const request = (...headers: string[]) =>
  [
    'POST /v1/start HTTP/1.1',
    'Host: stint.example',
    `x-stint-api-key: ${app.keys.owner}`,
    'content-type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n')
const chunked = (chunks: string) => request('transfer-encoding: chunked') + chunks
const GOOD_CHUNKS = `11\r\n${BODY}\r\n0\r\n\r\n`

/** Events of the usual body. */
const countRaw = async () => (await app.events()).filter(({ process }) => process === 'raw').length

/** Sends, and fails when an event came of it that the answers do not tell of. */
async function refused(bytes: string | Uint8Array): Promise<number[]> {
  const before = await countRaw()
  const { statuses } = await send([bytes], 99)
  expect(await countRaw()).toBe(before)
  return statuses
}

describe('contradicting lengths', () => {
  test.each([
    ['two different ones', ['content-length: 17', 'content-length: 5']],
    ['a list', ['content-length: 17, 17']],
    ['one beside chunks', ['content-length: 17', 'transfer-encoding: chunked']],
    ['one after chunks', ['transfer-encoding: chunked', 'content-length: 17']],
    ['chunks twice', ['transfer-encoding: chunked', 'transfer-encoding: chunked']],
    ['another coding', ['transfer-encoding: identity']],
    ['a coding before chunks', ['transfer-encoding: gzip, chunked']],
    ['a coding after chunks', ['transfer-encoding: chunked, identity']],
    ['a coding that looks like chunks', ['transfer-encoding: xchunked']],
    ['a space before the colon', ['transfer-encoding : chunked']],
    ['a vertical tab', ['transfer-encoding: \x0bchunked']],
    ['a negative one', ['content-length: -1']],
    ['a signed one', ['content-length: +17']],
    ['a hexadecimal one', ['content-length: 0x11']],
    ['one with a space', ['content-length: 1 7']],
    ['an empty one', ['content-length: ']],
    ['one beyond 2⁶³', ['content-length: 9223372036854775808']],
    ['one of twenty digits', ['content-length: 99999999999999999999']],
  ])('%s: 400 and closed', async (_, headers) => {
    expect(await refused(request(...headers) + GOOD_CHUNKS)).toEqual([400])
  })

  test('accepts the same length twice', async () => {
    const { statuses } = await send([request('content-length: 17', 'content-length: 17') + BODY], 1)
    expect(statuses).toEqual([201])
  })

  test('no length means no body; following bytes are not treated as a request', async () => {
    expect(await refused(request() + BODY)).toEqual([422, 400])
  })
})

describe('chunks', () => {
  test.each([
    ['an invalid chunk size', `zz\r\n${BODY}\r\n0\r\n\r\n`],
    ['a negative size', `-11\r\n${BODY}\r\n0\r\n\r\n`],
    ['a size with a prefix', `0x11\r\n${BODY}\r\n0\r\n\r\n`],
    ['a size beyond 64 bits', `FFFFFFFFFFFFFFFFF\r\n${BODY}\r\n0\r\n\r\n`],
    ['lines that end in LF alone', `11\n${BODY}\n0\n\n`],
    ['a size that is too small', `5\r\n${BODY}\r\n0\r\n\r\n`],
    ['no end of a chunk', `11\r\n${BODY}0\r\n\r\n`],
  ])('%s: 400 and closed', async (_, chunks) => {
    expect(await refused(chunked(chunks))).toEqual([400])
  })

  test.each([
    ['good ones', GOOD_CHUNKS],
    ['an extension', `11;a=b\r\n${BODY}\r\n0\r\n\r\n`],
    ['one for each byte', `${[...BODY].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`],
  ])('accepts %s', async (_, chunks) => {
    expect((await send([chunked(chunks)], 1)).statuses).toEqual([201])
  })

  test('a trailer: 400 and closed', async () => {
    // The body was whole before it, so the event may be stored; it is not acknowledged.
    const { statuses, closed } = await send(
      [chunked('11\r\n{"process":"end"}\r\n0\r\nx-stint-api-key: other\r\n\r\n')],
      99,
    )
    expect({ statuses, closed }).toEqual({ statuses: [400], closed: true })
  })
})

describe('the first line and the headers', () => {
  test.each([
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', [400]],
    ['lines that end in LF alone', 'GET /livez HTTP/1.1\nHost: a\n\n', [505]],
    ['one line that ends in LF alone', 'GET /livez HTTP/1.1\r\nHost: a\nx: y\r\n\r\n', [400]],
    ['a CR alone', 'GET /livez HTTP/1.1\r\nHost: a\rx: y\r\n\r\n', [400]],
    ['a folded header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: y\r\n z\r\n\r\n', [400]],
    ['a NUL in a header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\0b\r\n\r\n', [400]],
    ['a space in the name of a header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx y: z\r\n\r\n', [400]],
    ['a header without a colon', 'GET /livez HTTP/1.1\r\nHost: a\r\nxyz\r\n\r\n', [400]],
    ['a header without a name', 'GET /livez HTTP/1.1\r\nHost: a\r\n: z\r\n\r\n', [400]],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['an invalid version', 'GET /livez HTTP/9.9\r\nHost: a\r\n\r\n', [505]],
    ['no version', 'GET /livez\r\n\r\n', [505]],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
    ['an invalid method', 'BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n', []],
    ['a method in lower case', 'get /livez HTTP/1.1\r\nHost: a\r\n\r\n', []],
    ['20 KB in a header', `GET /livez HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, [431]],
    ['20 KB in the path', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, [431]],
    ['300 headers', `GET /livez HTTP/1.1\r\nHost: a\r\n${'x: y\r\n'.repeat(300)}\r\n`, [431]],
  ])('%s: refused and closed', async (_, bytes, statuses) => {
    expect(await refused(bytes)).toEqual(statuses)
  })

  test.each([
    ['every byte there is', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
    ['the hello of TLS', Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])],
  ])('%s: refused and closed', async (_, bytes) => {
    expect(await refused(bytes)).toEqual([400])
  })

  test.each([
    ['10 KB in a header', () => `GET /livez HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(10_000)}\r\n\r\n`, 200],
    ['several Hosts', () => 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    [
      'a Host that looks like a path opens no way past the key',
      () =>
        'POST /v1/start HTTP/1.1\r\nHost: a/livez?\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n' +
        BODY,
      401,
    ],
    ['a short Host cuts nothing off a path', () => 'GET /x/livez HTTP/1.1\r\nHost: api\r\n\r\n', 404],
    ['nor a slash at its end', () => 'GET /livez/ HTTP/1.1\r\nHost: api\r\n\r\n', 404],
    ['nor makes two of one', () => request('content-length: 17').replace(/Host: .*/i, 'Host: a') + BODY, 201],
    [
      'an absolute form needs the key too',
      () => 'POST http://other.example/v1/start HTTP/1.1\r\nHost: a\r\ncontent-length: 0\r\n\r\n',
      401,
    ],
    ['TRACE echoes nothing', () => 'TRACE /livez HTTP/1.1\r\nHost: a\r\nsecret: seen\r\n\r\n', 405],
    ['CONNECT leads nowhere', () => 'CONNECT inside:1 HTTP/1.1\r\nHost: inside:1\r\n\r\n', 404],
    ['two keys', () => request(`x-stint-api-key: ${app.keys.owner}`, 'content-length: 17') + BODY, 401],
    ['an upgrade is not made', () => request('connection: upgrade', 'upgrade: h2c', 'content-length: 17') + BODY, 201],
  ])('%s', async (_, bytes, status) => {
    const { statuses, text } = await send([bytes()], 1)
    expect(statuses).toEqual([status])
    expect(text).not.toContain('seen')
  })

  test('Expect: 100-continue is answered before the body comes', async () => {
    const { statuses } = await send([request('content-length: 17', 'expect: 100-continue')], 1)
    expect(statuses).toEqual([100])
  })
})

describe('one connection', () => {
  test('an abandoned body is not treated as a request', async () => {
    const hidden = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
    const { statuses, text } = await send(
      [
        `POST /v1/start HTTP/1.1\r\nHost: a\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
        'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n',
      ],
      2,
    )
    expect(statuses).toEqual([401, 200])
    expect(text).toContain('ready')
  })

  test('answers pipelined requests that need no disk in order', async () => {
    const { statuses } = await send(
      [
        'GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /nope HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n',
      ],
      3,
    )
    expect(statuses).toEqual([200, 404, 200])
  })

  test('answers pipelined events in order or not at all, never with more answers than events', async () => {
    const before = (await app.events()).length
    const { statuses } = await send([(request('content-length: 17') + BODY).repeat(3)], 3)
    expect(statuses.every((status) => status === 201)).toBe(true)
    expect((await app.events()).length - before).toBeGreaterThanOrEqual(statuses.length)
  })

  test('accepts a request sent byte by byte', async () => {
    const { statuses } = await send([...(request('content-length: 17') + BODY)], 1)
    expect(statuses).toEqual([201])
  })

  test('endless bodies do not block other requests', async () => {
    const slow = Array.from({ length: 200 }, () => {
      const socket = connect({ port: app.port, host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.write(`${request('content-length: 100000')}{`)
      return socket
    })
    await Promise.all(slow.map((socket) => new Promise((resolve) => socket.on('connect', resolve))))
    for (let i = 0; i < 20; i++) expect((await app.post('/v1/start', { process: 'quick' })).status).toBe(201)
    for (const socket of slow) socket.destroy()
  })
})

test('the server still runs and has logged no internal error', async () => {
  expect((await app.fetch('/livez')).status).toBe(200)
  expect(app.log.filter((line) => /"level":[56]0/.test(line))).toEqual([])
})
