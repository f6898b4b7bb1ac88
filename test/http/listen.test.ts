import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import pino from 'pino'
import { listen } from '../../src/http/listen.ts'
import { startApp } from '../support/app.ts'
import { openRaw } from '../support/raw-http.ts'

const log = pino({ level: 'silent' })
const onLoopback = { host: '127.0.0.1', port: 0, tls: undefined, log }

test('a second start on the same port fails instead of sharing it', async () => {
  const first = await listen(new Elysia().get('/', 'first'), onLoopback)
  const port = Number(new URL(first.url).port)
  await expect(listen(new Elysia().get('/', 'second'), { ...onLoopback, port })).rejects.toThrow(
    `HOST=127.0.0.1 PORT=${port}: cannot listen: the port is in use`,
  )
  expect(await (await fetch(first.url)).text()).toBe('first')
  await first.stop()
})

test.each([
  ['nope.invalid', 'HOST=nope.invalid: cannot listen: host name does not resolve'],
  ['192.0.2.1', 'HOST=192.0.2.1 PORT=7070: cannot listen: this machine does not have that address'], // reserved for documentation
])('names the setting when it cannot listen on HOST=%s', async (host, message) => {
  await expect(listen(new Elysia(), { ...onLoopback, host, port: 7070 })).rejects.toThrow(message)
})

test('a host name is listened on by its address', async () => {
  const listener = await listen(new Elysia().get('/', 'named'), { ...onLoopback, host: 'localhost' })
  expect(await (await fetch(listener.url)).text()).toBe('named')
  await listener.stop()
})

test('a port is free again after the stop', async () => {
  const first = await listen(new Elysia().get('/', 'first'), onLoopback)
  const port = Number(new URL(first.url).port)
  await first.stop()
  const second = await listen(new Elysia().get('/', 'second'), { ...onLoopback, port })
  expect(await (await fetch(second.url)).text()).toBe('second')
  await second.stop()
})

test('a stop lets the requests in flight finish and refuses new ones', async () => {
  const gate = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const app = new Elysia().get('/slow', async () => {
    entered.resolve()
    await gate.promise
    return 'done'
  })
  const listener = await listen(app, onLoopback)
  const inFlight = fetch(`${listener.url}/slow`).then((response) => response.text())
  await entered.promise
  const stopped = listener.stop()
  await expect(fetch(`${listener.url}/slow`)).rejects.toThrow()
  gate.resolve()
  expect(await inFlight).toBe('done')
  await stopped
})

test('a stop does not wait for connections that are only open', async () => {
  const app = await startApp()
  const connection = await openRaw(app.port)
  await connection.write('GET /livez HTTP/1.1\r\nhost: stint\r\n\r\n')
  expect((await connection.answer()).status).toBe(200)
  await app.stop()
  await expect(connection.answer()).rejects.toThrow('closed')
})

test('sends 100 Continue to a client that waits for it before the body', async () => {
  const app = await startApp()
  const connection = await openRaw(app.port)
  const body = '{"process":"p"}'
  await connection.write(
    `POST /v1/start HTTP/1.1\r\nhost: stint\r\nx-stint-api-key: ${app.keys.writer}\r\n` +
      `content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  expect((await connection.answer()).status).toBe(100)
  await connection.write(body)
  expect((await connection.answer()).status).toBe(201)
  connection.close()
  await app.stop()
})

test('an error outside the app is a problem like any other', async () => {
  const app = new Elysia()
    .onError(() => {
      throw new Error('inside the error handler')
    })
    .get('/', () => {
      throw new Error('inside')
    })
  const listener = await listen(app, onLoopback)
  const response = await fetch(listener.url)
  expect(response.status).toBe(500)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(await response.json()).toMatchObject({ code: 'internal', detail: expect.not.stringContaining('inside') })
  await listener.stop()
})

test('the peer of a request is the remote address', async () => {
  let peer: string | undefined
  const app = new Elysia().get('/', ({ request }) => {
    peer = listener.peerOf(request)
    return 'ok'
  })
  const listener = await listen(app, onLoopback)
  await fetch(listener.url)
  expect(peer).toBe('127.0.0.1')
  await listener.stop()
})

test('an IPv6 address has brackets in the URL', async () => {
  const listener = await listen(new Elysia().get('/', 'six'), { ...onLoopback, host: '::1' })
  expect(listener.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect(await (await fetch(listener.url)).text()).toBe('six')
  await listener.stop()
})
