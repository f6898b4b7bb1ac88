// A POST to an address that a caller chose, against real sockets. The resolver is the test's: it plays a name server that lies.
import { afterAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { isPublicAddress, pinnedPost } from '../../../src/notify/delivery/pinned-post.ts'
import { startReceiver } from '../../support/receiver.ts'

const receiver = startReceiver(async ({ path }) => {
  if (path === '/redirect') return new Response(null, { status: 302, headers: { location: '/target' } })
  if (path === '/huge') return new Response('x'.repeat(50 * 2 ** 20))
  if (path === '/slow') await Bun.sleep(5000)
  return new Response('thanks', { status: path === '/500' ? 500 : 200 })
})
afterAll(receiver.close)
const { port, requests: seen } = receiver

const local = (path: string) => receiver.url + path
const open = { allowPrivate: true, timeoutMs: 10_000 }
const refused = /not a public address/

test('sends the body and resolves to whatever status comes', async () => {
  expect(await pinnedPost(local('/ok'), { 'content-type': 'text/plain' }, 'hällo', open)).toEqual({
    status: 200,
    text: 'thanks',
  })
  const { method, path, headers, text } = seen.at(-1)!
  expect([method, path, headers.get('host'), text]).toEqual(['POST', '/ok', `127.0.0.1:${port}`, 'hällo'])
  expect((await pinnedPost(local('/500'), {}, '', open)).status).toBe(500)
})

test('a redirect is an answer and is not followed', async () => {
  expect((await pinnedPost(local('/redirect'), {}, '', open)).status).toBe(302)
  expect(seen.some(({ path }) => path === '/target')).toBe(false)
})

test('a huge answer is read only at its beginning', async () => {
  const { status, text } = await pinnedPost(local('/huge'), {}, '', open)
  expect(status).toBe(200)
  expect(text.length).toBeLessThanOrEqual(4096)
})

test('a slow receiver is given up', async () => {
  await expect(pinnedPost(local('/slow'), {}, '', { ...open, timeoutMs: 200 })).rejects.toThrow('No answer within')
})

test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '0x7f.1', '127.1', 'localhost'])(
  'refuses http://%s',
  async (host) => {
    const before = seen.length
    await expect(
      pinnedPost(`http://${host}:${port}/`, {}, '', { allowPrivate: false, timeoutMs: 10_000 }),
    ).rejects.toThrow(refused)
    expect(seen.length).toBe(before)
  },
)

test('a name that resolves to a private address is refused, also beside a public one', async () => {
  for (const found of [['169.254.169.254'], ['8.8.8.8', '127.0.0.1'], ['::ffff:10.0.0.1']]) {
    const resolve = async () => found
    await expect(pinnedPost('http://sly.example/', {}, '', { allowPrivate: false, resolve })).rejects.toThrow(refused)
  }
})

test('a name is looked up once, and the connection goes to the address that was judged', async () => {
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const answer = await pinnedPost(`http://rebind.example:${port}/rebind`, {}, '', { ...open, resolve })
  expect(answer.status).toBe(200)
  expect(asked).toBe(1)
  const { path, headers } = seen.at(-1)!
  expect([path, headers.get('host')]).toEqual(['/rebind', `rebind.example:${port}`])
})

test('the second address of a name is tried if the first one refuses the connection', async () => {
  const resolve = async () => ['127.0.0.2', '127.0.0.1']
  const answer = await pinnedPost(`http://two.example:${port}/second`, {}, 'x', { ...open, resolve })
  expect([answer.status, seen.at(-1)!.path]).toEqual([200, '/second'])
})

test('an answer that is not HTTP, or a closed port, is an error that names no looked-up address', async () => {
  const odd = createServer((socket) => void socket.end('220 smtp\r\n')).listen(0, '127.0.0.1')
  const { port } = odd.address() as { port: number }
  const resolve = async () => ['127.0.0.1']
  await expect(pinnedPost(`http://odd.example:${port}/`, {}, '', { ...open, resolve })).rejects.toThrow(
    'The connection ended without an HTTP answer.',
  )
  odd.close()
  const failed = await pinnedPost('http://odd.example:1/', {}, '', { ...open, resolve }).catch((error) => error)
  expect(failed.message).toMatch(/^The connection failed: ECONNREFUSED/)
  expect(failed.message).not.toContain('127.0.0.1')
})

/** A server that sends these chunks, and then nothing more. */
async function answering(chunks: string[], end: 'stays open' | 'resets' = 'stays open') {
  const raw = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      for (const chunk of chunks) socket.write(chunk)
      if (end === 'resets') setImmediate(() => socket.resetAndDestroy())
    })
  })
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
  afterAll(() => raw.close())
  return `http://127.0.0.1:${(raw.address() as { port: number }).port}/`
}

const HEADS: [string, string[], Awaited<ReturnType<typeof pinnedPost>>][] = [
  ['without content-length', ['HTTP/1.1 200 OK\r\n\r\n'], { status: 200, text: '' }],
  ['with a body that never ends', ['HTTP/1.1 202 Yes\r\ncontent-length: 99\r\n\r\nbeg'], { status: 202, text: 'beg' }],
  ['in chunks', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n'], { status: 200, text: 'ok\r\n' }],
  [
    'after announcements',
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\n'],
    { status: 204, text: '' },
  ],
  [
    'that asks for patience',
    ['HTTP/1.1 429 Slow\r\nretry-after: 7\r\n\r\n'],
    { status: 429, text: '', retryAfterS: 7 },
  ],
  [
    'of a receiver that resets the connection',
    ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'],
    { status: 200, text: '' },
  ],
]
test('an answer counts at its head, whatever follows', async () => {
  const found = HEADS.map(async ([name, chunks]) => {
    const address = await answering(chunks, name.includes('resets') ? 'resets' : 'stays open')
    return [name, await pinnedPost(address, {}, '', { ...open, timeoutMs: 60_000 })]
  })
  expect(await Promise.all(found)).toEqual(HEADS.map(([name, , expected]) => [name, expected]))
})

test('announcements without an answer are no answer', async () => {
  const address = await answering(['HTTP/1.1 100 Continue\r\n\r\n'])
  await expect(pinnedPost(address, {}, '', { ...open, timeoutMs: 200 })).rejects.toThrow('No answer within')
})

const PRIVATE =
  '127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 ' +
  '100.64.0.1 100.127.255.255 192.0.0.192 198.18.0.1 224.0.0.1 239.255.255.255 255.255.255.255 :: ::1 ' +
  '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 64:ff9b::7f00:1 fe80::1 ' +
  'fe80::1%eth0 fc00::1 fd12:3456::1 fec0::1 ff02::1 2001::1 2001:db8::1 2002:7f00:1:: 100::1 example.com'
const PUBLIC = '8.8.8.8 1.1.1.1 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 2606:4700::1111 2a00:1450::1'

test('tells public addresses from all others', () => {
  expect(['', ...PRIVATE.split(' ')].filter(isPublicAddress)).toEqual([])
  expect(PUBLIC.split(' ').filter((address) => !isPublicAddress(address))).toEqual([])
})
