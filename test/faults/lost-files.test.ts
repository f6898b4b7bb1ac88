// Somebody deletes a part of DATA_DIR while Stint runs, or before it starts.
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, waitingStores } from '../support/app.ts'
import { engineMissing } from '../support/engine.ts'
import { createMemoryStore } from '../support/memory-sink.ts'
import { type Caller, createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const dir = tempDir('lost-files')
const names = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix} ${i}`)

describe.skipIf(engineMissing !== undefined)('the directory of the embedded engine', () => {
  test('deleted while Stint runs: events wait in the spool until it is restored', async () => {
    const dataDir = join(dir, 'engine')
    await using stint = createStintProcess({}, { dataDir })
    await stint.start()
    const ada = await stint.signUp('ada@example.com')
    await send(ada, names('before', 20))
    await until('the first are stored', async () => (await waiting(ada)) === 0)

    renameSync(join(dataDir, 'clickhouse'), join(dir, 'backup'))
    await send(ada, names('after', 20))
    await until('delivery is paused', async () => (await destinations(ada)).points.state === 'parked')
    const { reason } = (await destinations(ada)).points // for a key of the operator's account
    expect(reason).toContain(`${join(dataDir, 'clickhouse')} was deleted while Stint runs`)
    expect(await waiting(ada)).toBe(20)
    await stint.terminate()

    rmSync(join(dataDir, 'clickhouse'), { recursive: true, force: true })
    renameSync(join(dir, 'backup'), join(dataDir, 'clickhouse'))
    await stint.start()
    await until('all are stored', async () => (await waiting(ada)) === 0)
    const { processes } = (await (await ada.get('/api/processes')).json()) as { processes: { process: string }[] }
    expect(processes.map(({ process }) => process).sort()).toEqual(
      [...names('after', 20), ...names('before', 20)].sort(),
    )
  })
})

describe.each(['accounts.sqlite', 'watches.sqlite'])('%s', (file) => {
  test('deleted while Stint runs: nothing is delivered, and both destinations say why', async () => {
    const store = createMemoryStore()
    const sinks = { points: store.sink(), exceptions: store.sink() }
    await using app = await startApp({ openStores: async () => ({ ...waitingStores, sinks }) })
    const at = (path: string) => join(app.rooms.config.dataDir, path)
    await app.post('/v1/start', { process: 'kept' })
    await until('it is stored', () => store.events().length === 1)
    renameSync(at(file), at('moved'))
    await app.post('/v1/start', { process: 'late' })
    await app.post('/v1/exception', { process: 'late', exception: 'Error' })
    const states = () => Object.values(app.rooms.shippers).map((shipper) => shipper.status())
    await until('both are paused', () => states().every(({ state }) => state === 'parked'))
    for (const { reason } of states()) expect(reason).toContain(`${at(file)} was deleted while Stint runs`)
    expect(store.events()).toHaveLength(1)
  })
})

describe('a DATA_DIR without accounts.sqlite', () => {
  test.each(['clickhouse', 'watches.sqlite'])(
    'is refused beside %s, for its first visitor would own it',
    async (left) => {
      const dataDir = join(dir, `without-${left}`)
      await (await startApp({ env: { DATA_DIR: dataDir } })).stop()
      for (const file of ['accounts.sqlite', 'watches.sqlite']) rmSync(join(dataDir, file))
      mkdirSync(join(dataDir, left, 'store'), { recursive: true })
      await expect(startApp({ env: { DATA_DIR: dataDir } })).rejects.toThrow(
        `${join(dataDir, 'accounts.sqlite')} is missing, but ${join(dataDir, left)} is there`,
      )
      expect(existsSync(join(dataDir, 'accounts.sqlite'))).toBe(false)
    },
  )
})

const send = async (caller: Caller, processes: readonly string[]): Promise<void> => {
  for (const process of processes) expect((await caller.post('/v1/start', { process })).status).toBe(201)
}

interface Health {
  readonly spools: { readonly points: { readonly records: number } }
  readonly destinations: { readonly points: { readonly state: string; readonly reason?: string } }
}
const health = async (caller: Caller) => (await (await caller.get('/api/health')).json()) as Health
const waiting = async (caller: Caller) => (await health(caller)).spools.points.records
const destinations = async (caller: Caller) => (await health(caller)).destinations
