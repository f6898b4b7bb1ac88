// Real certificates, made by openssl, are replaced under a running server while clients use it.
import { describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Elysia } from 'elysia'
import pino from 'pino'
import { type Listener, listen } from '../../src/http/listen.ts'
import { createCertificate } from '../support/certificate.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })
const dir = tempDir('renew-tls')
const paths = { certPath: join(dir, 'tls.crt'), keyPath: join(dir, 'tls.key') }

for (const name of ['old', 'new', 'third']) createCertificate(dir, name)

function install(name: string): void {
  for (const [kind, path] of [
    ['crt', paths.certPath],
    ['key', paths.keyPath],
  ] as const) {
    copyFileSync(join(dir, `${name}.${kind}`), `${path}.next`)
    renameSync(`${path}.next`, path)
  }
}

/** The name in the certificate that a new connection is shown. */
const certificateOf = ({ url }: Listener) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })

const renewed = (listener: Listener, name: string) =>
  until(`the certificate is ${name}`, async () => (await certificateOf(listener).catch(() => '')) === name)
const start = (app: Elysia, more: object = {}) =>
  listen(app as never, { host: '127.0.0.1', port: 0, tls: paths, log, tlsCheckEveryMs: 20, ...more })
const insecure = { tls: { rejectUnauthorized: false } }

describe('a renewed certificate', () => {
  test('is used for new connections, and requests in flight finish', async () => {
    install('old')
    const gate = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    let peer: string | undefined
    const app = new Elysia().get('/slow', async ({ request }) => {
      entered.resolve()
      await gate.promise
      peer = listener.peerOf(request)
      return 'done'
    })
    const listener = await start(app as never)
    expect(await certificateOf(listener)).toBe('old')
    const inFlight = fetch(`${listener.url}/slow`, insecure).then((response) => response.text())
    await entered.promise
    install('new')
    await renewed(listener, 'new')
    for (let i = 0; i < 20; i++) expect(await certificateOf(listener)).toBe('new')
    gate.resolve()
    expect(await inFlight).toBe('done')
    expect(peer).toBe('127.0.0.1')
    await listener.stop()
    await expect(certificateOf(listener)).rejects.toThrow()
  })

  test('is found behind a symbolic link that is swapped, as Kubernetes does', async () => {
    for (const kind of ['crt', 'key']) symlinkSync(join(dir, `old.${kind}`), join(dir, `link.${kind}`))
    const linked = { certPath: join(dir, 'link.crt'), keyPath: join(dir, 'link.key') }
    const listener = await start(new Elysia(), { tls: linked })
    for (const kind of ['crt', 'key']) {
      symlinkSync(join(dir, `third.${kind}`), join(dir, 'swap'))
      renameSync(join(dir, 'swap'), join(dir, `link.${kind}`))
    }
    await renewed(listener, 'third')
    await listener.stop()
  })

  test('an invalid certificate is logged once and the old one stays in use until it is valid', async () => {
    install('old')
    const logged: string[] = []
    const listener = await start(new Elysia(), {
      log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    })
    copyFileSync(join(dir, 'new.crt'), paths.certPath) // its key is still the old one
    await until('the reason is logged', () => logged.length > 0)
    expect(JSON.parse(logged[0]!)).toMatchObject({
      msg: 'TLS certificate not renewed: the old one stays in use',
      reason: expect.stringContaining('cannot be used together'),
    })
    writeFileSync(paths.certPath, 'half of a certif')
    await until('the other reason is logged', () => logged.length > 1)
    expect(await certificateOf(listener)).toBe('old')
    install('new')
    await renewed(listener, 'new')
    expect(logged.filter((line) => line.includes('contains no CERTIFICATE'))).toHaveLength(1)
    await listener.stop()
  })

  test('costs clients at most one retry, with and without reconnects', async () => {
    install('old')
    let asked = 0
    const app = new Elysia().post(
      '/',
      async ({ request }) => {
        asked++
        return await request.text()
      },
      { parse: 'none' },
    )
    const listener = await start(app as never)
    const clients = Bun.spawn([process.execPath, '-e', CLIENTS, listener.url], { stdout: 'pipe' })
    let renewals = 0
    let hasEnded = false
    void clients.exited.then(() => {
      hasEnded = true
    })
    for (; !hasEnded; renewals++) {
      const name = renewals % 2 === 0 ? 'new' : 'old'
      install(name)
      await renewed(listener, name)
      const before = asked
      await until('the clients go on', () => hasEnded || asked > before + 400)
    }
    const { answered, retried } = JSON.parse(await new Response(clients.stdout).text())
    expect(answered).toBe(16 * 200)
    expect(renewals).toBeGreaterThan(2)
    expect(retried).toBeLessThanOrEqual(16 * renewals)
    await listener.stop()
  })
})

/** Prints how many requests were answered, and how many of them at the second attempt; fails when a second attempt fails. */
const CLIENTS = `
let answered = 0, retried = 0
async function send(id, body) {
  const headers = id % 2 === 0 ? { connection: 'close' } : {}
  const response = await fetch(process.argv.at(-1), { method: 'POST', body, headers, tls: { rejectUnauthorized: false } })
  const text = await response.text()
  if (text !== body) throw new Error('another answer: ' + response.status + ' ' + text)
  answered++
}
await Promise.all(Array.from({ length: 16 }, async (_, id) => {
  for (let i = 0; i < 200; i++) {
    const body = id + ' ' + i
    await send(id, body).catch(async () => { retried++; await Bun.sleep(50); await send(id, body) })
  }
}))
console.log(JSON.stringify({ answered, retried }))
`

test('a second start on the same port fails with TLS as well', async () => {
  install('old')
  const first = await start(new Elysia())
  const port = Number(new URL(first.url).port)
  await expect(start(new Elysia(), { port })).rejects.toThrow('the port is in use')
  await first.stop()
  await (await start(new Elysia(), { port })).stop()
})
