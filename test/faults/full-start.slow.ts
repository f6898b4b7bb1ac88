// A start of the real process on a disk on which not a byte goes in any more: it starts, unready, reads accounts, delivers what it holds, and
// accepts again by itself when there is room. However it ended before: a backlog that filled the disk must not keep itself from leaving.
import { describe, expect, test } from 'bun:test'
import { lacks, manyOf, startLoad, WITHIN_MS } from '../support/fault-trial.ts'
import { countSpooled, NOTHING_FOUND, readStored, untilShipped } from '../support/oracle.ts'
import { until } from '../support/until.ts'
import { isUp, takesAll, useDisks } from './disk-trial.ts'

const { startOnDisk } = useDisks()

describe.skipIf(lacks('tmpfs', 'chdb', 'influxd'))('a start on a full disk', () => {
  test.each(['kill', 'terminate'] as const)('after %s', async (end) => {
    const { disk, proxy, stint, caller, oracle } = await startOnDisk()
    await oracle.send(caller, 'exception')
    await untilShipped(stint.url, WITHIN_MS)
    proxy.setDown(true)
    const load = startLoad(oracle, manyOf(caller, 3))
    await until('a backlog', () => oracle.acknowledged() > 200)
    await load.stop()

    disk.fill()
    await stint[end]()
    if (end === 'terminate') expect(stint.log()).toContain('"msg":"stopped"') // in time, on a full disk
    disk.fill() // what it gave back at its end is gone too
    await stint.launch()
    await until('an answer', () => {
      if (/"level":"fatal"/.test(stint.log())) throw new Error(stint.log())
      return isUp(stint.url, '/livez')
    })
    expect(await isUp(stint.url, '/readyz')).toBe(false)
    expect((await fetch(`${stint.url}/readyz`)).status).toBe(503)
    expect((await caller.get('/api/health')).status).toBe(200)
    expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(503)

    proxy.setDown(false)
    await until('the points delivered', async () => (await countSpooled(stint.url))?.points === 0)
    expect(await isUp(stint.url, '/readyz')).toBe(false) // it still is full

    disk.free()
    await until('both kinds taken', () => takesAll(stint))
    expect(await oracle.send(caller, 'metrics')).toBe(201)
    expect(await oracle.send(caller, 'exception')).toBe(201)
    await untilShipped(stint.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
    expect(await stint.terminate()).toBe(0)
  })
})
