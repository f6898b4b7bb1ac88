// What `bun run pack` writes: the same bytes each time, and each package works when it is installed from its file into
// an empty directory.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import packageJson from '../../package.json' with { type: 'json' }
import { bundleClient } from '../../src/deploy/pack/npm-packages.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { findMypy, findNode, findPython, missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dir, '../..')
const PACK = join(ROOT, 'src/deploy/pack/pack.ts')
const HERE = `linux-${arch()}`
const PARTS = ['client', 'server', ...(missing('python') === undefined ? ['python'] : []), 'image', 'deploy', HERE]
const dir = tempDir('pack')
const dist = join(dir, 'dist')
const MAX_CLIENT_BYTES = 10 * 1024

let app: TestApp
beforeAll(async () => {
  await run([process.execPath, PACK, ...PARTS], dir)
  app = await startApp()
})
afterAll(() => app.stop())

/** Throws with its output when it fails. */
async function run(command: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH, HOME, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${output}${errors}`)
  return output
}

const settings = () => ({ STINT_URL: app.url, STINT_API_KEY: app.keys.writer })
const find = (pattern: RegExp) => join(dist, readdirSync(dist).find((name) => pattern.test(name))!)
const newDir = (name: string) => {
  const path = join(dir, name)
  mkdirSync(path)
  return path
}
/** A virtual environment with the wheel, made once. */
let venv: Promise<string> | undefined
async function installWheel(): Promise<string> {
  const cwd = newDir('venv')
  await run([findPython()!, '-m', 'venv', '.'], cwd)
  const python = join(cwd, 'bin/python')
  await run([python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-index', find(/\.whl$/)], cwd)
  return python
}
const withWheel = () => (venv ??= installWheel())
const kindsOf = async (process: string) =>
  (await app.events()).filter((it) => it.process === process).map(({ kind }) => kind)

test('the same sources give the same bytes', async () => {
  const again = newDir('again')
  await run([process.execPath, PACK, ...PARTS], again)
  const names = readdirSync(dist)
  expect(readdirSync(join(again, 'dist'))).toEqual(names)
  for (const name of names)
    expect(`${name} ${Bun.hash(readFileSync(join(again, 'dist', name)))}`).toBe(
      `${name} ${Bun.hash(readFileSync(join(dist, name)))}`,
    )
})

test('each file has its checksum', async () => {
  const sums = new Map(
    readFileSync(join(dist, 'SHA256SUMS'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').reverse() as [string, string]),
  )
  const names = readdirSync(dist).filter((name) => name !== 'SHA256SUMS')
  expect([...sums.keys()].sort()).toEqual(names.sort())
  for (const name of names) {
    expect(
      createHash('sha256')
        .update(readFileSync(join(dist, name)))
        .digest('hex'),
    ).toBe(sums.get(name)!)
  }
})

test('an unknown part is named', () => {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, PACK, 'everything'], { cwd: newDir('unknown') })
  expect(exitCode).toBe(2)
  expect(stderr.toString()).toStartWith(
    'everything: no such part; there are client, server, python, image, deploy, linux-x64',
  )
})

test(`the client has at most ${MAX_CLIENT_BYTES} bytes, gzipped`, async () => {
  expect(Bun.gzipSync(await bundleClient(), { level: 9 }).length).toBeLessThanOrEqual(MAX_CLIENT_BYTES)
})

describe.skipIf(missing('node') !== undefined)('from npm', () => {
  test('the client runs in node, and its types hold', async () => {
    const cwd = newDir('npm-client')
    await Bun.write(join(cwd, 'package.json'), '{"private":true,"type":"module"}')
    await run(['npm', 'install', '--offline', '--no-audit', '--no-fund', find(/^stint-client.*tgz$/)], cwd)
    expect(readdirSync(join(cwd, 'node_modules'))).toEqual(expect.arrayContaining(['@stint']))
    await Bun.write(
      join(cwd, 'job.ts'),
      `import { createStint, type DroppedEvent, flush, metrics, type Run, run } from '@stint/client'
       const text: string = await run('packed', { meta: 'npm' }, async (r: Run) => { metrics({ a: 1 }); return r.uid })
       const settled: boolean = await flush()
       // @ts-expect-error
       metrics({ a: 'one' })
       createStint({ onDrop: (event: DroppedEvent, reason: string) => console.log(event.kind, reason) })
       console.log(typeof text, settled)`,
    )
    const flags = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--target',
      'esnext',
      '--module',
      'nodenext',
      '--types',
      'bun-types',
    ]
    const types = ['--typeRoots', join(ROOT, 'node_modules')]
    await run([join(ROOT, 'node_modules/.bin/tsc'), ...flags, ...types, 'job.ts'], cwd)
    await Bun.write(
      join(cwd, 'job.js'),
      `import { flush, metrics, run } from '@stint/client'
       await run('packed', { meta: 'npm' }, async () => metrics({ a: 1 }))
       console.log(await flush())`,
    )
    expect(await run([findNode()!, 'job.js'], cwd, settings())).toBe('true\n')
    expect(await kindsOf('packed')).toEqual(['start', 'metrics', 'end'])
  })

  test('a CommonJS project has its types, and shares one client with modules', async () => {
    const cwd = newDir('npm-cjs')
    await Bun.write(join(cwd, 'package.json'), '{"private":true}')
    await run(['npm', 'install', '--offline', '--no-audit', '--no-fund', find(/^stint-client.*tgz$/)], cwd)
    await Bun.write(
      join(cwd, 'job.ts'),
      `import { createStint, type Run, run } from '@stint/client'
       const text: string = run('packed', (r: Run) => r.uid)
       // @ts-expect-error
       createStint({ url: 7070 })
       export = text`,
    )
    const flags = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext']
    const types = ['--types', 'bun-types', '--typeRoots', join(ROOT, 'node_modules')]
    await run([join(ROOT, 'node_modules/.bin/tsc'), ...flags, ...types, '--esModuleInterop', 'job.ts'], cwd)
    await Bun.write(
      join(cwd, 'job.js'),
      `const { metrics, run } = require('@stint/client')
       import('@stint/client').then((module) => {
         console.log(module.run === run)
         run('required', () => metrics({ a: 1 }))
         process.exit()
       })`,
    )
    expect(await run([findNode()!, 'job.js'], cwd, settings())).toBe('true\n')
    expect(await kindsOf('required')).toEqual(['start', 'metrics', 'end'])
  })

  test('the server starts under node, and its command line asks it', async () => {
    const cwd = newDir('npm-server')
    await Bun.write(join(cwd, 'package.json'), '{"private":true}')
    await run([process.execPath, 'add', '--ignore-scripts', find(/^stint-server.*tgz$/)], cwd)
    const installed = ['node_modules/*/package.json', 'node_modules/@*/*/package.json'].flatMap((path) => [
      ...new Glob(path).scanSync({ cwd, followSymlinks: true }),
    ])
    const manifests = await Promise.all(installed.map((path) => Bun.file(join(cwd, path)).json()))
    const isRun = (it: { scripts?: Record<string, string> }) =>
      ['preinstall', 'install', 'postinstall'].some((name) => (it.scripts?.[name] ?? 'node -e ""') !== 'node -e ""')
    expect(manifests.length).toBeGreaterThan(20)
    expect(manifests.filter(isRun).map(({ name }) => name)).toEqual([])
    const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { port } = probe
    probe.stop(true)
    const { PATH = '', HOME = '' } = process.env
    const bin = (name: string) => [findNode()!, join(cwd, 'node_modules/.bin', name)]
    const server = Bun.spawn(bin('server'), {
      cwd,
      env: { PATH, HOME, PORT: String(port), DATA_DIR: join(cwd, 'data') },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const log = Promise.all([new Response(server.stdout).text(), new Response(server.stderr).text()])
    try {
      const url = `http://127.0.0.1:${port}`
      await until('the server is ready', async () => {
        if (server.exitCode !== null) throw new Error((await log).join(''))
        return fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      })
      expect(await run([...bin('stint'), '--version'], cwd, { STINT_URL: url })).toMatch(
        /^\d+\.\d+\.\d+( \([0-9a-f]+\))?\n$/,
      )
      expect((await fetch(`${url}/`)).status).toBe(200)
      expect((await fetch(`${url}/swagger/assets/swagger-ui-bundle.js`)).status).toBe(200)
    } finally {
      server.kill('SIGTERM')
      await server.exited
    }
    expect(server.exitCode).toBe(0)
    expect((await log).join('')).toContain('npx stint account create')
  })
})

