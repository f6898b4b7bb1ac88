// Both targets of the Dockerfile, built for real and run as the guide promises: as the user `bun`, on a read-only root, with one volume.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import packageJson from '../../package.json' with { type: 'json' }
import { type ClickHouseBridge, startClickHouseBridge } from '../support/clickhouse-bridge.ts'
import {
  type Builder,
  type Container,
  createVolume,
  type Image,
  openBuilder,
  startContainer,
} from '../support/containers.ts'
import { influxd } from '../support/influxd.ts'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { callerOf } from '../support/process.ts'
import { readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const PASSWORD = 'correct horse battery staple'
const { services } = YAML.parse(readRepo('docker-compose.yml')) as {
  services: { stint: { environment: string[]; stop_grace_period: string } }
}
const { environment, stop_grace_period } = services.stint
/** Each check starts a process in the container, which competes with the start that it waits for. */
const BETWEEN_CHECKS_MS = 1_000
const HEALTHY_WITHIN_MS = 300_000
const GRACE_MS = Number.parseInt(stop_grace_period, 10) * 1_000

describe.skipIf([missing('buildah'), missing('chdb')].some((reason) => reason !== undefined))('the image', () => {
  let builder: Builder
  let clickhouse: ClickHouseBridge | undefined
  beforeAll(async () => {
    builder = await openBuilder()
  })
  afterAll(async () => {
    await clickhouse?.stop()
    await builder?.close()
  })

  async function isHealthy({ config }: Image, container: Container, env: Record<string, string> = {}) {
    const [kind, ...check] = config.Healthcheck.Test
    expect(kind).toBe('CMD')
    return (await container.exec(check, { env })).exitCode === 0
  }

  async function start(image: Image, options: Parameters<typeof startContainer>[1]): Promise<Container> {
    const container = startContainer(image, options)
    await until(
      'the container is healthy',
      () => {
        if (container.log().includes('"fatal"')) throw new Error(container.log())
        return isHealthy(image, container)
      },
      HEALTHY_WITHIN_MS,
      BETWEEN_CHECKS_MS,
    ).catch((cause) => {
      throw new Error(container.log(), { cause })
    })
    return container
  }

  async function stop(container: Container): Promise<void> {
    const since = performance.now()
    await container.signal('TERM')
    expect(await container.ended()).toBe(0)
    expect(performance.now() - since).toBeLessThan(GRACE_MS)
    expect(container.log()).toContain('"stopped"')
    // whether a container may read its cgroup depends on the host; the engine then does without
    const log = container.log().replace(/.*\/sys\/fs\/cgroup\/.*/g, '')
    expect(log).not.toMatch(/EACCES|EROFS|read-only|permission denied/i)
  }

  /** Used as its guide says, stopped, and started again on the same volume. */
  async function prove(image: Image, options: { env: Record<string, string>; secrets?: string }) {
    expect(image.config).toMatchObject({ User: 'bun', Volumes: { '/data': {} } })
    const port = String(takePort())
    const url = `http://127.0.0.1:${port}`
    const volumes = {
      '/data': createVolume(image, '/data'),
      ...(options.secrets !== undefined && { '/run/secrets/stint:ro': options.secrets }),
    }
    const how = { volumes, env: { ...options.env, PORT: port } }
    const first = await start(image, how)
    expect(await isHealthy(image, first, { PORT: '1' })).toBe(false)

    expect((await first.exec(['id', '-un'])).text).toBe('bun\n')
    const writable = (await first.exec(['find', '/', '-xdev', '-writable', '-not', '-path', '/proc/*'])).text
    expect(
      writable
        .split('\n')
        .filter((path) => path.startsWith('/'))
        .sort(),
    ).toEqual(['/data', '/tmp'])
    expect((await first.exec(['sh', '-c', 'touch /data/a /tmp/a && rm /data/a'])).exitCode).toBe(0)
    expect(
      (await first.exec(['grep', '-E', 'Cap(Eff|Bnd)|NoNewPrivs', '/proc/1/status'])).text.match(/\S+$/gm),
    ).toEqual(
      ['0000000000000000', '0000000000000000', '1'], // biome-ignore format: one line
    )

    // the log's hint is a command that works inside this container
    const [, hint] = /create one with `STINT_URL=\S+ ([^`]*)` in this container/.exec(first.log())!
    const code = options.secrets === undefined ? '' : (await first.exec(['cat', '/run/secrets/stint/setup-code'])).text
    const account = ['--email', 'ada@example.com', '--password-stdin', '--json']
    const made = await first.exec([...hint!.replace('…', code).split(' '), ...account], {
      stdin: PASSWORD,
      env: { STINT_URL: url, HOME: '/tmp' },
    })
    const secret = /stint_\w{20,}/.exec(made.text)?.[0]
    expect([made.text, secret]).toEqual([made.text, expect.any(String)])

    const caller = callerOf(url, { account: '', keyId: '', secret: secret! })
    const { commit, version } = (await (await caller.get('/api/health')).json()) as Record<string, string>
    expect({ commit, version }).toEqual({ commit: COMMIT.slice(0, 12), version: packageJson.version })
    const event = { process: 'nightly', uid: 'one' }
    for (const path of ['start', 'end']) expect((await caller.post(`/v1/${path}`, event)).status).toBe(201)
    const states = async () => {
      const { timings } = (await (await caller.get('/api/timings')).json()) as { timings: { state: string }[] }
      return timings.map(({ state }) => state)
    }
    await until('the run is stored', async () => Bun.deepEquals(await states(), ['completed']))
    await stop(first)

    const second = await start(image, how)
    expect(second.log()).not.toContain('no account yet')
    expect(await states()).toEqual(['completed'])
    expect((await caller.post('/v1/start', event)).status).toBe(201)
    await stop(second)
  }

  const modules = ({ files }: Image) => readdirSync(join(files, 'app/node_modules'))
  const others = ['typescript', ...Object.keys(packageJson.devDependencies)]
  /** What Elysia asks for as its peer is there. */
  const needless = (image: Image) => modules(image).filter((name) => name !== 'typescript' && others.includes(name))

  test('of the target `embedded` is a complete Stint', async () => {
    const image = await builder.build('embedded', COMMIT)
    expect(modules(image)).toContain('chdb')
    expect(needless(image)).toEqual([])
    await prove(image, { env: {} })
  })

  test.skipIf(missing('influxd') !== undefined)(
    'of the target `stint` makes the secrets of docker-compose.yml and runs as its service, with both stores',
    async () => {
      const image = await builder.build('stint', COMMIT)
      expect(modules(image)).toEqual(expect.arrayContaining(Object.keys(packageJson.dependencies).map(topOf)))
      expect(modules(image)).not.toContain('chdb')
      expect([...needless(image), existsSync(join(image.files, 'app/test'))]).toEqual([false])

      const alone = startContainer(image, { volumes: { '/data': createVolume(image, '/data') } })
      expect([await alone.ended(), alone.log()]).toEqual([
        1,
        expect.stringMatching(/chdb is not installed.*CLICKHOUSE_URL/),
      ])

      const secrets = tempDir('secrets')
      const root = { ...image, config: { ...image.config, User: 'root' } }
      const maker = startContainer(root, {
        volumes: { '/secrets': secrets },
        command: ['bun', 'src/deploy/make-secrets.ts', '/secrets'],
      })
      expect([await maker.ended(), maker.log()]).toEqual([0, ''])
      const bucket = await (await influxd()).freshBucket()
      clickhouse = await startClickHouseBridge()
      writeFileSync(join(secrets, 'stint/influx-token'), bucket.token)
      writeFileSync(join(secrets, 'stint/clickhouse-password'), clickhouse.password)
      // whatever umask a server in this process has set: the image's user reads them
      for (const path of ['.', 'stint']) chmodSync(join(secrets, path), 0o755)
      for (const name of readdirSync(join(secrets, 'stint'))) chmodSync(join(secrets, 'stint', name), 0o444)
      const env = {
        // without .env: names without a value are not passed on, nor are secrets in files of the host
        ...Object.fromEntries(
          environment.map((entry) => entry.split('=', 2)).filter(([, value]) => value && value[0] !== '$'),
        ),
        INFLUX_URL: bucket.url,
        INFLUX_ORG: bucket.org,
        INFLUX_BUCKET: bucket.bucket,
        CLICKHOUSE_URL: clickhouse.url,
        CLICKHOUSE_USER: clickhouse.user,
        CLICKHOUSE_DATABASE: clickhouse.database,
      }
      await prove(image, { env, secrets: join(secrets, 'stint') })
    },
  )
})

const topOf = (name: string) => name.split('/')[0]!
