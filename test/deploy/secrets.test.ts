// What docker-compose.yml's two short services do: secrets that nobody has to make up, and tokens that can no more than they must.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { tempDir } from '../support/temp-dir.ts'

const DEPLOY = join(import.meta.dir, '../../src/deploy')
const dir = tempDir('secrets')
const read = (path: string) => readFileSync(join(dir, path), 'utf8')

async function run(
  script: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ exitCode: number; said: string }> {
  const strictly = ['/bin/sh', '-c', 'umask 077; exec "$@"', 'sh']
  const child = Bun.spawn([...strictly, process.execPath, join(DEPLOY, script), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, said: out + err }
}

describe('make-secrets', () => {
  const all = () => Object.fromEntries([...new Glob('**/*').scanSync(dir)].sort().map((path) => [path, read(path)]))

  test('creates each secret once, long and distinct, readable by any user', async () => {
    expect(await run('make-secrets.ts', [dir])).toEqual({ exitCode: 0, said: '' })
    const made = all()
    expect(Object.keys(made)).toEqual([
      'clickhouse/cluster-secret.xml',
      'clickhouse/stint.xml',
      'grafana/admin-password',
      'grafana/clickhouse-password',
      'grafana/influx-token',
      'influxdb/admin-password',
      'influxdb/admin-token',
      'stint/clickhouse-password',
      'stint/influx-token',
      'stint/setup-code',
    ])
    const secrets = Object.entries(made).flatMap(([path, text]) => (path.endsWith('.xml') ? [] : [text]))
    expect(new Set(secrets).size).toBe(8)
    for (const text of secrets) expect(text).toMatch(/^[\w-]{43}$/)
    for (const path of Object.keys(made)) {
      expect(statSync(join(dir, path)).mode & 0o777).toBe(0o444)
      expect(statSync(join(dir, dirname(path))).mode & 0o777).toBe(0o755)
    }
    for (const text of secrets) expect(made['clickhouse/stint.xml']).not.toContain(text)
    expect(made['clickhouse/stint.xml']).not.toContain('REMOTE')

    expect(await run('make-secrets.ts', [dir])).toEqual({ exitCode: 0, said: '' })
    expect(all()).toEqual(made)
  })

  test('ClickHouse has exactly two users, defined by hashes', () => {
    const xml = read('clickhouse/stint.xml')
    const users = [...xml.matchAll(/<(\w+)>\s*<password_sha256_hex>(\w+)<[\s\S]*?<query>(.*?)<\/query>[\s\S]*?<\/\1>/g)]
    const sha256 = (path: string) => createHash('sha256').update(read(path)).digest('hex')
    expect(users.map(([, ...user]) => user)).toEqual([
      ['stint', sha256('stint/clickhouse-password'), 'GRANT ALL ON stint.*'],
      ['grafana', sha256('grafana/clickhouse-password'), 'GRANT SELECT ON stint.*'],
    ])
    expect(xml).toContain('<default remove="remove"/>')
    // every element ends, in the right order
    const open: string[] = []
    for (const [, end, name, empty] of xml.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
      if (empty === '/') continue
      if (end === '/') expect(open.pop()).toBe(name!)
      else open.push(name!)
    }
    expect(open).toEqual([])
  })
})

describe.skipIf(influxdMissing !== undefined)('grant-tokens', () => {
  const [stintFile, grafanaFile] = [join(dir, 'stint/influx-token'), join(dir, 'grafana/influx-token')]

  test('creates the bucket with its retention, and one token each for writing and reading it', async () => {
    const server = await influxd()
    const bucket = server.freshName()
    const other = await server.freshBucket()
    const env = {
      INFLUX_URL: server.url,
      INFLUX_TOKEN: server.token,
      INFLUX_ORG: server.org,
      INFLUX_BUCKET: bucket,
      RETENTION_DAYS: '30',
      LOG_LEVEL: 'warn',
    }
    const grant = () => run('grant-tokens.ts', [stintFile, grafanaFile], env)
    const tokens = () => [read('stint/influx-token'), read('grafana/influx-token')] as const
    const call = (token: string, path: string, body: string, type: string) =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Token ${token}`, 'content-type': type },
        body,
      }).then(async (response) => [response.status, await response.text()] as const)
    const write = async (token: string, to: string) =>
      (await call(token, `/api/v2/write?org=${server.org}&bucket=${to}`, 'trial value=1', 'text/plain'))[0]
    const ask = async (token: string, from: string) =>
      (
        await call(
          token,
          `/api/v2/query?org=${server.org}`,
          `from(bucket: "${from}") |> range(start: -1h)`,
          'application/vnd.flux',
        )
      )[0]

    expect(await grant()).toEqual({ exitCode: 0, said: '' })
    const { buckets } = (await server.api('GET', `/api/v2/buckets?name=${bucket}`)) as {
      buckets: { retentionRules: { everySeconds: number }[] }[]
    }
    expect(buckets[0]!.retentionRules[0]!.everySeconds).toBe(30 * 86_400)
    for (const file of [stintFile, grafanaFile]) expect(statSync(file).mode & 0o777).toBe(0o600)
    const [stint, grafana] = tokens()
    expect([await write(stint, bucket), await ask(stint, bucket), await write(stint, other.bucket)]).toEqual([
      204, 200, 403,
    ])
    expect([await write(grafana, bucket), await ask(grafana, bucket), await ask(grafana, other.bucket)]).toEqual([
      403, 200, 404,
    ])

    // a second start keeps a token, and replaces one that InfluxDB no longer knows
    rmSync(grafanaFile)
    writeFileSync(grafanaFile, 'a-token-of-a-server-that-is-gone')
    expect(await grant()).toEqual({ exitCode: 0, said: '' })
    expect(tokens()[0]).toBe(stint)
    expect(await ask(tokens()[1], bucket)).toBe(200)
  })

  test('reports a missing permission without printing the token', async () => {
    const server = await influxd()
    const env = {
      INFLUX_URL: server.url,
      INFLUX_TOKEN: 'no-such-token',
      INFLUX_ORG: server.org,
      INFLUX_BUCKET: server.freshName(),
    }
    const { exitCode, said } = await run('grant-tokens.ts', [stintFile, grafanaFile], env)
    expect(exitCode).not.toBe(0)
    expect(said).toContain('401')
    expect(said).not.toContain('no-such-token')
  })
})
