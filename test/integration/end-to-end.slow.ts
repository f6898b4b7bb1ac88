// The real process between real clients and real stores, killed under load and started again.
import { afterEach, describe, expect, test } from 'bun:test'
import { startClickHouseBridge } from '../support/clickhouse-bridge.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { createOracle, NOTHING_FOUND, readStored, untilShipped } from '../support/oracle.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { until } from '../support/until.ts'

const KILLS = 4
const CLIENTS = 12
const ACKNOWLEDGED_BETWEEN_KILLS = 400
/** Processor time: the same however busy the machine is. */
const READY_WITHIN_CPU_MS = 5_000
const WITHIN_MS = 60_000

let stint: StintProcess | undefined
afterEach(async () => {
  await stint?.close()
  stint = undefined
})

async function surviveKills(settings: Env): Promise<void> {
  stint = createStintProcess(settings)
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  const oracle = createOracle()
  let isOver = false
  const clients = Array.from({ length: CLIENTS }, () => oracle.load(caller, () => isOver))

  for (let kills = 0; kills < KILLS; kills++) {
    const enough = oracle.acknowledged() + ACKNOWLEDGED_BETWEEN_KILLS
    await until(`${enough} acknowledged events`, () => oracle.acknowledged() >= enough)
    await stint.kill()
    await stint.start()
    expect(cpuMs(stint.pid())).toBeLessThan(READY_WITHIN_CPU_MS)
  }
  isOver = true
  await Promise.all(clients)
  expect(oracle.unanswered()).toBeGreaterThan(0) // the kills came under load
  expect([...oracle.refused]).toEqual([])

  await untilShipped(stint.url, WITHIN_MS)
  const stored = await readStored(caller)
  expect(oracle.audit(stored)).toEqual(NOTHING_FOUND)

  expect(await stint.terminate()).toBe(0)
  await stint.start()
  expect(await readStored(caller)).toEqual(stored)
}

describe('killed under load and started again, every acknowledged event is readable exactly once', () => {
  test.skipIf(engineMissing !== undefined)('with the embedded store', () => surviveKills({}), 120_000)

  test.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('with InfluxDB and ClickHouse', async () => {
    const influx = await (await influxd()).freshBucket()
    const clickhouse = await startClickHouseBridge()
    try {
      await surviveKills({
        INFLUX_URL: influx.url,
        INFLUX_TOKEN: influx.token,
        INFLUX_ORG: influx.org,
        INFLUX_BUCKET: influx.bucket,
        CLICKHOUSE_URL: clickhouse.url,
        CLICKHOUSE_USER: clickhouse.user,
        CLICKHOUSE_PASSWORD: clickhouse.password,
        CLICKHOUSE_DATABASE: clickhouse.database,
      })
    } finally {
      await stint?.close()
      await clickhouse.stop()
    }
  })
})
