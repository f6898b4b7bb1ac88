// A real influxd and the ClickHouse bridge as processes that can be killed and started again on their data, each behind a lossy proxy;
// and the settings with which Stint uses them.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFaultServer, type FaultServer } from './fault-server.ts'
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts'
import { findInfluxd } from './needs.ts'
import { takePort } from './ports.ts'
import type { Env } from './process.ts'
import { tempDir } from './temp-dir.ts'

const ORG = 'faults'
const BUCKET = 'faults'
const TOKEN = 'token-of-the-fault-suite'
const DATABASE = 'faults'

export interface FaultStores {
  readonly influx: FaultServer
  readonly clickhouse: FaultServer
  readonly influxProxy: LossyProxy
  readonly clickhouseProxy: LossyProxy
  /** With both stores behind their proxies. */
  readonly settings: Env
  /** InfluxDB's HTTP API, past the proxy. Rejects unless the answer is 2xx. */
  influxApi(method: string, path: string, body?: string): Promise<string>
  /** One statement of ClickHouse's, past the proxy. Rejects unless the answer is 2xx. */
  clickhouseSql(sql: string): Promise<string>
  close(): Promise<void>
}

export interface FaultStoresOptions {
  /** Share of the answers to writes that is lost. */
  readonly lose?: number
  readonly random?: () => number
  /** Retention of the bucket; 0 = forever. */
  readonly retentionSeconds?: number
  /** Duration of the bucket's shards; InfluxDB's default when absent. */
  readonly shardSeconds?: number
}

/** Only to be called where `missing('influxd')` and `missing('chdb')` are undefined. */
export async function startFaultStores(options: FaultStoresOptions = {}): Promise<FaultStores> {
  const { lose = 0, random = Math.random, retentionSeconds = 0, shardSeconds } = options
  const dir = tempDir('stores')
  const influxUrl = `http://127.0.0.1:${takePort()}`
  const influx = createInflux(join(dir, 'influx'), influxUrl)
  const clickhousePort = takePort()
  const clickhouseUrl = `http://127.0.0.1:${clickhousePort}`
  const clickhouse = createFaultServer({
    command: [
      process.execPath,
      join(import.meta.dir, 'fault-clickhouse-child.ts'),
      join(dir, 'clickhouse'),
      String(clickhousePort),
    ],
    isHealthy: async () => (await fetch(`${clickhouseUrl}/ping`)).ok,
  })

  async function influxApi(method: string, path: string, body?: string): Promise<string> {
    const answer = await fetch(influxUrl + path, {
      method,
      headers: { authorization: `Token ${TOKEN}` },
      ...(body !== undefined && { body }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }

  async function clickhouseSql(sql: string): Promise<string> {
    const answer = await fetch(`${clickhouseUrl}/?database=${DATABASE}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('stint:pass-word-that-must-never-be-printed')}` },
      body: sql,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${sql}: ${answer.status} ${text}`)
    return text
  }

  await Promise.all([influx.start(), clickhouse.start()])
  const setup = { username: 'faults', password: 'faults-only-password', org: ORG, bucket: 'first', token: TOKEN }
  const { org } = JSON.parse(await influxApi('POST', '/api/v2/setup', JSON.stringify(setup))) as { org: { id: string } }
  const retentionRules = [
    {
      type: 'expire',
      everySeconds: retentionSeconds,
      ...(shardSeconds !== undefined && { shardGroupDurationSeconds: shardSeconds }),
    },
  ]
  await influxApi('POST', '/api/v2/buckets', JSON.stringify({ name: BUCKET, orgID: org.id, retentionRules }))
  const influxProxy = await startLossyProxy({ to: influxUrl, lose, random })
  const clickhouseProxy = await startLossyProxy({ to: clickhouseUrl, lose, random })

  return {
    influx,
    clickhouse,
    influxProxy,
    clickhouseProxy,
    settings: {
      INFLUX_URL: influxProxy.url,
      INFLUX_TOKEN: TOKEN,
      INFLUX_ORG: ORG,
      INFLUX_BUCKET: BUCKET,
      CLICKHOUSE_URL: clickhouseProxy.url,
      CLICKHOUSE_USER: 'stint',
      CLICKHOUSE_PASSWORD: 'pass-word-that-must-never-be-printed',
      CLICKHOUSE_DATABASE: DATABASE,
    },
    influxApi,
    clickhouseSql,
    async close() {
      await Promise.all([influxProxy.stop(), clickhouseProxy.stop(), influx.kill(), clickhouse.kill()])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function createInflux(dir: string, url: string): FaultServer {
  const command = [
    findInfluxd()!,
    ...['--http-bind-address', new URL(url).host],
    ...['--bolt-path', join(dir, 'influxd.bolt')],
    ...['--sqlite-path', join(dir, 'influxd.sqlite')],
    ...['--engine-path', join(dir, 'engine')],
    ...['--log-level', 'error', '--reporting-disabled'],
  ]
  const isHealthy = async () => ((await (await fetch(`${url}/health`)).json()) as { status: string }).status === 'pass'
  return createFaultServer({ command, isHealthy })
}
