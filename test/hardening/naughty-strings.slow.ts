// The whole list of naughty strings, on the embedded ClickHouse alone, and with marks and metrics in a real InfluxDB.
import { describe, expect, test } from 'bun:test'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { comeBack, STRINGS } from './naughty-trial.ts'

test('the list is complete', () => expect(STRINGS.length).toBeGreaterThan(450))

describe('naughty strings read back unchanged', () => {
  test.skipIf(engineMissing !== undefined)('from ClickHouse', () => comeBack(STRINGS))

  test.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('from InfluxDB and ClickHouse', async () => {
    await comeBack(STRINGS, influxSettings(await (await influxd()).freshBucket()))
  })
})
