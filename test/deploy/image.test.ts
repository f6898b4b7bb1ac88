// The Dockerfile without a daemon: its steps are run in a clean directory that holds only what .dockerignore lets through; then the program runs as in the
// image: a user without rights, only DATA_DIR writable, no chdb.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ClickHouseBridge, startClickHouseBridge } from '../support/clickhouse-bridge.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { tempDir } from '../support/temp-dir.ts'

const ROOT = join(import.meta.dir, '../..')
const NOBODY = 65_534
const READY_WITHIN_MS = 60_000
const isRoot = process.getuid!() === 0

const dockerfile = readFileSync(join(ROOT, 'src/deploy/Dockerfile'), 'utf8')
const stages = Object.fromEntries(
  [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$([\s\S]*?)(?=^FROM |$(?![\s\S]))/gm)].map(([, name, body]) => [
    name!,
    body!,
  ]),
)
const dependencies = stages.dependencies!
const image = stages.base! + stages.stint!
const steps = (stage: string, kind: string): string[][] =>
  [...stage.matchAll(new RegExp(`^${kind} (.*)$`, 'gm'))].map(([, rest]) => rest!.split(' '))
const json = (stage: string, kind: string): string[] =>
  JSON.parse(new RegExp(`^${kind} (\\[.*\\])$`, 'm').exec(stage)![1]!)

const dir = tempDir('image')
const app = join(dir, 'app')
const dataDir = join(dir, 'data')
const tmp = join(dir, 'tmp')
const env = Object.fromEntries(
  steps(image, 'ENV')
    .flat()
    .map((pair) => pair.split('=') as [string, string]),
)
const running: Bun.Subprocess[] = []

/** As the image's user would: without rights, and without the rights to get any. */
function asNobody(command: string[], more: Record<string, string>): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  const drop = [
    'setpriv',
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
  ]
  const [bun, ...args] = command
  expect(bun).toBe('bun')
  const child = Bun.spawn([...(isRoot ? drop : []), process.execPath, ...args], {
    cwd: app,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: tmp,
      TMPDIR: tmp,
      ...env,
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      ...more,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.push(child)
  return child
}

const output = async ({ stdout, stderr }: Bun.Subprocess<'ignore', 'pipe', 'pipe'>) =>
  (await Promise.all([new Response(stdout).text(), new Response(stderr).text()])).join('')

beforeAll(async () => {
  // the build's context is what .dockerignore does not keep out
  const allowed = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .match(/^!.*$/gm)!
    .map((line) => line.slice(1))
  const copy = (paths: string[]) => {
    for (const path of paths.slice(0, -1)) {
      expect(allowed).toContain(path)
      cpSync(join(ROOT, path), join(app, path), { recursive: true })
    }
  }
  mkdirSync(app)
  for (const paths of steps(dependencies, 'COPY')) copy(paths)
  const [install] = steps(dependencies, 'RUN')
  const installed = Bun.spawnSync([process.execPath, ...install!.slice(1)], { cwd: app })
  expect([installed.exitCode, installed.stderr.toString()]).toEqual([0, expect.any(String)])
  for (const paths of steps(image, 'COPY')) if (!paths[0]!.startsWith('--from=')) copy(paths)
  for (const path of [dir, dataDir, tmp]) {
    mkdirSync(path, { recursive: true })
    chmodSync(path, path === dir ? 0o755 : 0o777)
  }
  Bun.spawnSync(['chmod', '-R', 'a-w,a+rX', app])
})

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  Bun.spawnSync(['chmod', '-R', 'u+w', app])
  rmSync(dir, { recursive: true, force: true })
})

test('holds what the program needs, and neither the embedded engine nor what only tests need', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(app, 'package.json'), 'utf8'),
  )
  const isThere = (name: string) => existsSync(join(app, 'node_modules', name))
  expect(Object.keys(dependencies).filter((name) => !isThere(name))).toEqual([])
  expect(Object.keys(optionalDependencies)).toEqual(['chdb'])
  const others = [...Object.keys(optionalDependencies), ...Object.keys(devDependencies)]
  expect(others.filter(isThere)).toEqual(['typescript']) // which Elysia asks for as its peer
  expect(existsSync(join(app, 'test'))).toBe(false)
})

test('the target `embedded` differs only by the optional dependencies', () => {
  expect(stages['dependencies-embedded']!.trim()).toBe('RUN bun install --frozen-lockfile --production')
  expect(stages.embedded!.replace('dependencies-embedded', 'dependencies').trim()).toBe(stages.stint!.trim())
  expect(Object.keys(stages).at(-1)).toBe('stint') // what a build without --target makes
})

test('exits and names the missing setting without CLICKHOUSE_URL', async () => {
  const child = asNobody(json(image, 'CMD'), { PORT: '0' })
  const said = await output(child)
  expect(await child.exited).toBe(1)
  expect(said).toContain('CLICKHOUSE_URL')
  expect(said).toContain('chdb')
})

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('with the stores', () => {
  let clickhouse: ClickHouseBridge
  let settings: Record<string, string>
  beforeAll(async () => {
    const bucket = await (await influxd()).freshBucket()
    clickhouse = await startClickHouseBridge()
    const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const port = String(probe.port)
    probe.stop(true)
    settings = {
      PORT: port,
      INFLUX_URL: bucket.url,
      INFLUX_TOKEN: bucket.token,
      INFLUX_ORG: bucket.org,
      INFLUX_BUCKET: bucket.bucket,
      CLICKHOUSE_URL: clickhouse.url,
      CLICKHOUSE_USER: clickhouse.user,
      CLICKHOUSE_PASSWORD: clickhouse.password,
      CLICKHOUSE_DATABASE: clickhouse.database,
    }
  })
  afterAll(() => clickhouse?.stop())

  test('becomes ready and healthy, serves, and stops on SIGTERM', async () => {
    const isHealthy = async () => (await asNobody(json(image, 'HEALTHCHECK .*CMD'), settings).exited) === 0
    expect(await isHealthy()).toBe(false)

    const child = asNobody(json(image, 'CMD'), settings)
    const said = output(child)
    const url = `http://127.0.0.1:${settings.PORT}`
    const deadline = performance.now() + READY_WITHIN_MS
    const isUp = () => fetch(`${url}/readyz`).then(({ ok }) => ok, () => false) // biome-ignore format: short
    while (!(await isUp())) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(await said)
      await Bun.sleep(50)
    }
    expect(await isHealthy()).toBe(true)

    for (const path of ['/', '/swagger', '/swagger/json', '/metrics'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(await said).not.toMatch(/EACCES|EROFS|read-only|permission denied/i)
  })

  test.skipIf(!isRoot)('can write only to DATA_DIR', () => {
    const writable = Bun.spawnSync([
      'setpriv',
      `--reuid=${NOBODY}`,
      `--regid=${NOBODY}`,
      '--clear-groups',
      'find',
      dir,
      '-writable',
    ])
    const found = writable.stdout.toString().trim().split('\n')
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter((path) => !path.startsWith(dataDir) && !path.startsWith(tmp))).toEqual([])
    expect(found.filter((path) => path.startsWith(`${tmp}/`))).toEqual([])
  })
})
