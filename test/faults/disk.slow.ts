// The real process on a disk that is full or broken: never a 201 that is not on the disk, answers 500 or 503, the process lives, delivers on, and
// accepts again by itself when the disk is well.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { figure, injectFault, lacks, manyOf, segmentsOf, startLoad, WITHIN_MS } from '../support/fault-trial.ts'
import { countSpooled, createOracle, NOTHING_FOUND, readStored, untilShipped } from '../support/oracle.ts'
import type { StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { takesAll, useDisks } from './disk-trial.ts'

const CLIENTS = 3
const { mount, create, openInflux, startOnDisk } = useDisks()

const isAlive = async ({ url }: StintProcess) => (await fetch(`${url}/livez`)).ok
const isReady = async ({ url }: StintProcess) => (await fetch(`${url}/readyz`)).ok

describe.skipIf(lacks('tmpfs', 'chdb', 'influxd'))('a full disk', () => {
  test('refuses with 503 and retry-after, keeps delivering, and accepts again when there is room', async () => {
    const { disk, proxy, stint, caller, oracle } = await startOnDisk()
    proxy.setDown(true)
    const load = startLoad(oracle, manyOf(caller, CLIENTS))
    await until('a backlog', () => oracle.acknowledged() > 200)

    disk.fill()
    await until('503', () => (oracle.refused.get(503) ?? 0) > 20, WITHIN_MS)
    await load.stop()
    expect(await isAlive(stint)).toBe(true)
    await until('both spools know it', async () => !(await isReady(stint)))
    expect([...oracle.refused.keys()].filter((status) => status !== 500 && status !== 503)).toEqual([])
    expect(oracle.withoutRetryAfter()).toBe(0)
    expect((await countSpooled(stint.url))?.points).toBeGreaterThan(0)

    proxy.setDown(false)
    await until('the points delivered from a full disk', async () => (await countSpooled(stint.url))?.points === 0)
    expect(await isReady(stint)).toBe(false) // it still was full

    disk.free()
    await until('both kinds taken', () => takesAll(stint))
    expect(await oracle.send(caller, 'metrics')).toBe(201)
    expect(await oracle.send(caller, 'exception')).toBe(201)
    await stint.kill()
    await stint.start()
    await untilShipped(stint.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
  })

  test('pauses the embedded store without losing or burying events, and delivery resumes when there is room', async () => {
    const { settings } = await openInflux()
    const stint = create(settings)
    const disk = mount(24, join(stint.dataDir, 'clickhouse'))
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const oracle = createOracle()
    expect(await oracle.send(caller, 'exception')).toBe(201)
    await untilShipped(stint.url, WITHIN_MS)

    disk.fill()
    for (let i = 0; i < 20; i++) expect(await oracle.send(caller, 'exception')).toBe(201)
    expect(await oracle.send(caller, 'metrics')).toBe(201)
    await until('a parked destination', async () => {
      disk.fill() // what the engine gives back meanwhile is gone too
      return (await figure(stint, 'stint_destination_parked')) === 1
    })
    await until('the points delivered', async () => (await countSpooled(stint.url))?.points === 0)
    expect(await isReady(stint)).toBe(true)
    expect((await countSpooled(stint.url))?.exceptions).toBeGreaterThan(0)

    disk.free()
    await untilShipped(stint.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
    expect(await figure(stint, 'stint_dead_total')).toBe(0)
  })
})

test.skipIf(lacks('tmpfs', 'chdb'))(
  'a start with a read-only engine takes events and delivers them once it is not',
  async () => {
    const stint = create()
    const disk = mount(64, join(stint.dataDir, 'clickhouse'))
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const oracle = createOracle()
    expect(await oracle.send(caller, 'exception')).toBe(201)
    await untilShipped(stint.url, WITHIN_MS)
    await stint.terminate()

    disk.setReadOnly(true)
    await stint.start()
    expect(await isReady(stint)).toBe(true)
    for (const kind of ['metrics', 'exception', 'start'] as const) expect(await oracle.send(caller, kind)).toBe(201)
    expect((await caller.get('/api/exceptions')).status).toBe(503)
    const { destinations } = (await (await caller.get('/api/health')).json()) as { destinations: object }
    expect(JSON.stringify(destinations)).toContain('clickhouse cannot be written')

    disk.setReadOnly(false)
    await untilShipped(stint.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
  },
)

describe.skipIf(lacks('ptrace', 'chdb'))('a broken disk', () => {
  test('answers 500 while syncs or writes fail or are short, and recovers afterwards', async () => {
    const stint = create()
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const oracle = createOracle()
    await oracle.send(caller, 'metrics')
    await untilShipped(stint.url, WITHIN_MS)

    for (const broken of ['pwrite64:error=EIO', 'pwrite64:error=ENOSPC', 'pwrite64:retval=7']) {
      const failed = () => oracle.refused.get(500) ?? 0
      // Both spools write to a segment that is there when the paths are read, and go on writing to it until a write fails.
      await until('points taken', async () => (await oracle.send(caller, 'metrics')) === 201)
      await until('exceptions taken', async () => (await oracle.send(caller, 'exception')) === 201)
      const before = failed()
      // A short write as strace makes it writes nothing: SQLite would believe it, and no disk does that.
      const fault = await injectFault(stint.pid(), [broken], broken.includes('retval') ? segmentsOf(stint) : [])
      const load = startLoad(oracle, manyOf(caller, CLIENTS))
      await until(`500 by ${broken}`, () => failed() > before, WITHIN_MS)
      expect(await isAlive(stint)).toBe(true)
      await fault.stop()
      const acknowledged = oracle.acknowledged()
      await until('acknowledged events again', () => oracle.acknowledged() > acknowledged + 20, WITHIN_MS)
      await load.stop()
    }
    expect([...oracle.refused.keys()]).toEqual([500])
    expect(oracle.acknowledged()).toBeGreaterThan(60)

    await stint.kill()
    await stint.start()
    await untilShipped(stint.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
  })
})
