// docker-compose.yml and what it mounts, as far as they can be judged without a daemon: versions, order, reach, secrets, and every setting known to config.ts.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { readConfig } from '../../src/config.ts'
import { SETTINGS, settingsOf } from '../../src/settings.ts'
import { INFLUX_FACTS } from '../../src/store/influx/open.ts'
import { readSettings } from '../support/read-settings.ts'
import { tempDir } from '../support/temp-dir.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

type Condition = { readonly condition: string; readonly required?: boolean }

interface Service {
  readonly image: string
  readonly build?: unknown
  readonly pull_policy?: string
  readonly profiles?: readonly string[]
  readonly command?: readonly string[]
  readonly depends_on?: Readonly<Record<string, Condition>>
  readonly env_file?: unknown
  readonly environment?: Readonly<Record<string, string | null>>
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] }
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly restart?: string
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly user?: string
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const text = read('docker-compose.yml')
/** As Compose fills it in. */
const fillIn = (text: string, dotEnv: Readonly<Record<string, string>> = {}) =>
  text.replaceAll(/\$\{(\w+):([-+])([^}]*)\}/g, (_, name: string, kind: string, other: string) =>
    kind === '+' ? (dotEnv[name] ? other : '') : dotEnv[name] || other,
  )
interface Bind {
  readonly type: string
  readonly source: string
  readonly target: string
  readonly read_only: boolean
  readonly bind: { readonly create_host_path: boolean }
}

const toShortForm = (volume: string | Bind) =>
  typeof volume === 'string' ? volume : `${volume.source}:${volume.target}${volume.read_only ? ':ro' : ''}`

/** With the lists of variables as records; a name without a value is null: a setting of `.env`. */
const readCompose = (text: string): ComposeFile => {
  const { services, volumes = {} } = YAML.parse(text) as {
    services: Record<string, Service & { environment?: string[] | Record<string, string>; volumes?: (string | Bind)[] }>
    volumes?: Record<string, unknown>
  }
  const toRecord = (list: readonly string[]) =>
    Object.fromEntries(
      list.map((entry) =>
        /^(\w+)(?:=(.*))?$/
          .exec(entry)!
          .slice(1)
          .map((part) => part ?? null),
      ),
    )
  for (const service of Object.values(services))
    Object.assign(service, {
      ...(Array.isArray(service.environment) && { environment: toRecord(service.environment) }),
      ...(service.volumes && { volumes: service.volumes.map(toShortForm) }),
    })
  return { services, volumes }
}
const compose = readCompose(fillIn(text))
const overlays = Object.fromEntries(
  ['embedded', 'clickhouse', 'cluster'].map((name) => [name, readCompose(read(`src/deploy/compose.${name}.yml`))]),
) as Record<'embedded' | 'clickhouse' | 'cluster', ComposeFile>
const services = Object.entries(compose.services)
const dockerfile = read('src/deploy/Dockerfile')
const manifest = JSON.parse(read('package.json'))

const CLUSTER = ['clickhouse-1-1', 'clickhouse-1-2', 'clickhouse-2-1', 'clickhouse-2-2']

const knownVariables = (): Set<string> =>
  new Set(
    settingsOf(SETTINGS).flatMap(({ variable, isSecret }) => [variable, ...(isSecret ? [`${variable}_FILE`] : [])]),
  )

