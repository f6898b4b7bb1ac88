// `/clients` of the real service: the files as they are, caches, and whose address the lines name.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SERVED_NAMES } from '../../../src/http/clients/served-files.ts'
import { readVersion } from '../../../src/version.ts'
import { startApp, useApp } from '../../support/app.ts'
import { findDeno, findNode, findPython } from '../../support/needs.ts'
import { ROOT, readRepo } from '../../support/readme.ts'
import { type RealStint, startRealStint } from '../../support/real-stint.ts'
import { tempDir } from '../../support/temp-dir.ts'

const app = await useApp()
const { version } = readVersion()
/** What npm 11 writes. */
const NPM_INIT = '{"name":"job","version":"1.0.0","main":"index.js","type":"commonjs"}'
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
  let stint: RealStint
  beforeAll(async () => {
    stint = await startRealStint()
  })
  afterAll(() => stint.stop())
  const fetchTo = async (dir: string, name: string) =>
    Bun.write(join(dir, name), (await stint.app.fetch(`/clients/${name}`)).text)
  const runtimes: [name: string, command: string[] | undefined, file: string, program: string][] = [
    ['Node', findNode() ? [findNode()!] : undefined, 'stint.mjs', 'job.mjs'],
    ['Bun', [process.execPath], 'stint.mjs', 'job.mjs'],
    ['Deno', findDeno() ? [findDeno()!, 'run', '--allow-all'] : undefined, 'stint.mjs', 'job.mjs'],
    ['Deno, by the name of 2.0', findDeno() ? [findDeno()!, 'run', '--allow-all'] : undefined, 'stint.js', 'job.mjs'],
    ['Python', findPython() ? [findPython()!] : undefined, 'stint.py', 'job.py'],
  ]

  test.each(runtimes)('in %s, beside the package.json of npm init', async (name, command, file, program) => {
    if (command === undefined) return
    const dir = tempDir('served')
    await fetchTo(dir, file)
    await Bun.write(join(dir, 'package.json'), NPM_INIT)
    const source = program.endsWith('.py')
      ? `import stint\nwith stint.run("${name}") as run:\n    run.metrics({"rows": 42})\n`
      : `import { metrics, run } from './${file}'\nawait run('${name}', async () => metrics({ rows: 42 }))\n`
    await Bun.write(join(dir, program), source)
    const env = { PATH: process.env.PATH!, STINT_URL: stint.url, STINT_API_KEY: stint.key }
    const child = Bun.spawn([...command, program], { cwd: dir, env, stderr: 'pipe' })
    expect([name, await child.exited, await new Response(child.stderr).text()]).toEqual([name, 0, ''])
    expect(await stint.runs(name)).toMatchObject([{ state: 'completed', metrics: { rows: 42 } }])
  })

  test('the compiler finds the types beside the module', async () => {
    const dir = tempDir('served')
    for (const name of ['stint.mjs', 'stint.d.mts']) await fetchTo(dir, name)
    await Bun.write(join(dir, 'package.json'), NPM_INIT)
    await Bun.write(join(dir, 'job.mts'), `import { run } from './stint.mjs'\nrun('job', () => 1).toFixed()\nrun(5)\n`)
    const options = '--noEmit --strict --ignoreConfig --module nodenext --target esnext --types bun-types --typeRoots'
    const words = [join(ROOT, 'node_modules/.bin/tsc'), ...options.split(' '), join(ROOT, 'node_modules'), 'job.mts']
    const { stdout } = Bun.spawnSync([process.execPath, ...words], { cwd: dir })
    expect(stdout.toString().match(/^job\.mts\(.*/gm)).toEqual([expect.stringMatching(/^job\.mts\(3,/)])
  })

  test('the names of 2.0 are the same files', async () => {
    for (const [old, name] of [
      ['stint.js', 'stint.mjs'],
      ['stint.d.ts', 'stint.d.mts'],
    ])
      expect((await app.fetch(`/clients/${old}`)).text).toBe((await app.fetch(`/clients/${name}`)).text)
  })
})
