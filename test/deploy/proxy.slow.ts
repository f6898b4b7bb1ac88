// The lines of the page "Behind a proxy" in the real Caddy and the real nginx, which end TLS: signing in, a long body, and the
// caller's address. Traefik's labels were read once by the parser of Traefik 3.5, which is all that could be had of it.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PASSWORD } from '../support/caller.ts'
import { createCertificate } from '../support/certificate.ts'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const PAGE = readRepo('src/deploy/proxy.md')
const BODY_BYTES = 5 * 2 ** 20

interface Proxied {
  readonly dir: string
  readonly port: number
  readonly stint: string
}

const blockOf = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(PAGE)![1]!

/** Each writes its configuration and returns the command. */
const PROXIES = {
  caddy({ dir, port, stint }: Proxied) {
    const site = blockOf('caddyfile')
      .replace('stint.example.com', `localhost:${port}`)
      .replace('127.0.0.1:7070', new URL(stint).host)
    // for localhost it makes a certificate of its own
    writeFileSync(join(dir, 'Caddyfile'), `{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n}\n${site}`)
    return ['caddy', 'run', '--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile']
  },
  nginx({ dir, port, stint }: Proxied) {
    const { certPath, keyPath } = createCertificate(dir, 'stint')
    const server = blockOf('nginx')
      .replace('443', String(port))
      .replace('stint.example.com', 'localhost')
      .replace('/etc/nginx/stint.pem', certPath)
      .replace('/etc/nginx/stint.key', keyPath)
      .replace('http://127.0.0.1:7070', stint)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${dir}/${name};`,
    )
    writeFileSync(
      join(dir, 'nginx.conf'),
      `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${dir}/pid; error_log ${dir}/error; events {}\nhttp { access_log off; ${temporary.join(' ')} ${server} }`,
    )
    return ['nginx', '-e', join(dir, 'error'), '-c', join(dir, 'nginx.conf')]
  },
} as const

describe.each(['caddy', 'nginx'] as const)('behind %s', (kind) => {
  test.skipIf(missing(kind) !== undefined)(
    'a person signs in, and a long body and the address arrive',
    async () => {
      const [dir, port] = [tempDir(kind), takePort()]
      const origin = `https://localhost:${port}`
      await using stint = createStintProcess({
        ...STORES_AWAY,
        ...{ TRUST_PROXY: '1', PUBLIC_URL: origin, ALLOWED_HOSTS: 'localhost', SETUP_CODE: 'a setup code' },
      })
      await stint.start()
      const proxy = Bun.spawn(PROXIES[kind]({ dir, port, stint: stint.url }), {
        ...{ stdout: 'ignore', stderr: 'ignore' },
        env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
      })
      const call = (path: string, init: RequestInit = {}) =>
        fetch(origin + path, { ...init, tls: { rejectUnauthorized: false } })
      try {
        await until('it forwards', async () => (await call('/readyz').catch(() => undefined))?.ok === true)
        const headers = { 'content-type': 'application/json', origin }
        const person = { email: 'ada@example.com', password: PASSWORD }
        const made = await call('/api/accounts', {
          ...{ method: 'POST', headers, body: JSON.stringify({ ...person, setup_code: 'a setup code' }) },
        })
        expect(made.status).toBe(201)
        const signedIn = await call('/api/session', { method: 'POST', headers, body: JSON.stringify(person) })
        expect(signedIn.status).toBe(201)
        const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
        expect(cookie).toStartWith('__Host-stint_session=')
        const { entries } = (await (await call('/api/audit', { headers: { cookie } })).json()) as {
          entries: { address: string }[]
        }
        expect(entries[0]!.address).toMatch(/^(127\.0\.0\.1|::1)$/)

        const pingKey = await call('/api/keys', {
          ...{ method: 'POST', body: JSON.stringify({ name: 'ping', scopes: ['ping'] }) },
          headers: { ...headers, cookie },
        })
        const { key } = (await pingKey.json()) as { key: { secret: string } }
        const pinged = await call(`/ping/${key.secret}/backup/log`, { method: 'POST', body: 'x'.repeat(BODY_BYTES) })
        expect(pinged.status).toBe(200)
      } finally {
        proxy.kill()
        await proxy.exited
      }
    },
    60_000,
  )
})
