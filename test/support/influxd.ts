// One real influxd per test process: started at the first use, on a free port with data of its own, and killed with the
// process however that ends. Each test takes a fresh bucket. Without an installed influxd its tests are skipped and listed.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFaultServer } from './fault-server.ts'
import { findInfluxd, missing } from './needs.ts'
import { takePort } from './ports.ts'
import type { Env } from './process.ts'
import { inMemoryDir } from './temp-dir.ts'

/** What a client needs to reach a bucket. */
export interface InfluxBucket {
  readonly url: string
  readonly token: string
  readonly org: string
  readonly bucket: string
}

/** With which Stint uses a bucket. */
export const influxSettings = ({ url, token, org, bucket }: InfluxBucket): Env => ({
  INFLUX_URL: url,
  INFLUX_TOKEN: token,
  INFLUX_ORG: org,
  INFLUX_BUCKET: bucket,
})

/** Why tests against a real InfluxDB cannot run here; undefined when they can. Throws when STINT_TEST_REQUIRE asks for them. */
export const influxdMissing: string | undefined = missing('influxd')

export type Influxd = Awaited<ReturnType<typeof startInfluxd>>
let running: Promise<Influxd> | undefined

/** The server of this process. Only to be called where `influxdMissing` is undefined. */
export const influxd = (): Promise<Influxd> => {
  running ??= startInfluxd('stint-tests')
  return running
}

/** Another server, set up with an organisation of this name. */
export async function startInfluxd(org: string, token = 'test-token-that-must-never-be-printed') {
  const dir = inMemoryDir()
  process.on('exit', () => rmSync(dir, { recursive: true, force: true })) // of a bench; the preload does it for tests
  const host = `127.0.0.1:${takePort()}`
  const url = `http://${host}`
  const command = [
    findInfluxd()!,
    ...['--http-bind-address', host],
    ...['--bolt-path', join(dir, 'influxd.bolt')],
    ...['--sqlite-path', join(dir, 'influxd.sqlite')],
    ...['--engine-path', join(dir, 'engine')],
    ...['--log-level', 'error', '--reporting-disabled'],
  ]
  const isHealthy = async () => ((await (await fetch(`${url}/health`)).json()) as { status: string }).status === 'pass'
  const server = createFaultServer(command, isHealthy)
  await server.start()

  /** The server's HTTP API with the operator's token; a text is sent as it is. Rejects unless the answer is 2xx; resolves to its text. */
  async function call(method: string, path: string, body?: unknown): Promise<string> {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Token ${token}`,
        ...(typeof body === 'object' && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }
  const setup = { username: 'tests', password: 'tests-only-password', org, bucket: 'first', token }
  const orgId: string = JSON.parse(await call('POST', '/api/v2/setup', setup)).org.id

  let names = 0
  const freshName = () => `bucket-${process.pid}-${++names}`
  return {
    ...{ url, token, org, orgId, server, call, dir },
    /** A name that no bucket has. */
    freshName,
    /** As `call`; resolves to the JSON of the answer. */
    async api(method: string, path: string, body?: unknown): Promise<unknown> {
      const text = await call(method, path, body)
      return text === '' ? undefined : JSON.parse(text)
    },
    /** A bucket that nobody else uses; kept until the server dies. `shardSeconds`: InfluxDB's default when absent. */
    async freshBucket(retentionSeconds = 0, bucket = freshName(), shardSeconds?: number): Promise<InfluxBucket> {
      const rule = { type: 'expire', everySeconds: retentionSeconds, shardGroupDurationSeconds: shardSeconds }
      const retentionRules = retentionSeconds > 0 || shardSeconds !== undefined ? [rule] : []
      await call('POST', '/api/v2/buckets', { name: bucket, orgID: orgId, retentionRules })
      return { url, token, org, bucket }
    },
  }
}