describe('versions', () => {
  test('of images are exact', () => {
    for (const [, { image }] of services)
      if (image !== 'stint:local') expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+(\.\d+)?$/)
    expect(
      dockerfile
        .match(/^FROM .*/gm)!
        .every((line) => /^FROM (oven\/bun:\d+\.\d+\.\d+-slim|dependencies|base) AS [\w-]+$/.test(line)),
    ).toBe(true)
    expect(dockerfile.match(/^FROM .*/gm)!.at(-1)).toBe('FROM base AS stint') // what a build without --target makes
  })

  test('are those that are tested', () => {
    expect(dockerfile).toContain(`FROM oven/bun:${manifest.engines.bun.replace('>=', '')}-slim`)
    expect(compose.services.influxdb!.image).toBe('influxdb:2.7.12') // test/support/needs.ts
    expect(compose.services.grafana!.image).toBe(`grafana/grafana:${manifest.devDependencies['@grafana/schema']}`)
  })

  test('of the plugin are one', () => {
    const installed = compose.services.grafana!.environment!.GF_PLUGINS_PREINSTALL_SYNC!
    const [, version] = /^grafana-clickhouse-datasource@([\d.]+)$/.exec(installed)!
    const dashboards = ['clickhouse/overview', 'clickhouse/process', 'influxdb/process']
    const named = dashboards.flatMap((name) => [
      ...read(`src/deploy/grafana/dashboards/${name}.json`).matchAll(/"pluginVersion": "([\d.]+)"/g),
    ])
    expect(new Set(named.map(([, of]) => of))).toEqual(new Set([version]))
  })
})

describe('order', () => {
  const runsOn = ([, { restart }]: [string, Service]) => restart !== undefined
  test('every long-running service has a health check, its own or that of its image', () => {
    expect(dockerfile).toMatch(/^HEALTHCHECK .*check-ready\.ts/m)
    for (const [name, { healthcheck, image }] of services.filter(runsOn))
      expect([name, image === 'stint:local' || healthcheck?.test !== undefined]).toEqual([name, true])
  })

  test('each service waits until its dependencies are healthy or completed', () => {
    const ends = new Set(services.filter((service) => !runsOn(service)).map(([name]) => name))
    for (const [, { depends_on = {} }] of services)
      for (const [name, { condition }] of Object.entries(depends_on))
        expect([name, condition]).toEqual([name, ends.has(name) ? 'service_completed_successfully' : 'service_healthy'])
    expect([...ends].sort()).toEqual(['grant-tokens', 'make-secrets'])
    const stores = ['clickhouse', 'grant-tokens', 'influxdb', 'make-secrets']
    expect(Object.keys(compose.services.stint!.depends_on!).sort()).toEqual(stores)
  })

  test('one service builds the image; the others wait for it and never pull it', () => {
    const users = services.filter(([, { image }]) => image === 'stint:local')
    expect(users.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(['make-secrets'])
    for (const [name, service] of users)
      if (name !== 'make-secrets') expect([name, service.pull_policy]).toEqual([name, 'never'])
    const waitsFor = (name: string): string[] => {
      const needed = Object.keys(compose.services[name]!.depends_on ?? {})
      return [...needed, ...needed.flatMap(waitsFor)]
    }
    for (const [name] of users) if (name !== 'make-secrets') expect(waitsFor(name)).toContain('make-secrets')
  })

  test('Stint does not wait for a store that another file leaves out', () => {
    const leftOut = Object.values(overlays).flatMap(({ services }) =>
      Object.entries(services).flatMap(([name, { profiles }]) => (profiles === undefined ? [] : [name])),
    )
    expect([...new Set(leftOut)].sort()).toEqual(['clickhouse', 'grant-tokens', 'influxdb'])
    for (const name of ['stint', 'grafana'])
      for (const [needed, { required = true }] of Object.entries(compose.services[name]!.depends_on!))
        expect([name, needed, required]).toEqual([name, needed, !leftOut.includes(needed)])
  })
})

describe('compose.cluster.yml', () => {
  const config = read('src/deploy/clickhouse-cluster.xml')
  const shards = [...config.matchAll(/<shard>\s.*?<\/shard>/gs)].map(([shard]) =>
    [...shard.matchAll(/<host>([\w-]+)<\/host>/g)].map(([, host]) => host!),
  )

  test('has the servers of the configuration, each with its shard and replica', () => {
    expect(shards.flat()).toEqual(CLUSTER)
    for (const [i, hosts] of shards.entries())
      for (const [k, host] of hosts.entries()) {
        const { environment, volumes, image } = overlays.cluster.services[host]!
        expect([host, environment]).toEqual([
          host,
          { CLICKHOUSE_SKIP_USER_SETUP: '1', SHARD: `${i + 1}`, REPLICA: `${k + 1}` },
        ])
        expect(volumes).toContain(`${host}-data:/var/lib/clickhouse`)
        expect(image).toBe(compose.services.clickhouse!.image)
      }
    expect(overlays.cluster.services['clickhouse-keeper']!.image.split(':')[1]).toBe(
      compose.services.clickhouse!.image.split(':')[1]!,
    )
  })

  test('is configured as Stint needs it', () => {
    expect(config).toContain(`<${overlays.cluster.services.stint!.environment!.CLICKHOUSE_CLUSTER}>`)
    expect(config.match(/<internal_replication>true</g)).toHaveLength(shards.length)
    for (const macro of ['shard', 'replica']) expect(config).toContain(`<${macro} from_env="${macro.toUpperCase()}"/>`)
    const [, keeperPort] = /<host>clickhouse-keeper<\/host><port>(\d+)</.exec(config)!
    expect(read('src/deploy/clickhouse-keeper.xml')).toContain(`<tcp_port>${keeperPort}<`)
  })
})

describe('reach', () => {
  test('publishes only Stint and Grafana, on this host', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))
    expect(published).toEqual([
      ['stint', '127.0.0.1:7070:7070'],
      ['grafana', '127.0.0.1:3000:3000'],
    ])
  })

  test('of Stint into its own container is one volume', () => {
    const { read_only, tmpfs, volumes, user } = compose.services.stint!
    expect({ read_only, tmpfs, user }).toEqual({ read_only: true, tmpfs: ['/tmp'], user: undefined })
    expect(volumes!.filter((volume) => !volume.endsWith(':ro'))).toEqual(['stint-data:/data'])
    expect(dockerfile).toMatch(/^USER bun$/m)
    expect(dockerfile).toMatch(/^VOLUME \/data$/m)
  })
})

