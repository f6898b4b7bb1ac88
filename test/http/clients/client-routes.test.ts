// `/clients` of the real service: the files as they are, caches, and whose address the lines name.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SERVED_NAMES } from '../../../src/http/clients/served-files.ts'
import { readVersion } from '../../../src/version.ts'
import { startApp, useApp } from '../../support/app.ts'
import { findDeno, findNode, findPython } from '../../support/needs.ts'
import { readRepo } from '../../support/readme.ts'
import { startReceiver } from '../../support/receiver.ts'
import { tempDir } from '../../support/temp-dir.ts'

const app = await useApp()
const { version } = readVersion()
const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

test('every file is served without a key, with an ETag, as the page lists its hash', async () => {
  const page = await app.fetch('/clients')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text).toContain(`Clients of Stint ${version}`)
  for (const name of SERVED_NAMES) {
    const { status, headers, text } = await app.fetch(`/clients/${name}`)
    expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'public, no-cache'])
    expect(page.text).toContain(`${hashOf(text)}  ${name}`)
    const again = await app.fetch(`/clients/${name}`, { headers: { 'if-none-match': headers.get('etag')! } })
    expect([name, again.status, again.text]).toEqual([name, 304, ''])
  }
  expect((await app.fetch('/clients/stint.sh')).text).toBe(
    readRepo('src/client/sh/stint.sh').replaceAll('@VERSION@', version),
  )
  expect((await app.fetch('/clients/stint.py')).text).toContain(`__version__ = "${version}"`)
  expect((await app.fetch('/clients/stint.rb')).status).toBe(404)
})

describe('the address in the lines', () => {
  const EXAMPLE = 'https://stint.example.com'
  test.each<[env: Record<string, string>, addressOf: Record<string, string>]>([
    [{ PUBLIC_URL: 'https://stint.example.org/base' }, { 'evil.example': 'https://stint.example.org/base' }],
    [
      { HOST: '0.0.0.0', ALLOWED_HOSTS: 'stint.lan' },
      {
        'stint.lan:7070': 'http://stint.lan:7070',
        'localhost:7070': 'http://localhost:7070',
        'evil.example': EXAMPLE,
        'evil.example"><script>': EXAMPLE,
      },
    ],
  ])('%j, by Host: %j', async (env, addressOf) => {
    await using other = await startApp({ env })
    for (const [host, address] of Object.entries(addressOf)) {
      const { text } = await other.fetch('/clients', { headers: { host } })
      expect([host, /curl -fsSo stint.sh (\S+)\/clients\/stint.sh/.exec(text)![1]]).toEqual([host, address])
      expect(text.includes('is an example: replace it')).toBe(address === EXAMPLE)
      expect(text.includes('over plain http')).toBe(address.startsWith('http:'))
      expect(text).not.toContain('evil')
    }
  })
})

describe('the files run', () => {
  const stint = startReceiver(() => Response.json({ accepted: 2, refused: 0, items: [] }, { status: 201 }))
  afterAll(stint.close)
  const env = { PATH: process.env.PATH!, STINT_URL: stint.url, STINT_API_KEY: 'k' }
  const runtimes: [name: string, command: string[] | undefined, file: string, program: string][] = [
    ['Node', findNode() ? [findNode()!] : undefined, 'stint.js', 'job.mjs'],
    ['Bun', [process.execPath], 'stint.js', 'job.mjs'],
    ['Deno', findDeno() ? [findDeno()!, 'run', '--allow-all'] : undefined, 'stint.js', 'job.mjs'],
    ['Python', findPython() ? [findPython()!] : undefined, 'stint.py', 'job.py'],
  ]

  test.each(runtimes)('in %s', async (name, command, file, program) => {
    if (command === undefined) return
    const dir = tempDir('served')
    await Bun.write(join(dir, file), (await app.fetch(`/clients/${file}`)).text)
    const source = program.endsWith('.py')
      ? 'import stint\nwith stint.run("served") as run:\n    run.metrics({"rows": 42})\n'
      : `import { metrics, run } from './stint.js'\nawait run('served', async () => metrics({ rows: 42 }))\n`
    await Bun.write(join(dir, program), source)
    stint.requests.length = 0
    const child = Bun.spawn([...command, program], { cwd: dir, env, stderr: 'pipe' })
    expect([name, await child.exited, await new Response(child.stderr).text()]).toEqual([name, 0, ''])
    expect(stint.requests.length).toBeGreaterThan(0)
  })
})
