// A real influxd and the ClickHouse bridge as processes that can be killed and started again on their data, each behind a lossy proxy;
// and the settings with which Stint uses them.
import { createClickHouse } from './clickhouse-process.ts'
import { influxSettings, startInfluxd } from './influxd.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import type { Env } from './process.ts'

export interface FaultStoresOptions {
  /** Share of the answers to writes that is lost. */
  readonly lose?: number
  readonly random?: () => number
  /** Retention of the bucket; 0 = forever. */
  readonly retentionSeconds?: number
  /** Duration of the bucket's shards; InfluxDB's default when absent. */
  readonly shardSeconds?: number
}

export type FaultStores = Awaited<ReturnType<typeof startFaultStores>>

/** Only to be called where `missing('influxd')` and `missing('chdb')` are undefined. The organisation and the bucket are `faults`. */
export async function startFaultStores(options: FaultStoresOptions = {}) {
  const { lose = 0, random = Math.random, retentionSeconds, shardSeconds } = options
  const clickhouse = createClickHouse('faults')
  const [influx] = await Promise.all([startInfluxd('faults'), clickhouse.start()])
  const bucket = await influx.freshBucket(retentionSeconds, 'faults', shardSeconds)
  const influxProxy = await startLossyProxy({ to: influx.url, lose, random })
  const clickhouseProxy = await startLossyProxy({ to: clickhouse.address.url, lose, random })
  const { user, password, url } = clickhouse.address
  return {
    influx: influx.server,
    clickhouse,
    influxProxy,
    clickhouseProxy,
    /** With both stores behind their proxies. */
    settings: {
      ...influxSettings({ ...bucket, url: influxProxy.url }),
      ...clickhouse.settings,
      CLICKHOUSE_URL: clickhouseProxy.url,
    } as Env,
    /** InfluxDB's HTTP API, past the proxy. Rejects unless the answer is 2xx. */
    influxApi: influx.call,
    /** One statement of ClickHouse's, past the proxy. Rejects unless the answer is 2xx. */
    async clickhouseSql(sql: string): Promise<string> {
      const headers = { authorization: `Basic ${btoa(`${user}:${password}`)}` }
      const answer = await fetch(`${url}/?database=faults`, { method: 'POST', headers, body: sql })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${sql}: ${answer.status} ${text}`)
      return text
    },
    async close(): Promise<void> {
      await Promise.all([influxProxy.stop(), clickhouseProxy.stop(), influx.server.kill(), clickhouse.kill()])
    },
  }
}