test('Prometheus reaches Stint and Grafana, and no store', () => {
  const { services: raw } = YAML.parse(text) as { services: Record<string, { networks?: string[] }> }
  const on = (network: string) =>
    Object.entries(raw).flatMap(([name, { networks = ['default'] }]) => (networks.includes(network) ? [name] : []))
  expect(on('metrics')).toEqual(['stint', 'prometheus', 'grafana'])
  expect(on('default')).not.toContain('prometheus')
})

test('no service can gain privileges, and all but ClickHouse drop the capabilities that they do not need', () => {
  const { services: raw } = YAML.parse(text) as {
    services: Record<string, { security_opt: string[]; cap_drop?: string[]; cap_add?: string[] }>
  }
  for (const [name, { security_opt }] of Object.entries(raw))
    expect([name, security_opt]).toEqual([name, ['no-new-privileges:true']])
  const kept = Object.entries(raw).filter(([, { cap_drop }]) => !Bun.deepEquals(cap_drop, ['ALL']))
  expect(kept.map(([name]) => name)).toEqual(['clickhouse'])
  const added = Object.entries(raw).filter(([, { cap_add }]) => cap_add !== undefined)
  expect(added.map(([name]) => name)).toEqual(['influxdb'])
})

describe('secrets', () => {
  test('are in files, not in variables', () => {
    // the password of the operator's own mail server is in .env
    for (const [name, { environment = {} }] of services)
      for (const [variable, value] of Object.entries(environment))
        if (value !== null && /PASSWORD|TOKEN|SECRET|SETUP_CODE/.test(variable) && variable !== 'GF_SMTP_PASSWORD')
          expect([name, variable]).toEqual([name, expect.stringMatching(/_FILE$/)])
    expect(dockerfile).not.toMatch(/PASSWORD|TOKEN|SECRET/)
  })

  test('are mounted read-only into the services that need them', () => {
    const holders = services.flatMap(([name, { volumes = [] }]) =>
      volumes.filter((volume) => volume.startsWith('secrets-')).map((volume) => [name, ...volume.split(':')]),
    )
    expect(holders.filter(([name]) => name !== 'make-secrets' && name !== 'grant-tokens')).toEqual([
      ['influxdb', 'secrets-influxdb', '/run/secrets/stint', 'ro'],
      ['clickhouse', 'secrets-clickhouse', '/etc/clickhouse-server/users.d', 'ro'],
      ['stint', 'secrets-stint', '/run/secrets/stint', 'ro'],
      ['grafana', 'secrets-grafana', '/run/secrets/stint', 'ro'],
    ])
  })
})

