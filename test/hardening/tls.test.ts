// TLS: a certificate created by the test, and clear errors for missing or invalid files.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { startApp } from '../support/app.ts'
import { PASSWORD } from '../support/caller.ts'
import { createCertificate } from '../support/certificate.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('tls')
const files = createCertificate(dir, 'localhost')

const trusting = () => ({ tls: { ca: Bun.file(files.certPath) } }) as RequestInit

test('serves everything over TLS with HSTS, and nothing without TLS', async () => {
  await using app = await startApp({ tls: files })
  expect(app.url).toStartWith('https://')
  for (const [path, status] of [
    ['/livez', 200],
    ['/v1/start', 401],
    ['/none', 404],
    ['/', 200],
  ] as const) {
    const answer = await app.fetch(path, trusting())
    expect([path, answer.status, answer.headers.get('strict-transport-security')]).toEqual([
      path,
      status,
      'max-age=31536000',
    ])
  }
  const signedIn = await app.fetch('/api/session', {
    ...trusting(),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: PASSWORD }),
  })
  expect(signedIn.headers.get('set-cookie')).toEndWith('; Secure')
  await expect(fetch(app.url)).rejects.toThrow() // a certificate that nobody vouches for
  await expect(fetch(app.url.replace('https', 'http'))).rejects.toThrow()
})

test('refuses old versions of TLS', async () => {
  await using app = await startApp({ tls: files })
  const speak = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
    new Promise<string>((resolve) => {
      const socket = connect(
        { port: app.port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: 'TLSv1', maxVersion },
        () => {
          resolve(socket.getProtocol() ?? 'none')
          socket.destroy()
        },
      )
      socket.on('error', () => resolve('refused'))
    })
  expect([await speak('TLSv1.1'), await speak('TLSv1.2'), await speak('TLSv1.3')]).toEqual([
    'refused',
    'TLSv1.2',
    'TLSv1.3',
  ])
})

test('a start without a readable certificate fails with only that line', async () => {
  await using stint = createStintProcess({ TLS_CERT: join(dir, 'none.pem'), TLS_KEY: files.keyPath })
  await stint.launch()
  expect(await stint.ended()).toBe(2) // as for any invalid setting
  const lines = stint
    .log()
    .trim()
    .split('\n')
    .filter((line) => line.includes('TLS_CERT'))
  expect(lines).toHaveLength(1)
  expect(stint.log()).not.toMatch(/ {4}at |PRIVATE KEY-----/)
})
