// Two Stints with one NODE_ID before the same stores: the second is refused at its start while the lease of the first is fresh.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type FaultStores, startFaultStores } from '../support/fault-stores.ts'
import { lacks } from '../support/fault-trial.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const FOUR_MINUTES_MS = 240_000
const WRITE = '/api/v2/write?org=faults&bucket=faults&precision=ns'

describe.skipIf(lacks('chdb', 'influxd'))('a NODE_ID that another DATA_DIR uses', () => {
  const dir = tempDir('node-lease')
  const processes: StintProcess[] = []
  let stores: FaultStores
  let influx: Env
  let clickhouse: Env
  let first: StintProcess
  beforeAll(async () => {
    stores = await startFaultStores()
    const of = (store: string) =>
      Object.fromEntries(Object.entries(stores.settings).filter(([k]) => k.startsWith(store)))
    influx = of('INFLUX')
    clickhouse = of('CLICKHOUSE')
    first = stint(stores.settings)
    await first.start()
  })
  afterAll(async () => {
    for (const one of processes) await one.close()
    await stores?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  function stint(settings: Env, dataDir?: string): StintProcess {
    const one = createStintProcess({ ...settings, NODE_ID: '3' }, dataDir === undefined ? {} : { dataDir })
    processes.push(one)
    return one
  }

  const leases = async () => [
    await stores.clickhouseSql(
      'SELECT sum(held) FROM (SELECT argMax(held, at) AS held FROM stint_nodes GROUP BY data_dir)',
    ),
    /,true,/.test(
      await stores.influxApi(
        'POST',
        '/api/v2/query?org=faults',
        JSON.stringify({
          query:
            'from(bucket: "faults") |> range(start: -1h) |> filter(fn: (r) => r._measurement == "stint_node") |> last()',
        }),
      ),
    ),
  ]
  const untilLeased = () =>
    until('leased in both stores', async () => {
      const [rows, isInInflux] = await leases().catch(() => ['0', false]) // there is no table yet
      return Number(rows) > 0 && isInInflux === true
    })

  test.each(['InfluxDB', 'ClickHouse'] as const)('is refused with the way out, by its lease in %s', async (store) => {
    await untilLeased()
    await expect(stint(store === 'InfluxDB' ? influx : clickhouse).start()).rejects.toThrow(
      new RegExp(
        `NODE_ID 3 is in use: another DATA_DIR renewed it in ${store} \\d+ s ago.*a NODE_ID of its own.*in 3 minutes`,
      ),
    )
    const other = createStintProcess({ ...stores.settings, NODE_ID: '4' })
    processes.push(other)
    await other.start()
    expect(await other.terminate()).toBe(0)
  })

  test('is taken by one of three that start at once, also in empty stores', async () => {
    const fresh = await startFaultStores()
    try {
      const starters = [1, 2, 3].map(() => stint(fresh.settings))
      const starts = await Promise.allSettled(starters.map((one) => one.start()))
      const refusals = starts.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
      expect(refusals).toEqual([0, 1].map(() => expect.stringContaining('NODE_ID 3 is in use')))
      const winner = starters[starts.findIndex(({ status }) => status === 'fulfilled')]!
      expect(await winner.terminate()).toBe(0)
      const next = stint(fresh.settings) // those that were refused have given their leases back
      await next.start()
      await next.kill()
    } finally {
      await fresh.close()
    }
  })

  test('is no hindrance to the same DATA_DIR after a kill, nor where it is moved to', async () => {
    await first.kill()
    await first.start()
    await untilLeased()
    await first.kill()
    const moved = join(dir, 'moved')
    cpSync(first.dataDir, moved, { recursive: true })
    const there = stint(stores.settings, moved)
    await there.start()
    await there.kill()
  })

  test('is free when the other one has not renewed it for three minutes, or gave it back', async () => {
    await expect(stint(stores.settings).start()).rejects.toThrow('NODE_ID 3 is in use')
    await stores.clickhouseSql('CREATE TABLE old AS stint_nodes')
    await stores.clickhouseSql('INSERT INTO old SELECT node, data_dir, held, at - INTERVAL 4 MINUTE FROM stint_nodes')
    await stores.clickhouseSql('EXCHANGE TABLES old AND stint_nodes')
    const range = {
      start: '2020-01-01T00:00:00Z',
      stop: '2100-01-01T00:00:00Z',
      predicate: '_measurement="stint_node"',
    }
    await stores.influxApi('POST', '/api/v2/delete?org=faults&bucket=faults', JSON.stringify(range))
    const ago = Date.now() - FOUR_MINUTES_MS
    await stores.influxApi('POST', WRITE, `stint_node,node=3,data_dir=other held=true ${ago}000000`)

    const second = stint(stores.settings)
    await second.start()
    await untilLeased()
    expect(await second.terminate()).toBe(0)
    const third = stint(stores.settings)
    await third.start()
    await untilLeased()
    await third.kill()
  })

  test('does not prevent a start while the stores are away, and is noticed when one is back', async () => {
    await expect(stint(stores.settings).start()).rejects.toThrow('NODE_ID 3 is in use')
    for (const proxy of [stores.influxProxy, stores.clickhouseProxy]) proxy.setDown(true)
    const later = stint(stores.settings)
    await later.start()
    const caller = await later.signUp('later@example.com')
    const ready = async () => {
      const answer = await fetch(`${later.url}/readyz`)
      return answer.ok ? 'ready' : ((await answer.json()) as { code: string }).code
    }
    expect(await ready()).toBe('ready')
    for (const proxy of [stores.influxProxy, stores.clickhouseProxy]) proxy.setDown(false)
    await until('it is noticed', async () => (await ready()) === 'node_id_in_use')
    const health = (await (await caller.get('/api/health')).json()) as { warnings: { code: string }[] }
    expect(health.warnings.map(({ code }) => code)).toEqual(['node_id_in_use'])
    expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
  })
})
