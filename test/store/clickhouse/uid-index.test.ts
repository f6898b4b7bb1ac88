// A run of any process is found by its uid without all marks of the range: work is counted in rows that the engine reads.
import { expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { parseStampNs } from '../../../src/event/stamp.ts'
import { openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { engineMissing } from '../../support/engine.ts'
import { seededRandom } from '../../support/random.ts'
import { openStore, placeEmbedded } from './subjects.ts'

const [MARKS, BATCH] = [40_000, 20_000]
const HOUR_NS = 3_600_000_000_000n
const BEGIN_NS = 1_767_225_600_000_000_000n

test.skipIf(engineMissing !== undefined)('one uid of all processes reads a part of the marks', async () => {
  const { address, leave } = await placeEmbedded()
  const store = await openStore(address)
  const client = await openClickHouseClient(address, 30_000)
  const sink = store.createSink()
  await sink.prepare()
  const random = seededRandom(8)
  const uids = Array.from({ length: MARKS / 2 }, () => random().toString(36).slice(2))
  const events = Array.from({ length: MARKS }, (_, i): Event => {
    const stamp = parseStampNs(BEGIN_NS + BigInt(i) * 80_000_000n)
    const kind = i % 2 === 0 ? 'start' : 'end'
    return { kind, account: 'a', process: `p${(i >> 1) % 20}`, meta: '', uid: uids[i >> 1]!, stamp }
  })
  for (let at = 0; at < MARKS; at += BATCH) await sink.write(events.slice(at, at + BATCH))

  const readRows = async (): Promise<number> => {
    const sql = "SELECT toString(value) AS rows FROM system.events WHERE event = 'SelectedRows'"
    return Number((await client.select<{ rows: string }>(sql))[0]?.rows ?? 0)
  }
  const before = await readRows()
  const found = await store.source.findTimings(
    {
      ...{ account: 'a', uid: uids[1_234]!, fromNs: BEGIN_NS, toNs: BEGIN_NS + HOUR_NS },
      ...{ maxRunNs: HOUR_NS, nowNs: BEGIN_NS + HOUR_NS },
    },
    { limit: 10 },
  )
  const read = (await readRows()) - before
  expect(found).toMatchObject([{ process: `p${1_234 % 20}`, uid: uids[1_234]!, state: 'completed' }])
  expect(read).toBeLessThan(MARKS) // it reads them and then their names: twice all of them without the index
  for (const open of [store, client]) await open.close()
  await leave()
})