describe.skipIf(missing('python') !== undefined)('from PyPI', () => {
  test('the wheel installs and runs', async () => {
    const name = 'the wheel'
    const cwd = newDir('pip')
    const python = await withWheel()
    const code = `import stint\nwith stint.run("${name}"): stint.metrics({"a": 1})\nstint.flush(20)\nprint(stint.__file__.startswith("${dir}/venv/"))`
    expect(await run([python, '-c', code], cwd, settings())).toBe('True\n')
    expect(await kindsOf(name)).toEqual(['start', 'metrics', 'end'])
    expect(await run([python, '-m', 'pip', 'show', 'stint-client'], cwd)).toContain(`Version: ${packageJson.version}`)
  })
})

test.skipIf(missing('mypy') !== undefined)('the wheel has types that pass mypy --strict', async () => {
  const cwd = newDir('mypy')
  const python = await withWheel()
  const code = `
import stint

@stint.timed
async def fetch(page: int) -> str:
    return str(page)

@stint.timed("hourly report", meta="pdf")
def report(pages: int) -> list[int]:
    return [pages]

def drop(event: dict[str, object], reason: str) -> None:
    print(event, reason)

async def main() -> str:
    with stint.run("job") as run:
        run.metrics({"rows": 1, "seconds": 1.5})
        return await fetch(1)

client = stint.Stint(on_drop=drop)
settled: bool = client.flush(timeout=2)
pages: list[int] = report(1)
`
  const mypy = [findMypy()!, '--strict', '--python-executable', python]
  await Bun.write(join(cwd, 'job.py'), code)
  expect(await run([...mypy, 'job.py', join(ROOT, 'src/client/python/stint.py')], cwd)).toContain('Success')
  await Bun.write(join(cwd, 'wrong.py'), `${code}\nreport("one")\nstint.metrics(1)\n`)
  await expect(run([...mypy, 'wrong.py'], cwd)).rejects.toThrow('Found 2 errors')
})

test('the binary of this platform runs without Bun and sends a job', async () => {
  const binary = find(new RegExp(`-${HERE}$`))
  expect(readFileSync(binary).includes(ROOT)).toBe(false) // another clone gives the same bytes
  expect(readFileSync(binary).subarray(0, 4).toString('latin1')).toBe('\x7fELF')
  const state = newDir('state')
  await run([binary, 'exec', '--process', 'by binary', '--', 'true'], dir, {
    ...settings(),
    XDG_STATE_HOME: state,
    PATH: '/usr/bin:/bin',
  })
  await until('both marks are there', async () => new Set(await kindsOf('by binary')).size === 2)
})
