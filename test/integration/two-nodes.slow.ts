// Two nodes before the same stores, set up as README.md says: each with a NODE_ID and a DATA_DIR of its own, the account's file copied.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Timing } from '../../src/wire/timings.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { countSpooled, createOracle, NOTHING_FOUND, readAll, readStored, untilShipped } from '../support/oracle.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const CLIENTS = 8
const ACKNOWLEDGED = 300
const SAME_TIME = 60
const WITHIN_MS = 90_000
const NODE_IDS = ['0', '249'] as const

/** Sends to one node and the other in turn, as a load balancer does: the end of a run rarely follows its start. */
function inTurn(nodes: readonly Caller[]): Caller {
  let turn = 0
  return { ...nodes[0]!, post: (path, body) => nodes[turn++ % nodes.length]!.post(path, body) }
}

async function timeOf(answer: Promise<Response>): Promise<string> {
  const response = await answer
  const text = await response.text()
  expect(response.status, text).toBe(201)
  return (JSON.parse(text) as { at: string }).at
}

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('two nodes with the same stores', () => {
  const clickhouse = createClickHouse('two_nodes')
  let first: StintProcess
  let second: StintProcess
  let atFirst: Caller
  let atSecond: Caller
  /** Another account, whose events nothing but the load sends. */
  let underLoad: Caller

  beforeAll(async () => {
    const [influx] = await Promise.all([influxd(), clickhouse.start()])
    const bucket = { ...influx, bucket: influx.freshName() } // both nodes find it missing and make it
    const settings = { SIGNUP: 'open', ...influxSettings(bucket), ...clickhouse.settings }
    first = createStintProcess({ ...settings, NODE_ID: NODE_IDS[0] })
    second = createStintProcess({ ...settings, NODE_ID: NODE_IDS[1] })
  })

  afterAll(async () => {
    await Promise.all([first?.close(), second?.close(), clickhouse.kill()])
  })

  test('a key of one node is unknown to the other until the accounts file is copied', async () => {
    await Promise.all([first.start(), second.start()])
    atFirst = await first.signUp('ada@example.com')
    atSecond = callerOf(second.url, atFirst)
    underLoad = await first.signUp('grace@example.com')
    expect((await atSecond.post('/v1/start', { process: 'p' })).status).toBe(401)

    expect(await Promise.all([first.terminate(), second.terminate()])).toEqual([0, 0])
    copyFileSync(join(first.dataDir, 'accounts.sqlite'), join(second.dataDir, 'accounts.sqlite'))
    await Promise.all([first.start(), second.start()])
    expect((await atSecond.get('/api/processes')).status).toBe(200)
  })

  test('an end on one node completes a start on the other, with and without uid', async () => {
    for (const [from, to] of [
      [atFirst, atSecond],
      [atSecond, atFirst],
    ] as const) {
      for (const uid of ['run-1', undefined]) {
        const run = {
          process: 'across',
          meta: from === atFirst ? 'there' : 'back',
          ...(uid !== undefined && { uid }),
        }
        const startedAt = await timeOf(from.post('/v1/start', run))
        // their clocks read the wall clock to the ms only, each at its own start
        await until('the other clock is past the start', async () => {
          return (await timeOf(to.post('/v1/metrics', { process: 'clock', items: { a: 1 } }))) > startedAt
        })
        const endedAt = await timeOf(to.post('/v1/end', run))
        const timing = { ...run, uid: uid ?? null, state: 'completed', started_at: startedAt, ended_at: endedAt }
        for (const reader of [atFirst, atSecond])
          await until('the run is there', async () => {
            const found = await readAll<Timing>(reader, '/api/timings?process=across', 'timings')
            const own = found.find(({ started_at }) => started_at === startedAt)
            if (own?.state !== 'completed') return false
            expect(own).toMatchObject(timing)
            return true
          })
      }
    }
  })

  test('events with one time, sent to both nodes and repeated, are stored once each, and all have that time', async () => {
    const at = new Date(Date.now() - 60_000).toISOString()
    const event = (a: number) => ({ process: 'same time', at, items: { a } })
    const post = (caller: Caller) =>
      Promise.all(Array.from({ length: SAME_TIME }, (_, i) => timeOf(caller.post('/v1/metrics', event(i)))))
    const answers = [...(await Promise.all([post(atFirst), post(atSecond)])).flat(), ...(await post(atSecond))]
    expect(new Set(answers)).toEqual(new Set([at.replace('Z', '000000Z')]))

    await Promise.all([first, second].map(({ url }) => untilShipped(url, WITHIN_MS)))
    for (const reader of [atFirst, atSecond]) {
      const points = await readAll<{ value: number }>(reader, '/api/metrics?process=same%20time', 'points')
      expect(points.map(({ value }) => value).sort((a, b) => a - b)).toEqual(
        Array.from({ length: SAME_TIME }, (_, i) => i),
      )
    }
  })

  test('under load, with one node killed and a store unreachable, no acknowledged event is lost or duplicated', async () => {
    const [here, there] = [underLoad, callerOf(second.url, underLoad)]
    const oracle = createOracle()
    const more = () => {
      const enough = oracle.acknowledged() + ACKNOWLEDGED
      return until(`${enough} events are acknowledged`, () => oracle.acknowledged() >= enough)
    }
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      oracle.load(inTurn(i % 2 === 0 ? [here, there] : [there, here]), () => isOver),
    )
    await more()
    await clickhouse.kill()
    await more()
    const isHeldBySecond = async () => ((await countSpooled(second.url))?.exceptions ?? 0) > 0
    await until('what is acknowledged is on the disk of the second alone', isHeldBySecond)
    await second.kill()
    await Promise.all([more(), clickhouse.start()])
    await second.start()
    await more()
    isOver = true
    await Promise.all(clients)
    expect(oracle.unanswered()).toBeGreaterThan(0) // the kill came under load
    expect([...oracle.refused]).toEqual([])

    await Promise.all([first, second].map(({ url }) => untilShipped(url, WITHIN_MS)))
    const stored = await readStored(here)
    expect(oracle.audit(stored)).toEqual(NOTHING_FOUND)
    const atSecondToo = await readStored(there)
    expect(oracle.audit(atSecondToo)).toEqual(NOTHING_FOUND)
    expect(atSecondToo).toEqual(stored)
  })
})
