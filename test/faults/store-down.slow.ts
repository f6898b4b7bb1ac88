// One store down for long, the other up, Stint restarted meanwhile: each kind has its own spool, is refused only when that is full, and drains on return.
import { afterEach, expect, test } from 'bun:test'
import { type FaultStores, startFaultStores } from '../support/fault-stores.ts'
import { lacks, manyOf, startLoad } from '../support/fault-trial.ts'
import {
  countSpooled,
  createOracle,
  NOTHING_FOUND,
  readAll,
  readStored,
  untilShipped,
  WIDE,
} from '../support/oracle.ts'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const CLIENTS = 4
const WITHIN_MS = 90_000

let stint: StintProcess | undefined
let stores: FaultStores | undefined
afterEach(async () => {
  await stint?.close()
  await stores?.close()
  stint = stores = undefined
})

test.skipIf(lacks('chdb', 'influxd'))(
  'accepts a kind until its spool is full, then answers 503 for that kind only; everything arrives when the store is back',
  async () => {
    stores = await startFaultStores()
    stint = createStintProcess({ ...stores.settings, SPOOL_MAX_BYTES: '1MiB', SERIES_MAX: '0' })
    const { url } = stint
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const oracle = createOracle()
    const send = (kind: 'metrics' | 'exception') => oracle.send(caller, kind)
    const countExceptions = async () => (await readAll(caller, `/api/exceptions?${WIDE}`, 'exceptions')).length

    stores.influxProxy.setDown(true)
    const load = startLoad(oracle, manyOf(caller, CLIENTS))
    await until('the points refused', () => (oracle.refused.get(503) ?? 0) > 10, WITHIN_MS)
    await load.stop()
    // What waits for the disk counts too, so a refusal under load may leave room for a last few.
    await until('a full spool', async () => (await send('metrics')) === 503)
    expect([...oracle.refused.keys()]).toEqual([503])
    expect(oracle.withoutRetryAfter()).toBe(0)
    await until('the exceptions stored', async () => (await countSpooled(url))?.exceptions === 0) // on a busy machine they filled theirs, too
    const full = (await countSpooled(url))!.points
    expect(full).toBeGreaterThan(1000)

    for (const end of [() => stint!.kill(), () => stint!.terminate()]) {
      expect(await send('metrics')).toBe(503)
      expect(await send('exception')).toBe(201)
      await until('the live store is not delayed', async () => (await countSpooled(url))?.exceptions === 0)
      expect(await countExceptions()).toBeGreaterThan(0)
      await end()
      await stint.launch()
      await until('it listens', () =>
        fetch(`${url}/livez`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      expect(await (await fetch(`${url}/readyz`)).text()).toBe('ready\npoints are refused: spool_full\n')
      expect((await countSpooled(url))?.points).toBe(full)
    }

    stores.clickhouseProxy.setDown(true) // now the other one
    expect(await send('exception')).toBe(201)
    stores.influxProxy.setDown(false)
    await until('the points drained', async () => (await countSpooled(url))?.points === 0, WITHIN_MS)
    expect((await countSpooled(url))?.exceptions).toBe(1)
    await until('points taken again', async () => (await send('metrics')) === 201) // the room is free when the segments are gone
    stores.clickhouseProxy.setDown(false)
    await untilShipped(url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
  },
)