describe('mounts', () => {
  test('of files that .env names are an error where the file is missing', () => {
    const { services: raw } = YAML.parse(text) as { services: Record<string, { volumes?: (string | Bind)[] }> }
    const named = Object.values(raw).flatMap(({ volumes = [] }) =>
      volumes.filter((volume) => JSON.stringify(volume).includes('${')),
    )
    expect(named).toHaveLength(6)
    for (const volume of named)
      expect(volume).toMatchObject({ type: 'bind', read_only: true, bind: { create_host_path: false } })
  })

  const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')))
  test('are files of this repository, or volumes with names', () => {
    for (const [source] of mounts) {
      if (source!.startsWith('.')) expect([source, existsSync(join(ROOT, source!))]).toEqual([source, true])
      else if (source !== '/dev/null') expect(Object.keys(compose.volumes)).toContain(source!)
    }
    expect(new Set(mounts.flatMap(([source]) => (/^[./]/.test(source!) ? [] : [source])))).toEqual(
      new Set(Object.keys(compose.volumes)),
    )
  })

  test('exist for points in ClickHouse as well', () => {
    const [chosen] = overlays.clickhouse.services.grafana!.volumes!
    const [folder, target] = chosen!.split(':')
    expect(mounts.map(([, path]) => path)).toContain(target!)
    expect(existsSync(join(ROOT, folder!, 'overview.json'))).toBe(true)
  })

  test('name a contact only when it is chosen, with variables that Grafana gets and an address it is sent to', () => {
    const contacts = Object.fromEntries(
      ['none', 'email', 'webhook'].map((name) => {
        const path = `src/deploy/grafana/contact/${name}.yaml`
        for (const [, variable] of read(path).matchAll(/\$(\w+)/g))
          expect(Object.keys(compose.services.grafana!.environment!)).toContain(variable!)
        return [
          name,
          YAML.parse(read(path)) as {
            contactPoints?: { name: string; receivers: object[] }[]
            policies?: { receiver: string }[]
          },
        ]
      }),
    )
    expect(contacts.none).toEqual({ apiVersion: 1 } as never)
    for (const [kind, setting] of [
      ['email', { addresses: '$ALERT_EMAIL' }],
      ['webhook', { url: '$ALERT_WEBHOOK_URL' }],
    ] as const) {
      const { contactPoints, policies } = contacts[kind]!
      expect(contactPoints).toEqual([
        expect.objectContaining({ receivers: [{ uid: 'stint-contact', type: kind, settings: setting }] }),
      ])
      expect(policies!.map(({ receiver }) => receiver)).toEqual([contactPoints![0]!.name])
    }
  })

  test('put the dashboards and the secrets where Grafana’s files look for them', () => {
    const targets = compose.services.grafana!.volumes!.map((volume) => volume.split(':')[1]!)
    const provider = YAML.parse(read('src/deploy/grafana/provisioning/dashboards/stint.yaml')) as {
      providers: { options: { path: string } }[]
    }
    expect(targets).toContain(provider.providers[0]!.options.path)
    const sources = read('src/deploy/grafana/provisioning/datasources/stint.yaml')
    for (const [, file] of sources.matchAll(/\$__file\{(\/[^}]+)\}/g))
      expect(file).toMatch(/^\/run\/secrets\/stint\/(influx-token|clickhouse-password)$/)
  })

  test('data sources are services, at the ports that these have', () => {
    const { datasources } = YAML.parse(read('src/deploy/grafana/provisioning/datasources/stint.yaml')) as {
      datasources: {
        url?: string
        jsonData: {
          host?: string
          port?: number
          defaultBucket?: string
          organization?: string
          defaultDatabase?: string
        }
      }[]
    }
    const addresses = datasources.map(({ url, jsonData }) =>
      url === undefined ? `http://${jsonData.host}:${jsonData.port}` : url,
    )
    const { environment } = compose.services.stint!
    expect(addresses).toEqual([environment!.INFLUX_URL!, environment!.CLICKHOUSE_URL!, 'http://prometheus:9090'])
    expect(datasources[0]!.jsonData).toMatchObject({
      defaultBucket: environment!.INFLUX_BUCKET!,
      organization: environment!.INFLUX_ORG!,
    })
    expect(datasources[1]!.jsonData).toMatchObject({ defaultDatabase: environment!.CLICKHOUSE_DATABASE! })
    expect(read('src/deploy/prometheus.yml')).toContain(`stint:${environment!.PORT}`)
  })
})

