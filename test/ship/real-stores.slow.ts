// Shipping into the real stores: what they refuse, and how they say it, decides what may be buried.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { formatStampNs } from '../../src/event/stamp.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import type { Sink } from '../../src/store/sink.ts'
import { sinkSubjects } from '../store/clickhouse/subjects.ts'
import { sinkSubject } from '../store/influx/subjects.ts'
import { engineMissing, freshEmbedded } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { ACCOUNT, drain, markAt, marks, openShipTrial, type ShipTrial, stepUntilHeld } from './ship-trial.ts'

const [N, k] = [5000, 5]
const BOUND_A_POISON = 2 * Math.ceil(Math.log2(N))
const TIMEOUT_MS = 180_000

let ship: ShipTrial
beforeEach(async () => {
  ship = await openShipTrial()
})
afterEach(() => ship.close())

const stampsOf = (events: readonly Event[]) => events.map(({ stamp }) => formatStampNs(stamp)).sort()

for (const subject of [sinkSubject, ...sinkSubjects]) {
  test.skipIf(subject.skip !== undefined)(
    `into ${subject.name}: buries exactly the poisoned of 5,000 events within the bound`,
    async () => {
      const store = await subject.open()
      let requests = 0
      const counted: Sink = {
        ...store.sink,
        write: (events) => store.sink.write(events).finally(() => requests++),
        check: (like) => store.sink.check(like).finally(() => requests++),
      }
      try {
        const isBad = (i: number) => i % (N / k) === 17
        const events = marks(N).map((event, i) => (isBad(i) ? store.poison(ACCOUNT, event.stamp) : event))
        await ship.append(events)
        await drain(ship.shipper({ sink: counted }))

        const stored = await store.read(ACCOUNT)
        expect(stored.map(({ ns }) => ns).sort()).toEqual(stampsOf(events.filter((_, i) => !isBad(i))))
        const dead = ship.dead()
        expect(dead.map(({ record }) => JSON.parse(record)[1])).toEqual(
          events.filter((_, i) => isBad(i)).map(({ stamp }) => stamp.us),
        )
        expect(dead.filter(({ reason }) => reason === '')).toEqual([])
        expect(requests).toBeLessThanOrEqual(BOUND_A_POISON * k + 1)
      } finally {
        await store.close()
      }
    },
  )
}

describe.skipIf(influxdMissing !== undefined)('an InfluxDB', () => {
  test('a field type conflict in the bucket parks the destination without burying events', async () => {
    const { org, freshBucket } = await influxd()
    const address = await freshBucket()
    const written = await fetch(`${address.url}/api/v2/write?org=${org}&bucket=${address.bucket}&precision=ns`, {
      method: 'POST',
      headers: { authorization: `Token ${address.token}` },
      body: `mark,account=someone pair="text" ${formatStampNs(markAt(0).stamp)}`,
    })
    expect(written.status).toBe(204)
    const sink = createInfluxSink({ ...address, retentionDays: 0, log: ship.log })
    await ship.append(marks(100))
    const shipper = ship.shipper({ sink })
    await stepUntilHeld(shipper)
    expect(shipper.status().state).toBe('parked')
    expect(shipper.status().reason).toContain('field type conflict')
    expect(ship.deadLetters.stats().total).toBe(0)
    expect(ship.spool.stats().records).toBe(100)
    await sink.close()
  })

  test('an event older than the retention counts as expired, without retry or burial', async () => {
    const address = await (await influxd()).freshBucket(2 * 86_400)
    const sink = createInfluxSink({ ...address, retentionDays: 0, log: ship.log })
    const nowUs = Date.now() * 1000
    const old = Array.from({ length: 10 }, (_, i) => markAt(i, nowUs - 5 * 86_400e6 + i))
    const fresh = Array.from({ length: 30 }, (_, i) => markAt(i, nowUs - 60e6 + i))
    await ship.append([...fresh.slice(0, 10), ...old, ...fresh.slice(10)])
    await drain(ship.shipper({ sink }))
    expect(ship.counts).toMatchObject({ delivered: 30, expired: 10, dead: 0, batches: { stored: 1 } })
    await sink.close()
  })
})

describe.skipIf(engineMissing !== undefined)('a ClickHouse', () => {
  test('a changed table parks the destination until it is repaired, without burying events', async () => {
    const address = freshEmbedded()
    const engine = await openClickHouse({ address, holds: ['points', 'exceptions'], retentionDays: 0, log: ship.log })
    const operator = await openClickHouseClient(address, TIMEOUT_MS)
    const table = `${address.database}.marks_raw`
    try {
      await ship.append(marks(10))
      const shipper = ship.shipper({ sink: engine.createSink() })
      await drain(shipper)

      await operator.run(`RENAME TABLE ${table} TO ${table}_away`)
      await operator.run(`CREATE TABLE ${table} (account String, other UInt8) ENGINE = Memory`)
      await ship.append(marks(100, 10))
      for (let i = 0; i < 3; i++) await stepUntilHeld(shipper)
      expect(shipper.status().state).toBe('parked')
      expect(ship.deadLetters.stats().total).toBe(0)

      await operator.run(`DROP TABLE ${table}`)
      await operator.run(`RENAME TABLE ${table}_away TO ${table}`)
      await drain(shipper)
      const [row] = await operator.select<{ n: number }>(
        `SELECT toUInt32(count()) AS n FROM ${address.database}.marks WHERE account = '${ACCOUNT}'`,
      )
      expect(row?.n).toBe(110)
      expect(ship.deadLetters.stats().total).toBe(0)
    } finally {
      await operator.close()
      await engine.close()
    }
  })
})