describe('settings', () => {
  const known = knownVariables()
  /** The image's, with files in place of the volumes'. */
  function environmentOf(service: string, dotEnv: Readonly<Record<string, string>> = {}): Record<string, string> {
    const image = Object.fromEntries([...dockerfile.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]))
    const { environment = {} } = readCompose(fillIn(text, dotEnv)).services[service]!
    const given = Object.entries(environment).map(([name, value]) => [name, value ?? dotEnv[name]])
    return { ...image, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
  }

  test.each(['stint', 'grant-tokens'])('of %s are known to config.ts and valid', (service) => {
    const dir = tempDir('compose')
    const env = environmentOf(service)
    for (const [name, value] of Object.entries(env)) {
      if (
        ![
          'NODE_ENV',
          'NODE_EXTRA_CA_CERTS',
          'UV_THREADPOOL_SIZE',
          'BUN_RUNTIME_TRANSPILER_CACHE_PATH',
          'interval',
          'timeout',
          'retries',
        ].includes(name) &&
        /^[A-Z_]+$/.test(name)
      )
        expect([...known]).toContain(name)
      if (!name.endsWith('_FILE') || value === '') continue
      expect(value).toMatch(/^\/run\/secrets\/stint\//)
      writeFileSync(join(dir, name), 'a secret of a test')
      env[name] = join(dir, name)
    }
    const config = readSettings(env)
    rmSync(dir, { recursive: true })
    expect(config).toMatchObject({
      host: '0.0.0.0',
      dataDir: '/data',
      influx: { token: 'a secret of a test', bucket: 'stint', org: 'stint' },
    })
  })

  test('in .env may be those of a provider of identities, an e-mail server and PostgreSQL, with secrets as files', () => {
    const dir = tempDir('compose')
    const secrets = {
      OIDC_CLIENT_SECRET: 'the secret',
      SMTP_URL: 'smtp://mail.example.com:587',
      DATABASE_URL: 'postgres://stint:word@db.example.com/stint',
    }
    const dotEnv: Record<string, string> = {
      OIDC_ISSUER: 'https://id.example.com',
      OIDC_CLIENT_ID: 'stint',
      PASSWORD_SIGN_IN: 'false',
      MAIL_FROM: 'stint@example.com',
      PUBLIC_URL: 'https://stint.example.com',
      MAX_RUN: '1h',
      MAX_AGE: '1d',
      RETENTION_DAYS: '2',
    }
    for (const [name, value] of Object.entries(secrets)) {
      dotEnv[`${name}_FILE`] = join(dir, name)
      writeFileSync(dotEnv[`${name}_FILE`]!, value)
    }
    const { volumes } = readCompose(text).services.stint!
    const mounted = new Map(
      volumes!.map((volume) => fillIn(volume, dotEnv).split(':').slice(0, 2).toReversed() as [string, string]),
    )
    const readAs = (service: string, mounts: ReadonlyMap<string, string>) => {
      const env = environmentOf(service, dotEnv)
      writeFileSync(join(dir, 'generated'), 'generated secret')
      for (const [name, value] of Object.entries(env))
        if (name.endsWith('_FILE'))
          env[name] = value.startsWith('/run/secrets/stint/')
            ? join(dir, 'generated')
            : (mounts.get(value) ?? '/nowhere')
      return readSettings(env)
    }
    expect(readAs('stint', mounted)).toMatchObject({
      oidc: { issuer: dotEnv.OIDC_ISSUER, clientId: 'stint', clientSecret: secrets.OIDC_CLIENT_SECRET },
      smtp: { url: secrets.SMTP_URL, from: dotEnv.MAIL_FROM },
      databaseUrl: secrets.DATABASE_URL,
      passwordSignIn: false,
    })
    expect(readAs('grant-tokens', new Map())).toMatchObject({ influx: { bucket: 'stint' }, retentionDays: 2 })
  })

  const example = [...read('src/deploy/env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(
    ([, name, value]) => [name!, value!] as const,
  )

  test('env.example has exactly the known variables', () => {
    const ofCompose = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
    const named = services.flatMap(([, { environment = {} }]) =>
      Object.keys(environment).filter((name) => environment[name] === null),
    )
    const secrets = [...known].filter((name) => name.endsWith('_FILE')).map((name) => name.replace('_FILE', ''))
    const expected = new Set([...known, ...ofCompose, ...named, 'COMPOSE_FILE'])
    for (const name of secrets) expected.delete(name)
    expect(new Set(example.map(([name]) => name))).toEqual(expected)
  })

  test('that env.example offers for .env reach Stint, and nothing else of .env does', () => {
    const [ofCompose] = read('src/deploy/env.example').split(/^# For a container without /m)
    const offered = [...ofCompose!.matchAll(/^#?([A-Z_]+)=/gm)].flatMap(([, name]) => (known.has(name!) ? [name!] : []))
    const { environment } = compose.services.stint!
    expect(offered.filter((name) => !Object.hasOwn(environment!, name))).toEqual([])
    const passed = Object.keys(environment!).filter((name) => environment![name] === null)
    expect(passed.filter((name) => !offered.includes(name))).toEqual([])
    for (const [name, service] of Object.entries(compose.services))
      expect([name, service.env_file]).toEqual([name, undefined])
  })

  test('env.example offers no TLS for .env: Prometheus asks for plain /metrics, and no certificate is mounted', () => {
    const { scrape_configs } = YAML.parse(read('src/deploy/prometheus.yml')) as {
      scrape_configs: { scheme?: string }[]
    }
    expect(scrape_configs.map(({ scheme = 'http' }) => scheme)).toEqual(['http', 'http'])
    const [ofCompose, without, ...more] = read('src/deploy/env.example').split(/^# For a container without /m)
    expect(more).toEqual([])
    expect(ofCompose).not.toMatch(/^#TLS_/m)
    expect(without).toMatch(/^#TLS_CERT=\n#TLS_KEY=$/m)
  })

  test('env.example has the defaults of the code, or of the image', () => {
    const env = Object.fromEntries(example.filter(([name, value]) => known.has(name) && value !== ''))
    const image = { HOST: '0.0.0.0', DATA_DIR: '/data', QUERY_MAX_MARKS: String(INFLUX_FACTS.maxMarks) }
    const store = { CLICKHOUSE_URL: 'http://clickhouse:8123' } // user and database mean nothing without it
    expect(readConfig({ ...env, ...store })).toEqual(readConfig({ ...image, ...store }))
  })
})
